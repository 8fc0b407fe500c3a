import {diffReplicas} from '../../../../src/log/diff/compare.js'
import {diffText} from '../../../../src/log/diff/text.js'
import type {Finding} from '../../../../src/log/finding.js'
import {bytesJson, valueJson} from '../../../../src/log/json.js'
import {readLog} from '../../../../src/log/read-log.js'
import {reportText} from '../../../../src/log/verify/report-text.js'
import type {Report} from '../../../../src/log/verify/report.js'
import {salvage} from '../../../../src/log/verify/salvage.js'
import {verifyFile} from '../../../../src/log/verify/verify-file.js'
import {verifyFolder} from '../../../../src/log/verify/verify-folder.js'
import {goldenFiles} from '../golden-files.js'
import type {Meter} from './bounds.js'
import type {Mutant} from './mutate.js'
import {maxDecompressedBytes, type Target} from './targets.js'

/** Larger files beside the wounded one are left away, for speed. */
const besideBytes = 8_000

const folders = new Map<string, Map<string, Buffer>>()
for (const {folder, name, bytes} of goldenFiles()) {
  const files = folders.get(folder) ?? new Map<string, Buffer>()
  if (bytes.length <= besideBytes) files.set(name, bytes)
  folders.set(folder, files)
}

/** The folder of the wounded file with that file in it. */
function withMutant({seed, bytes}: Mutant): Map<string, Buffer> {
  return new Map([...(folders.get(seed.folder) ?? []), [seed.name, bytes]])
}

/** Topics that have decoders of their own, and one that has none. */
function partitionOf({seed}: Mutant): string {
  if (/offsets/.test(seed.folder)) return '__consumer_offsets-0'
  if (/metadata|metasnap/.test(seed.folder)) return '__cluster_metadata-0'
  if (/transaction-state/.test(seed.folder)) return '__transaction_state-0'
  return 'orders-0'
}

function checkReport(report: Report, meter: Meter): void {
  const lines = reportText(report, {columns: 100, unicode: false})
  const odd = lines.find(line => /[^ -~\u00a0-\uffff]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(line))
  if (odd !== undefined) throw new Error(`a line drives the terminal: ${JSON.stringify(odd)}`)
  meter.outputBytes += lines.join('\n').length + valueJson(report, bytesJson).length
  checkFindings(report.findings)
}

function checkFindings(findings: readonly Finding[]): void {
  const wrong = findings.find(
    ({explanation, position}) => explanation === '' || (position !== undefined && !Number.isSafeInteger(position)),
  )
  if (wrong) throw new Error(`an odd finding: ${valueJson(wrong, bytesJson)}`)
}

const options = {maxDecompressedBytes, now: 1_800_000_000_000n}

const file: Target = {
  name: 'verifyFile',
  run: async (mutant, meter, chance) => {
    const {seed, bytes} = mutant
    const name = chance % 6 === 0 ? 'noext' : seed.name
    const folder = meter.folder(withMutant(mutant), partitionOf(mutant))
    checkReport(await verifyFile(meter.file(name, bytes), folder, options), meter)
  },
}

const folder: Target = {
  name: 'verifyFolder',
  run: async (mutant, meter, chance) => {
    const path = chance % 3 === 0 ? 'data' : partitionOf(mutant)
    checkReport(await verifyFolder(meter.folder(withMutant(mutant), path), options), meter)
  },
}

const salvaging: Target = {
  name: 'salvage',
  run: async ({bytes}, meter) => {
    const pieces: Buffer[] = []
    const salvaged = await salvage(
      meter.source(bytes),
      piece => {
        pieces.push(Buffer.from(piece))
      },
      {maxDecompressedBytes},
    )
    const result = Buffer.concat(pieces)
    meter.outputBytes += result.length
    if (salvaged.bytes !== result.length || result.length > bytes.length) throw new Error('false numbers')
    if (result.length + salvaged.skippedBytes > bytes.length) throw new Error('more bytes than there are')
    let last: bigint | undefined
    const end = await readLog(meter.source(result), {
      batch: batch => {
        if (!batch.crcIsRight) throw new Error('a salvaged batch has a false CRC')
        if (last !== undefined && batch.lastOffset < last) throw new Error('salvaged offsets fall')
        last = batch.lastOffset
        return true
      },
      record: () => undefined,
      recordsDone: problem => {
        if (problem !== undefined) throw new Error(`a salvaged batch can't be read: ${problem.reason}`)
      },
      damage: ({reason}) => {
        throw new Error(`what was salvaged is damaged: ${reason}`)
      },
    })
    if (end.batches !== salvaged.batches) throw new Error('other batches than were told')
  },
}

const diff: Target = {
  name: 'diffReplicas',
  run: async (mutant, meter) => {
    const whole = new Map([...(folders.get(mutant.seed.folder) ?? []), [mutant.seed.name, mutant.seed.bytes]])
    // Replicas without any log are refused.
    if (![...whole.keys()].some(name => name.endsWith('.log'))) return
    const result = await diffReplicas([
      {name: 'one', folder: meter.folder(whole, 'one')},
      {name: 'two', folder: meter.folder(withMutant(mutant), 'two')},
      {name: 'three', folder: meter.folder(whole, 'three')},
    ])
    const text = diffText(result, {
      columns: 100,
      unicode: true,
      title: 'orders-0',
      wrap: line => line,
      paint: line => line,
    })
    meter.outputBytes += text.length + valueJson(result, bytesJson).length
  },
}

export const logFolderTargets: readonly Target[] = [file, folder, salvaging, diff]
export const fileFolderTargets: readonly Target[] = [file, folder, diff]
