import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {gunzipSync} from 'node:zlib'
import type {Cluster} from '../cluster/cluster.js'
import {differences, type FileSeen, readSegment} from '../experiment/segment-reading.js'
import {bufferSource} from '../log/byte-source.js'
import {messageOf} from '../util/errors.js'
import {plural} from '../util/format.js'
import {dumped} from './segment-readings.js'
import type {Agreement, Store} from './store.js'

/**
 * Lets Kafka's own dump tool (of the cluster's version) read the segment files of one trial that counts: one with a dead
 * broker's file, if there is any. All that both can tell of batches and records must be the same.
 */
export async function agreesWithKafka(
  store: Store,
  cluster: Cluster,
  counted: readonly number[],
  signal: AbortSignal,
): Promise<Agreement> {
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
  const files = chosen.map(({path}) => ({path, bytes: gunzipSync(readFileSync(join(store.dir, path)))}))
  try {
    const copies = files.map(({path, bytes}) => ({name: path, bytes}))
    const theirs = await dumped(cluster, copies, ['--deep-iteration', '--print-data-log'], signal)
    for (const [index, {path, bytes}] of files.entries()) {
      const kx = await readSegment(bufferSource(bytes), {records: true})
      const [difference] = differences(kx, theirs[index] as FileSeen)
      if (difference !== undefined)
        return {agrees: false, text: `Kafka's own dump tool reads ${path} otherwise: ${difference}`}
    }
  } catch (error) {
    return {agrees: false, text: `Kafka's own dump tool could not be asked: ${messageOf(error)}`}
  }
  return {
    agrees: true,
    text: `Kafka's own dump tool read ${plural(files.length, 'segment file')} of ${trial} and found the same batches and records`,
  }
}
