import {relative} from 'node:path'
import type {ReportInput} from '../experiment/run.js'
import type {View} from './answer.js'

/** The report of a run on this terminal. Loaded where used, as the report draws charts. */
export async function runText(input: ReportInput): Promise<(view: View) => string> {
  const {textReport} = await import('../report/text.js')
  const near = relative(process.cwd(), input.run.dir)
  const dir = near === '' || near.startsWith('..') ? input.run.dir : near
  return ({columns, ...view}) => textReport(input, {...view, width: columns, dir})
}
