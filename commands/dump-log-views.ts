import type {Format, View} from '../src/cli/answer.js'
import type {DumpOptions, DumpWriter} from '../src/inspect/job.js'
import type {RenderStates, StateRequest} from '../src/inspect/state-writer.js'

type Write = (bytes: Uint8Array) => Promise<void>

export interface ViewWanted {
  readonly format: Format
  readonly view: View
  readonly write: Write
  readonly options: DumpOptions
}

/** `--state`. */
export async function stateWriter(
  {format, view, write, options}: ViewWanted,
  request: StateRequest,
): Promise<DumpWriter> {
  const {StateWriter} = await import('../src/inspect/state-writer.js')
  const {redact, raw} = options
  const render: RenderStates = async reports => {
    const data = await import('./dump-log-state-data.js')
    if (format === 'json') return data.stateJson(reports, redact)
    if (format === 'ndjson') return data.stateLines(reports, redact)
    if (format === 'csv') return data.stateCsv(reports, {redact, safe: !raw})
    if (request.against !== undefined) return data.changesText(reports, view, redact)
    const {stateText} = await import('./dump-log-state.js')
    return [stateText(reports, view, redact)]
  }
  return new StateWriter(render, write, options, request)
}

/** `--what-if`. */
export async function whatIfWriter({format, view, write, options}: ViewWanted): Promise<DumpWriter> {
  const {WhatIfWriter} = await import('../src/inspect/what-if-writer.js')
  const {whatIfText} = await import('./dump-log-what-if.js')
  return new WhatIfWriter(async reports => whatIfText(reports, format, view), write, options)
}
