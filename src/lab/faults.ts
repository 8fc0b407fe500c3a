import type {ClusterNode, Proof} from '../cluster/cluster.js'
import {type JournalEntry, record} from '../cluster/journal.js'
import type {FaultRecord} from '../experiment/bench.js'
import {endsTheRun} from './final.js'
import {KxError, messageOf} from '../util/errors.js'

export interface FaultContext {
  /** The cluster's journal: a fault is on disk there before it acts, so that `kx heal` works after a crash of kx. */
  readonly journal: string
  /** A copy of every line goes into the run. */
  keep(entry: JournalEntry): void
  /** Milliseconds on the trial's clock, from `performance.now()`. */
  trialMs(monotonicMs: number): number
  /** What this node is now, for people: `leader of acks1, acksAll`. */
  roleOf(nodeId: number): Promise<string>
}

/**
 * Hurts or cures one node: written down, done, proven, written down again; the role is read before and after, because it
 * may move between the look and the blow.
 * @throws KxError KX_FAULT (inconclusive) when the runtime can't prove that the fault took hold.
 */
export async function act(context: FaultContext, node: ClusterNode, fault: Proof['fault']): Promise<FaultRecord> {
  const write = (entry: JournalEntry) => {
    try {
      record(context.journal, entry)
      context.keep(entry)
    } catch (error) {
      // A blow that can't be written down is not struck. A cure is: a full disk must not leave a broker stopped.
      if (!isCure(fault)) throw error
    }
  }
  const before = await context.roleOf(node.nodeId)
  write({at: new Date().toISOString(), state: 'planned', fault, nodeId: node.nodeId, why: before})
  let proof: Proof
  try {
    proof = await node[fault]()
  } catch (error) {
    write({at: new Date().toISOString(), state: 'failed', fault, nodeId: node.nodeId, error: messageOf(error)})
    if (endsTheRun(error)) throw error
    throw new KxError(
      'inconclusive',
      'KX_FAULT',
      `The fault "${fault} node ${node.nodeId}" could not be proven: ${messageOf(error)}`,
      {
        cause: error,
      },
    )
  }
  write({at: new Date().toISOString(), state: 'proven', proof})
  const after = await context.roleOf(node.nodeId)
  return {
    fault,
    nodeId: node.nodeId,
    mechanism: proof.mechanism,
    evidence: proof.evidence,
    startMs: context.trialMs(proof.startedMs),
    provenMs: context.trialMs(proof.provenMs),
    wallMs: proof.wallMs,
    role: {before, after},
  }
}

function isCure(fault: Proof['fault']): boolean {
  return fault === 'resume' || fault === 'start'
}

/** Resumes what is paused and starts what is down. Tries every node, whatever fails, and throws the first failure at the end. */
export async function heal(context: FaultContext, nodes: readonly ClusterNode[]): Promise<readonly FaultRecord[]> {
  const healed: FaultRecord[] = []
  let failure: unknown
  for (const node of nodes) {
    try {
      const state = await node.state()
      if (state === 'paused') healed.push(await act(context, node, 'resume'))
      else if (state !== 'running') healed.push(await act(context, node, 'start'))
    } catch (error) {
      failure ??= error
    }
  }
  if (failure) throw failure
  return healed
}
