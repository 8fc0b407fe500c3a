import type {EpochEntry} from '../files/checkpoints.js'
import type {Facts} from './facts.js'
import type {FindingList} from './finding-list.js'
import type {LeaderEpochSummary} from './report.js'

/** Runs of one epoch that are kept for the overview. */
const runsKept = 10_000

/** A run of batches of one epoch, so far. */
export type RunMark = Readonly<Run>

interface Run {
  epoch: number
  firstOffset: bigint
  lastOffset: bigint
  batches: number
}

/**
 * Leader epochs never fall, and `leader-epoch-checkpoint` says where each begins. Legal, and no finding: an epoch without
 * a record, a first entry that was moved to the log start (what lies before it has no entry), batches without an epoch.
 */
export class EpochCheck {
  readonly runs: Run[] = []
  /** The newest epoch in the log. */
  newest = -1

  readonly #list: FindingList
  readonly #entries: readonly EpochEntry[]
  readonly #checkpointFile: string
  /** The entry that governs the current offset. */
  #entry = -1
  #toldFor: string | undefined
  #run: Run | undefined

  constructor(list: FindingList, checkpoint?: {readonly file: string; readonly entries: readonly EpochEntry[]}) {
    this.#list = list
    this.#entries = checkpoint?.entries ?? []
    this.#checkpointFile = checkpoint?.file ?? ''
  }

  batch(facts: Facts, file: string): void {
    const {leaderEpoch, baseOffset, lastOffset} = facts
    if (leaderEpoch < 0) {
      this.#none(facts, file)
      return
    }
    if (this.#run?.epoch === leaderEpoch) {
      if (lastOffset > this.#run.lastOffset) this.#run.lastOffset = lastOffset
      this.#run.batches++
    } else this.#begin(facts, file)
    if (this.#entries.length > 0) this.#compare(leaderEpoch, baseOffset, facts.position, file)
  }

  /** What the checkpoint says about the end of the log. */
  finish(endOffset: bigint | undefined): void {
    if (endOffset === undefined) return
    for (const {epoch, startOffset} of this.#entries) {
      if (startOffset <= endOffset) continue
      this.#list.add('epoch-checkpoint', {
        file: this.#checkpointFile,
        offset: startOffset,
        explanation: `epoch ${epoch} begins at offset ${startOffset}, and the log ends before ${endOffset}`,
        consequence: 'Kafka drops the entry when it loads the partition.',
      })
    }
  }

  /** Where the current run stands, so that {@link since} can tell what came after. */
  mark(): RunMark | undefined {
    return this.#run && {...this.#run}
  }

  /** The runs since a mark, the one that went on cut at it. */
  since(mark: RunMark | undefined, runsBefore: number): LeaderEpochSummary[] {
    const later = this.runs.slice(runsBefore).map(run => ({...run}))
    const current = this.runs[runsBefore - 1]
    if (!mark || !current || current.batches === mark.batches) return later
    const went = {...current, firstOffset: mark.lastOffset + 1n, batches: current.batches - mark.batches}
    return [went, ...later]
  }

  get summary(): LeaderEpochSummary[] {
    return this.runs.map(run => ({...run}))
  }

  /** −1 is legal before the first epoch: brokers before 0.11 knew none. */
  #none({leaderEpoch, baseOffset, position, magic}: Facts, file: string): void {
    if (magic < 2 || (leaderEpoch === -1 && this.#run === undefined)) return
    this.#list.add(leaderEpoch === -1 ? 'epoch-falls' : 'epoch-negative', {
      file,
      position,
      offset: baseOffset,
      explanation:
        leaderEpoch === -1
          ? `the leader epoch falls from ${this.#run?.epoch} to −1, which means that none is known`
          : `the leader epoch is ${leaderEpoch}`,
    })
  }

  #begin({leaderEpoch, baseOffset, lastOffset, position}: Facts, file: string): void {
    const before = this.#run
    if (before && leaderEpoch < before.epoch) {
      this.#list.add('epoch-falls', {
        file,
        position,
        offset: baseOffset,
        explanation: `the leader epoch falls from ${before.epoch} to ${leaderEpoch}`,
      })
    }
    this.#run = {epoch: leaderEpoch, firstOffset: baseOffset, lastOffset, batches: 1}
    if (this.runs.length < runsKept) this.runs.push(this.#run)
    if (leaderEpoch > this.newest) this.newest = leaderEpoch
  }

  #compare(epoch: number, baseOffset: bigint, position: number, file: string): void {
    const entries = this.#entries
    while (this.#entry + 1 < entries.length && (entries[this.#entry + 1] as EpochEntry).startOffset <= baseOffset) {
      this.#entry++
    }
    const entry = entries[this.#entry]
    if (!entry || entry.epoch === epoch) return
    const key = `${this.#entry} ${epoch}`
    if (this.#toldFor === key) return
    this.#toldFor = key
    const known = entries.find(one => one.epoch === epoch)
    const explanation = known
      ? `epoch ${epoch} is here, and ${name(this.#checkpointFile)} lets it begin at offset ${known.startOffset} and epoch ${entry.epoch} at ${entry.startOffset}`
      : `epoch ${epoch} is not in ${name(this.#checkpointFile)}, which has epoch ${entry.epoch} here, from offset ${entry.startOffset}`
    this.#list.add('epoch-checkpoint', {file, position, offset: baseOffset, explanation})
  }
}

function name(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
