import {mkdir, rename, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ReportInput} from '../experiment/run.js'
import {KxError, messageOf, systemCode} from '../util/errors.js'

/**
 * Writes the reports of a run into its folder, each whole or not at all: `report.html` (with `.` as the run's folder,
 * so that it may be moved), `report.md`, `measures.csv`. @throws KxError KX_RESULTS (environment)
 */
export async function publish(input: ReportInput, dir: string): Promise<void> {
  const [{htmlReport}, {markdownReport}, {measuresCsv}] = await Promise.all([
    import('../report/html.js'),
    import('../report/markdown.js'),
    import('../report/csv.js'),
  ])
  const files = {
    'report.html': await htmlReport(input, {dir: '.'}),
    'report.md': markdownReport(input),
    'measures.csv': measuresCsv(input.run),
  }
  try {
    await mkdir(dir, {recursive: true})
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(dir, `${name}.part`), content)
      await rename(join(dir, `${name}.part`), join(dir, name))
    }
  } catch (error) {
    throw new KxError(
      'environment',
      systemCode(error) === 'ENOSPC' ? 'KX_DISK_FULL' : 'KX_RESULTS',
      `The report can't be written to ${dir}: ${messageOf(error)}.`,
      {
        suggestions: ['Give another folder with --results DIR.'],
        cause: error,
      },
    )
  }
}
