import {mkdir, rename, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ReportInput} from '../experiment/run.js'
import {KxError, messageOf, systemCode} from '../util/errors.js'

/**
 * Writes the reports of a run into its folder, each whole or not at all: `report.html` (with `.` as the run's folder,
 * so that it may be moved), `report.md`, `measures.csv`. @throws KxError KX_RESULTS, KX_DISK_FULL (environment)
 */
export async function publish(input: ReportInput, dir: string): Promise<void> {
  await save(dir, await reportsOf(input))
}

/** The same after a new judgement, and `run.json` with it. */
export async function publishAgain(input: ReportInput, dir: string): Promise<void> {
  const run = `${JSON.stringify({...input.run, dir: '.'}, null, 2)}\n`
  await save(dir, {'run.json': run, ...(await reportsOf(input))})
}

async function reportsOf(input: ReportInput): Promise<Record<string, string>> {
  const [{htmlReport}, {markdownReport}, {measuresCsv}] = await Promise.all([
    import('../report/html.js'),
    import('../report/markdown.js'),
    import('../report/csv.js'),
  ])
  return {
    'report.html': await htmlReport(input, {dir: '.'}),
    'report.md': markdownReport(input),
    'measures.csv': measuresCsv(input.run),
  }
}

async function save(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await mkdir(dir, {recursive: true})
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(dir, `${name}.part`), content)
      await rename(join(dir, `${name}.part`), join(dir, name))
    }
  } catch (error) {
    const code = systemCode(error) === 'ENOSPC' ? 'KX_DISK_FULL' : 'KX_RESULTS'
    throw new KxError('environment', code, `The report can't be written to ${dir}: ${messageOf(error)}.`, {
      suggestions: ['Give another folder with --results DIR.'],
      cause: error,
    })
  }
}
