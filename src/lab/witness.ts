import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {gunzipSync} from 'node:zlib'
import type {Cluster} from '../cluster/cluster.js'
import {batches} from '../log/batches.js'
import {bufferSource} from '../log/byte-source.js'
import {messageOf} from '../util/errors.js'
import {plural} from '../util/format.js'
import type {Agreement, Store} from './store.js'

/** One line per batch or record, as both readers can tell it. */
type Line = string

/**
 * Lets Kafka's own dump tool (of the cluster's version) read the segment files of one trial that counts: one with a dead
 * broker's file, if there is any. Batches (base offset, last offset, leader epoch, CRC, valid or not) and records (offset,
 * value) must be the same.
 */
export async function agreesWithKafka(store: Store, cluster: Cluster, counted: readonly number[]): Promise<Agreement> {
  const logs = store.evidence.filter(({path}) => path.endsWith('.log.gz'))
  const ofTrial = (number: number) => logs.filter(({path}) => path.startsWith(`evidence/trial-${number}/`))
  const trials = counted.map(ofTrial).filter(files => files.length > 0)
  const chosen = trials.find(files => files.some(({path}) => path.includes('-killed/'))) ?? trials[0] ?? []
  const trial = chosen[0]?.path.split('/')[1]
  if (chosen.length === 0)
    return {
      agrees: false,
      text: "Kafka's own dump tool had nothing to read: no segment file of a trial that counts was kept",
    }
  // The tool takes the log's starting offset from the file's name, and only prints it: numbers keep the names apart.
  const files = chosen.map(({path}, index) => ({
    name: `${String(index).padStart(20, '0')}.log`,
    bytes: gunzipSync(readFileSync(join(store.dir, path))),
  }))
  try {
    const theirs = parseDump(await cluster.dumpLog(files, ['--deep-iteration', '--print-data-log']))
    for (const [index, file] of files.entries()) {
      const mine = await linesOf(file.bytes)
      const other = theirs.get(file.name) ?? []
      const at = mine.findIndex((line, position) => line !== other[position])
      if (at < 0 && mine.length === other.length) continue
      const [here, there] = [mine[at] ?? 'nothing', other[at] ?? 'nothing']
      return {
        agrees: false,
        text: `Kafka's own dump tool reads ${chosen[index]?.path} otherwise: kx "${here}", Kafka "${there}"`,
      }
    }
  } catch (error) {
    return {agrees: false, text: `Kafka's own dump tool could not be asked: ${messageOf(error)}`}
  }
  return {
    agrees: true,
    text: `Kafka's own dump tool read ${plural(files.length, 'segment file')} of ${trial} and found the same batches and records`,
  }
}

async function linesOf(bytes: Buffer): Promise<Line[]> {
  const lines: Line[] = []
  for await (const batch of batches(bufferSource(bytes))) {
    lines.push(
      `batch ${batch.baseOffset}-${batch.lastOffset} epoch ${batch.leaderEpoch} crc ${batch.crc} ${batch.crcIsRight}`,
    )
    for (const {offset, value} of batch.records) lines.push(`record ${offset} ${value?.toString('utf8') ?? ''}`)
  }
  return lines
}

const batchLine =
  /^baseOffset: (\d+) lastOffset: (\d+) .*partitionLeaderEpoch: (-?\d+) .*crc: (\d+) isvalid: (true|false)/
const recordLine = /^\| offset: (\d+) .*?(?: payload: (.*))?$/

/** The tool's text, by file. */
export function parseDump(text: string): ReadonlyMap<string, readonly Line[]> {
  const files = new Map<string, Line[]>()
  let lines: Line[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('Dumping ')) {
      lines = []
      files.set(line.slice('Dumping '.length).trim().split('/').at(-1) as string, lines)
      continue
    }
    const batch = batchLine.exec(line)
    if (batch) lines.push(`batch ${batch[1]}-${batch[2]} epoch ${batch[3]} crc ${batch[4]} ${batch[5]}`)
    const record = recordLine.exec(line)
    if (record) lines.push(`record ${record[1]} ${record[2] ?? ''}`)
  }
  return files
}
