import {findProcesses} from '../owner.js'
import {clusterFolder} from '../state.js'
import {nodeMark} from './jvm.js'
import {signal, untilGone} from './process.js'

/**
 * Kills every node of a cluster that can be found by its folder, whatever its state file says or does not say; the
 * number of them. For states that are damaged, and for what a crash of kx left half-started.
 */
export async function killLeftovers(name: string): Promise<number> {
  const mark = nodeMark(`${clusterFolder(name)}/nodes/`)
  const found = await findProcesses(mark)
  for (const process of found) await signal(process, mark, 'SIGKILL')
  await Promise.all(found.map(process => untilGone(process, `a node of cluster "${name}"`, 20_000)))
  return found.length
}
