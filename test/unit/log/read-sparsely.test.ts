import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {beforeAll, expect, test} from 'vitest'
import {bufferSource, type ByteSource} from '../../../src/log/byte-source.js'
import {prepareCompression} from '../../../src/log/codecs.js'
import {type LogVisitor, readLog} from '../../../src/log/read-log.js'
import {readSparsely} from '../../../src/log/read-sparsely.js'
import {writeBatch} from '../../../src/log/write-batch.js'

const golden = new URL('../../golden/dump-log/real/', import.meta.url).pathname

/** A source that gives pieces at once, and notes how much. */
function atOnce(bytes: Buffer): ByteSource & {given: number} {
  const source = {
    ...bufferSource(bytes),
    given: 0,
    readNow: (position: number, into: Buffer) => {
      const copied = bytes.copy(into, 0, position, Math.min(position + into.length, bytes.length))
      source.given += copied
      return copied
    },
  }
  return source
}

/** What a visitor is told that wants the records of every second batch. */
function noting(): {visitor: LogVisitor; seen: unknown[]} {
  const seen: unknown[] = []
  const visitor: LogVisitor = {
    batch: ({position, lastOffset, sizeInBytes}) => seen.push(['batch', position, lastOffset, sizeInBytes]) % 2 === 1,
    record: ({offset, timestamp}) => void seen.push(['record', offset, timestamp]),
    recordsDone: problem => void seen.push(['done', problem]),
    damage: ({position}) => void seen.push(['damage', position]),
  }
  return {visitor, seen}
}

beforeAll(prepareCompression)

const logs = readdirSync(golden, {recursive: true})
  .map(String)
  .filter(path => path.endsWith('.log'))
const tested: string[] = []

test.each(logs)('%s gives the same as the whole reading, or is left to it', async path => {
  const bytes = readFileSync(join(golden, path))
  const [sparse, whole] = [noting(), noting()]
  await readLog(bufferSource(bytes), whole.visitor)
  const isRead = await readSparsely(atOnce(bytes), sparse.visitor)
  if (isRead) {
    tested.push(path)
    expect(sparse.seen).toEqual(whole.seen)
  } else expect(whole.seen).toContainEqual(['damage', expect.any(Number)])
})

test('most of them can be read so', () => {
  expect(tested.length).toBeGreaterThan(logs.length / 2)
})

test('only headers are read where no records are wanted', async () => {
  const value = Buffer.alloc(50_000)
  const bytes = Buffer.concat(
    [0n, 1n, 2n].map(offset => writeBatch({baseOffset: offset, records: [{timestamp: 1n, key: null, value}]})),
  )
  const source = atOnce(bytes)
  const offsets: bigint[] = []
  const visitor: LogVisitor = {batch: ({lastOffset}) => offsets.push(lastOffset) < 0, record: () => {}}
  expect(await readSparsely(source, visitor)).toBe(true)
  expect(offsets).toEqual([0n, 1n, 2n])
  expect(source.given).toBe(3 * 61)
  expect(await readSparsely(bufferSource(bytes), visitor)).toBe(false)
})
