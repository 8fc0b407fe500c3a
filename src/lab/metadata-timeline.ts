import type {ClusterNode} from '../cluster/cluster.js'
import type {TimelineEvent} from '../experiment/timeline.js'
import {batches} from '../log/batches.js'
import {decodeMetadataRecord} from '../log/metadata-records.js'
import {KxError} from '../util/errors.js'

const metadataPartition = {topic: '__cluster_metadata', partition: 0}
/** PartitionChangeRecord: `leader` is −2 when it does not change (org.apache.kafka.metadata.LeaderConstants). */
const noLeaderChange = -2

/** A partition event with the topic's real name: several topics of a cluster may have it. */
export interface TimelineRequest {
  /** Real topic → the apparatus' name. */
  readonly topics: ReadonlyMap<string, string>
  /** Wall clock of the trial's begin, and what it was on the trial's clock (0): events before it are left out. */
  readonly sinceWallMs: number
}

interface PartitionState {
  leader: number
  leaderEpoch: number
  inSyncReplicas: readonly number[]
  eligibleLeaderReplicas: readonly number[]
}

type Fields = Readonly<Record<string, unknown>>

/**
 * The controller's own account, from the segment files of `__cluster_metadata` on one node: the primary timeline of every
 * failover. The records carry only what changed, so states are folded from the log's beginning. Leader epochs are not in
 * PARTITION_CHANGE: a record that names a leader raises the epoch by one (PartitionRegistration.merge).
 * @throws KxError KX_METADATA_LOG (inconclusive) if a topic asked for does not occur in the log.
 */
export async function readTimeline(
  node: ClusterNode,
  {topics, sinceWallMs}: TimelineRequest,
): Promise<readonly TimelineEvent[]> {
  const fold = new Fold(topics, sinceWallMs)
  const segments = (await node.files(metadataPartition)).filter(({name}) => name.endsWith('.log'))
  for (const segment of [...segments].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    for await (const batch of batches(segment.open())) {
      // Preconditions rest on what this log does not say, so nothing in it may be passed over.
      if (!batch.crcIsRight || batch.problem !== undefined) {
        throw unreadable(`its batch at offset ${batch.baseOffset} can't be read (${batch.problem ?? 'false CRC'})`)
      }
      if (batch.isControl) continue
      for (const {value, timestamp} of batch.records) fold.add(value, Number(batch.baseOffset), Number(timestamp))
    }
  }
  return fold.result()
}

class Fold {
  readonly #events: TimelineEvent[] = []
  readonly #names = new Map<string, string>()
  readonly #partitions = new Map<string, PartitionState>()

  constructor(
    private readonly topics: ReadonlyMap<string, string>,
    private readonly sinceWallMs: number,
  ) {}

  result(): readonly TimelineEvent[] {
    const seen = new Set(this.#events.map(({topic}) => topic))
    const missing = [...this.topics.values()].filter(name => !seen.has(name))
    if (missing.length > 0) {
      throw new KxError(
        'inconclusive',
        'KX_METADATA_LOG',
        `The controller's log says nothing of the topic ${missing.join(', ')}.`,
      )
    }
    return this.#events
  }

  add(value: Buffer | null, batch: number, wallMs: number): void {
    const record = decodeMetadataRecord(value)
    if (!('data' in record)) {
      if (wallMs < this.sinceWallMs) return
      throw unreadable(`a record at offset ${batch} or later is not known to this kx (${record.reason})`)
    }
    const data = record.data as Fields
    if (record.type === 'TopicRecord') this.#names.set(String(data.topicId), String(data.name))
    else if (record.type === 'PartitionRecord') this.#partition(data, batch, wallMs)
    else if (record.type === 'PartitionChangeRecord') this.#change(data, batch, wallMs)
    else this.#broker(record.type, data, batch, wallMs)
  }

  #partition(data: Fields, batch: number, wallMs: number): void {
    const state: PartitionState = {
      leader: Number(data.leader),
      leaderEpoch: Number(data.leaderEpoch),
      inSyncReplicas: (data.isr as number[] | null) ?? [],
      eligibleLeaderReplicas: (data.eligibleLeaderReplicas as number[] | null) ?? [],
    }
    this.#keep(data, state, batch, wallMs)
  }

  #change(data: Fields, batch: number, wallMs: number): void {
    const state = this.#partitions.get(`${data.topicId}-${data.partitionId}`)
    if (!state) return
    if (data.isr !== null && data.isr !== undefined) state.inSyncReplicas = data.isr as number[]
    if (Array.isArray(data.eligibleLeaderReplicas))
      state.eligibleLeaderReplicas = data.eligibleLeaderReplicas as number[]
    if (data.leader !== undefined && data.leader !== noLeaderChange) {
      state.leader = Number(data.leader)
      state.leaderEpoch++
    }
    this.#keep(data, state, batch, wallMs)
  }

  #keep(data: Fields, state: PartitionState, batch: number, wallMs: number): void {
    this.#partitions.set(`${data.topicId}-${data.partitionId}`, state)
    const topic = this.topics.get(this.#names.get(String(data.topicId)) ?? '')
    if (topic === undefined || data.partitionId !== 0) return
    this.#event(batch, wallMs, {
      kind: 'partition',
      topic,
      leader: state.leader,
      leaderEpoch: state.leaderEpoch,
      inSyncReplicas: [...state.inSyncReplicas],
      eligibleLeaderReplicas: [...state.eligibleLeaderReplicas],
    })
  }

  #broker(type: string, data: Fields, batch: number, wallMs: number): void {
    const nodeId = Number(data.brokerId ?? data.id)
    const kind = brokerEvent(type, data)
    if (kind && Number.isInteger(nodeId)) this.#event(batch, wallMs, {kind, nodeId})
  }

  #event(batch: number, wallMs: number, rest: Omit<TimelineEvent, 'batch' | 'wallMs' | 'atMs'>): void {
    // The apparatus' topics are made for the trial, so whatever concerns them belongs to it; broker events may be older.
    if (rest.kind !== 'partition' && wallMs < this.sinceWallMs) return
    this.#events.push({atMs: wallMs - this.sinceWallMs, wallMs, batch, ...rest})
  }
}

function unreadable(why: string): KxError {
  return new KxError('inconclusive', 'KX_METADATA_LOG', `The controller's log is not read whole: ${why}.`)
}

function brokerEvent(type: string, data: Fields): TimelineEvent['kind'] | undefined {
  if (type === 'RegisterBrokerRecord') return 'registered'
  if (type === 'FenceBrokerRecord') return 'fenced'
  if (type === 'UnfenceBrokerRecord') return 'unfenced'
  if (type !== 'BrokerRegistrationChangeRecord') return undefined
  if (data.fenced === 1) return 'fenced'
  if (data.fenced === -1) return 'unfenced'
  return data.inControlledShutdown === 1 ? 'controlled-shutdown' : undefined
}
