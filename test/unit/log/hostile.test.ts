import {randomFillSync} from 'node:crypto'
import {beforeAll, describe, expect, test} from 'vitest'
import {bufferSource} from '../../../src/log/byte-source.js'
import {prepareCodec} from '../../../src/log/codecs.js'
import {textFileLines} from '../../../src/log/files/file-text.js'
import {writeOffsetIndex} from '../../../src/log/files/offset-index.js'
import {writeProducerSnapshot} from '../../../src/log/files/producer-snapshot.js'
import {parseTextFile} from '../../../src/log/files/text-files.js'
import {writeTimeIndex} from '../../../src/log/files/time-index.js'
import {readLog} from '../../../src/log/read-log.js'
import {dumpText} from '../../../src/log/text/dump-kafka.js'
import {FinalReport} from '../../../src/log/text/final-report.js'
import {LineWriter} from '../../../src/log/text/line-writer.js'
import {verifyFile} from '../../../src/log/verify/verify-file.js'
import {cpuMs, Meter} from './fuzz/bounds.js'
import {vectors} from './vectors.js'

// Files that were made to take for ever: every reader is linear in them. A quadratic one would take minutes.

const sizeInBytes = 4_194_304
const cpuMsAtMost = 6_000

function header(magic: number, size: number): Buffer {
  const bytes = Buffer.from(vectors.plain.subarray(0, 61))
  bytes[16] = magic
  bytes.writeInt32BE(size - 12, 8)
  return bytes
}

/** A message of magic 1 whose value reaches far. */
function legacyHeader(size: number): Buffer {
  const bytes = Buffer.alloc(40)
  bytes.writeInt32BE(size - 12, 8)
  bytes[16] = 1
  bytes.writeInt32BE(-1, 26)
  bytes.writeInt32BE(size - 34, 30)
  return bytes
}

function filled(parts: (left: number) => readonly Buffer[]): Buffer {
  const all: Buffer[] = []
  let left = sizeInBytes
  while (left > 0) {
    for (const part of parts(left)) {
      all.push(part)
      left -= part.length
    }
  }
  return Buffer.concat(all)
}

const lie = (left: number): number => Math.max(61, left - 2_000)
const logs: Readonly<Record<string, () => Buffer>> = {
  'headers that claim the rest of the file': () => filled(left => [header(2, lie(left))]),
  'messages that claim the rest of the file': () => filled(left => [legacyHeader(lie(left))]),
  'good batches, each before a header that lies': () =>
    filled(left => [vectors.transactional, Buffer.from([1]), header(2, lie(left))]),
  'good batches, each before an unknown magic that leads to a header that lies': () =>
    filled(left => [vectors.transactional, header(3, 61), header(2, lie(left))]),
  'good batches between zeros': () => filled(() => [vectors.transactional, Buffer.alloc(5_000)]),
  'good batches between single bytes': () => filled(() => [vectors.transactional, Buffer.from([0xff])]),
  'specks in zeros': () => filled(() => [Buffer.alloc(64), Buffer.from([1])]),
  'batches without records': () =>
    filled(() => {
      const bytes = header(2, 61)
      bytes.writeInt32BE(0, 57)
      return [bytes]
    }),
  'nothing but 0': () => Buffer.alloc(sizeInBytes),
  'nothing but 1': () => Buffer.alloc(sizeInBytes, 1),
  'nothing but 2': () => Buffer.alloc(sizeInBytes, 2),
  'nothing but 255': () => Buffer.alloc(sizeInBytes, 0xff),
  'random bytes': () => randomFillSync(Buffer.alloc(sizeInBytes)),
}

async function linear(run: () => unknown): Promise<void> {
  const started = cpuMs()
  await run()
  expect(cpuMs() - started).toBeLessThan(cpuMsAtMost)
}

const name = '00000000000000000000.log'

