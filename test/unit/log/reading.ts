import type {ByteSource} from '../../../src/log/byte-source.js'
import {type Damage, type LogEnd, type ReadOptions, readLog} from '../../../src/log/read-log.js'
import type {RecordCursor} from '../../../src/log/record-cursor.js'
import type {RecordsProblem} from '../../../src/log/records-problem.js'

/** What a reading told, in plain text and numbers, so that two readings can be compared. */
export interface Told {
  readonly batches: string[]
  readonly records: string[]
  readonly problems: (string | undefined)[]
  readonly remarks: string[]
  readonly damage: Damage[]
  readonly end: LogEnd
}

export async function reading(source: ByteSource, options: ReadOptions = {}): Promise<Told> {
  const told: Omit<Told, 'end'> = {batches: [], records: [], problems: [], remarks: [], damage: []}
  const visitor = {
    current: {remarks: [] as readonly string[]},
    batch(batch: {position: number; magic: number; codec: string; crcIsRight: boolean; remarks: readonly string[]}) {
      visitor.current = batch
      told.batches.push(`${batch.position} magic ${batch.magic} ${batch.codec} ${batch.crcIsRight}`)
      return true
    },
    record: (record: RecordCursor) => void told.records.push(recordText(record)),
    recordsDone(problem: RecordsProblem | undefined) {
      told.problems.push(problem?.reason)
      told.remarks.push(...visitor.current.remarks)
    },
    damage: (damage: Damage) => void told.damage.push(damage),
  }
  const end = await readLog(source, visitor, options)
  return {...told, end}
}

export function recordText(record: RecordCursor): string {
  const {offset, timestamp, sequence, key, value, headers, sizeInBytes, isLegacy, crcIsRight} = record
  const told = headers.map(header => `${header.keyBytes.toString('hex')}=${header.value?.toString('hex')}`)
  const payload = `${key?.toString('hex')} ${value?.toString('hex')} [${told}]`
  return `${offset} ${timestamp} ${sequence} ${sizeInBytes} ${isLegacy} ${crcIsRight} ${payload}`
}

/** A source that reads into the same memory each time, as one of a file may: what was read before is gone then. */
export function reusingSource(bytes: Buffer): ByteSource {
  let memory = Buffer.alloc(0)
  return {
    size: bytes.length,
    read: async (position, length) => {
      if (memory.length < length) memory = Buffer.alloc(length)
      memory.fill(0xee)
      return memory.subarray(0, bytes.copy(memory, 0, position, Math.min(position + length, bytes.length)))
    },
  }
}
