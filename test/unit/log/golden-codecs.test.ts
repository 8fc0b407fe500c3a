import {readdirSync, readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {reading} from './reading.js'

interface Run {
  readonly case: string
  readonly file: string
  readonly args: readonly string[]
  readonly exit: number
  readonly stdout: string | null
}

const goldens = fileURLToPath(new URL('../../golden/dump-log/', import.meta.url))
const runsOf = (set: 'made' | 'real'): Run[] => JSON.parse(readFileSync(`${goldens}${set}/manifest.json`, 'utf8'))
const log = (set: string, folder: string) =>
  bufferSource(readFileSync(`${goldens}${set}/${folder}/00000000000000000000.log`))

/** Runs of Kafka's own tool that print the records of a log that begins at 0. */
const deepRuns = (set: 'made' | 'real'): Run[] =>
  runsOf(set).filter(
    ({file, args}) =>
      file === '00000000000000000000.log' &&
      args.every(arg => ['--print-data-log', '--deep-iteration', '--skip-record-metadata'].includes(arg)) &&
      args.some(arg => arg !== '--skip-record-metadata'),
  )

/** How many records Kafka's tool printed. */
function printed(set: string, {stdout}: Run): number {
  const text = stdout === null ? '' : readFileSync(`${goldens}${set}/${stdout}`, 'latin1')
  return text.match(/^\| offset: /gm)?.length ?? 0
}

/** What is odd and no error to Kafka. */
const remarks: Readonly<Record<string, RegExp>> = {
  'codec-gz_trail0': /^5 bytes behind the gzip stream$/,
  'codec-lz4_csum_bad': /^the content checksum of the LZ4 frame is wrong/,
  'codec-lz4_trail': /^3 bytes behind the end of the LZ4 frame$/,
  'codec-lz4_2frames': /^\d+ bytes behind the end of the LZ4 frame$/,
  'codec-sn_ver9': /^the header of the Snappy stream has version 9, compatible with 9/,
  'codec-sn_ver9b': /^the header of the Snappy stream has version 9, compatible with 0/,
}

const codecRuns = deepRuns('made').filter(run => run.case.startsWith('codec-'))

describe('streams of codecs: what Kafka reads is read, what it refuses is told', () => {
  test('there are runs of both sorts', () => {
    expect(codecRuns.filter(run => run.exit === 0).length).toBeGreaterThan(10)
    expect(codecRuns.filter(run => run.exit !== 0).length).toBeGreaterThan(5)
  })

  test.each(codecRuns)('$case', async run => {
    for (const wholeBatchBytes of [undefined, 0]) {
      const told = await reading(log('made', run.case), wholeBatchBytes === undefined ? {} : {wholeBatchBytes})
      // The batch behind the one with the odd stream is never harmed.
      expect(told.batches.length).toBeGreaterThan(1)
      expect(told.batches.every(batch => batch.endsWith('true'))).toBe(true)
      expect(told.problems.slice(1).every(problem => problem === undefined)).toBe(true)
      if (run.exit === 0) {
        expect(told.problems[0]).toBeUndefined()
        expect(told.records).toHaveLength(printed('made', run))
      } else expect(told.problems[0]).toMatch(/./)
      const expected = remarks[run.case]
      if (expected) expect(told.remarks).toEqual([expect.stringMatching(expected)])
      else expect(told.remarks).toEqual([])
    }
  })
})

test.each([...deepRuns('made').filter(run => run.case.startsWith('kafka-') && run.exit === 0)])(
  '$case, by Kafka’s own record classes: as many records as its tool prints',
  async run => {
    const told = await reading(log('made', run.case))
    expect(told.problems.every(problem => problem === undefined)).toBe(true)
    expect(told.records).toHaveLength(
      run.args.includes('--skip-record-metadata') ? told.records.length : printed('made', run),
    )
  },
)

const realLogs = readdirSync(`${goldens}real`).filter(folder =>
  deepRuns('real').some(run => run.case === folder && run.exit === 0 && !run.args.includes('--skip-record-metadata')),
)

test.each(realLogs)(
  '%s, by real brokers and clients: held or streamed, the same records as Kafka’s tool prints',
  async folder => {
    const run = deepRuns('real').find(
      each => each.case === folder && each.exit === 0 && !each.args.includes('--skip-record-metadata'),
    ) as Run
    const held = await reading(log('real', folder))
    expect(held.records).toHaveLength(printed('real', run))
    expect(held.problems.every(problem => problem === undefined)).toBe(true)
    expect(held.batches.every(batch => batch.endsWith('true'))).toBe(true)
    const streamed = await reading(log('real', folder), {wholeBatchBytes: 0, chunkBytes: 100})
    expect(streamed).toEqual(held)
  },
)