async function dump(kind: 'log' | 'offset-index' | 'time-index' | 'producer-snapshot', bytes: Buffer, log?: Buffer) {
  const meter = new Meter()
  const writer = new LineWriter(meter.write)
  const report = new FinalReport('4.4')
  const folder = meter.folder(log ? new Map([[name, log]]) : new Map())
  const options = {style: '4.4', dialect: 'kx', printDataLog: true} as const
  const out = {writer, report, complain: () => undefined, absolutePath: '/x'}
  const {findings} = await dumpText(
    kind,
    meter.file(kind === 'log' ? name : `${'0'.repeat(20)}.index`, bytes),
    folder,
    options,
    out,
  )
  await writer.drain()
  return {findings, output: meter.outputBytes + report.text().length}
}

beforeAll(() => prepareCodec('zstd'))

describe('files that were made to take for ever take no longer than others', {timeout: 300_000}, () => {
  test.each(Object.entries(logs))('a log of %s', async (_, make) => {
    const bytes = make()
    const meter = new Meter()
    await linear(() => readLog(bufferSource(bytes), {batch: () => true, record: () => undefined}))
    await linear(() => dump('log', bytes))
    await linear(async () => {
      const report = await verifyFile(meter.file(name, bytes), meter.folder(new Map([[name, bytes]])))
      // Of each kind only so many are kept.
      expect(report.findings.length).toBeLessThan(5_000)
    })
    // Behind each damage a few kB are read anew.
    expect(meter.bytesRead).toBeLessThan(256 * bytes.length)
  })

  const log = filled(() => [vectors.transactional])
  const places = Array.from({length: 300_000}, (_, n) => ({
    offset: BigInt((n * 7_919) % 1_000_003),
    position: (n * 104_729) % sizeInBytes,
    timestamp: BigInt((n * 15_485_863) % 1_000_003),
  }))

  test.each([
    ['offset-index', '.index', () => writeOffsetIndex(places, 0n)],
    ['time-index', '.timeindex', () => writeTimeIndex(places, 0n)],
  ] as const)('an %s whose entries lead anywhere', async (kind, extension, make) => {
    const bytes = make()
    const meter = new Meter()
    await linear(() => dump(kind, bytes, log))
    const file = meter.file(`${'0'.repeat(20)}${extension}`, bytes)
    await linear(() => verifyFile(file, meter.folder(new Map([[name, log]]))))
  })

  test('a snapshot of producers that all are the same one', async () => {
    const entry = {
      producerId: 1n,
      producerEpoch: 0,
      lastSequence: 0,
      lastOffset: 0n,
      offsetDelta: 0,
      timestamp: 0n,
      coordinatorEpoch: 0,
      currentTxnFirstOffset: null,
    }
    const bytes = writeProducerSnapshot(Array.from({length: 200_000}, () => entry))
    const meter = new Meter()
    await linear(() => dump('producer-snapshot', bytes))
    await linear(() => verifyFile(meter.file(`${'0'.repeat(20)}.snapshot`, bytes), meter.folder(new Map())))
  })

  test.each([
    ['leader-epoch-checkpoint', `0\n250000\n${'9 9\n8 8\n'.repeat(250_000)}`],
    ['leader-epoch-checkpoint', '\n'.repeat(sizeInBytes)],
    ['offset-checkpoint', `0\n1\n${'t 0 -1\n'.repeat(250_000)}`],
    ['offset-checkpoint', `0\n1\n${' '.repeat(sizeInBytes)}`],
    ['partition-metadata', `version: 0\ntopic_id: ${': '.repeat(30_000)}`],
    ['meta-properties', '\\\n'.repeat(32_000)],
    ['meta-properties', 'a=\\u00e'.repeat(9_000)],
    ['meta-properties', `${'\\'.repeat(60_000)}\n`],
    ['quorum-state', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['quorum-state', '"'.repeat(60_000)],
    ['clean-shutdown', `{"brokerEpoch":${'9'.repeat(60_000)}}`],
    ['clean-shutdown', '\\"'.repeat(30_000)],
  ] as const)('a text file: %s', async (kind, text) => {
    await linear(() => {
      const file = parseTextFile(kind, Buffer.from(text))
      return textFileLines(file).length + file.problems.length
    })
  })
})
