import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {expect} from 'vitest'
import type {DifferenceId} from '../../../../src/log/text/differences.js'
import type {GoldenRun, Printed} from './golden-runs.js'

export interface Streams {
  readonly stdout: string
  readonly stderr: string
}

/** One character a byte, so that nothing is lost in comparing. */
export const recorded = (run: GoldenRun): Streams => ({stdout: run.stdout.toString('latin1'), stderr: run.stderr})
export const streams = ({stdout, complaints, report}: Printed): Streams => ({
  stdout: stdout.toString('latin1'),
  stderr: complaints.map(line => `${line}\n`).join('') + report,
})
const bytesOf = (run: GoldenRun): Buffer => readFileSync(join(run.folder, run.file))

/** What is expected where the tool came to its end. Undefined: the difference has nothing to do with the run. */
export const expectations: Partial<Record<DifferenceId, (run: GoldenRun) => Streams | undefined>> = {
  'first-gap'(run) {
    const {stdout, stderr} = recorded(run)
    if (!stderr.includes('  -1 is followed by ')) return undefined
    const rest = stderr.replace(/ {2}-1 is followed by \d+\n/, '')
    return {stdout, stderr: rest.replace(/^Non-consecutive offsets in [^\n]*\n$/, '')}
  },
  'phantom-entry'(run) {
    const {stdout, stderr} = recorded(run)
    const isIndex = /\.(index|timeindex)$/.test(run.file)
    if (!isIndex || run.args.includes('--index-sanity-check') || bytesOf(run).length < 24) return undefined
    if (bytesOf(run).some(byte => byte !== 0)) return undefined
    expect(stdout.split('\n').length).toBe(run.args.includes('--verify-index-only') ? 2 : 3)
    expect(stderr === '' || /Mismatches|not found/.test(stderr)).toBe(true)
    const says = run.file.endsWith('.index') ? `${run.file} is empty.\n` : ''
    return {stdout: `Dumping ${run.file}\n${says}`, stderr: ''}
  },
  'unknown-magic'(run) {
    const {stdout, stderr} = recorded(run)
    if (!/ magic: (?![012] )\d+ /.test(stdout)) return undefined
    return {stdout: stdout.replace(/^baseOffset: .* magic: (?![012] )\d+ .*\n(\| .*\n)*/gm, ''), stderr}
  },
}

/** By the exception that ended the tool's run. */
export const breakdowns: readonly (readonly [RegExp, DifferenceId])[] = [
  [/Found record size -?\d+ smaller than minimum record overhead/, 'impossible-size'],
  [/Invalid magic used in LegacyRecord/, 'unknown-magic'],
  [/NumberFormatException/, 'name-without-offset'],
  [/Corrupt time index found.*the last timestamp is 0 which/, 'sanity-of-preallocated'],
  [/NoSuchElementException|Invalid position/, 'index-position'],
  [/missing key/, 'keyless-record'],
  [/found for control record key/, 'control-key'],
  [
    /InvalidRecordException|KafkaException: (Failed|Error|java\.)|Record(BatchFormat|TooShort)|IndexOutOfBounds/,
    'unreadable-records',
  ],
]

/** The differences that the recorded runs must show, every one of them. */
export const shownByGoldenRuns: readonly DifferenceId[] = [
  ...(Object.keys(expectations) as DifferenceId[]),
  ...breakdowns.map(([, id]) => id),
  'lost-findings',
  'resynchronisation',
]
