import {attach} from '../cluster/lifecycle.js'
import {lockCluster} from '../cluster/state.js'
import {KxError} from '../util/errors.js'
import {sweep} from './apparatus.js'
import {experimentNames} from './experiments.js'
import {ClusterView} from './view.js'

/**
 * Deletes the topics that experiments of a killed kx left on a cluster; their names. Those of an experiment that is at
 * work are left to it. @throws KxError KX_NO_BROKER (environment) if nobody answers
 */
export async function deleteLeftoverTopics(name: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    // Held while they are deleted: an experiment that begins meanwhile has topics of the same kind.
    using _lock = await lockCluster(name, 'kx heal')
    await using cluster = await attach(name)
    await using view = new ClusterView(cluster, signal)
    return await sweep(view, experimentNames())
  } catch (error) {
    if (error instanceof KxError && error.code === 'KX_CLUSTER_BUSY') return []
    throw error
  }
}
