import type {FileName} from '../files/names.js'
import type {Damage} from '../read-log.js'
import type {Facts} from './facts.js'
import type {FindingList} from './finding-list.js'
import type {LeaderEpochSummary} from './report.js'
import type {ExtraCheck} from './segment-check.js'

const snapshotHeader = 3
const snapshotFooter = 4

/** What only a KRaft snapshot (`.checkpoint`) must be: header first, footer last, one epoch. */
export class KraftSnapshotCheck implements ExtraCheck {
  readonly #list: FindingList
  readonly #file: string
  readonly #name: FileName
  #batches = 0
  #controls = 0
  #hasHeader = false
  #headerTold = false
  #footerAt: number | undefined
  #behindFooter = 0
  #otherEpochs = 0
  #otherEpoch: number | undefined
  #damageAtEnd = false

  constructor(list: FindingList, file: string, name: FileName) {
    this.#list = list
    this.#file = file
    this.#name = name
  }

  batch(facts: Facts): void {
    if (this.#batches === 1 && !this.#hasHeader) this.#noHeader()
    this.#batches++
    this.#damageAtEnd = false
    if (this.#footerAt !== undefined) this.#behindFooter++
    const {epoch, isBootstrap} = this.#name
    if (epoch === undefined || isBootstrap || facts.leaderEpoch === epoch) return
    this.#otherEpochs++
    this.#otherEpoch ??= facts.leaderEpoch
  }

  control(type: number | undefined, facts: Facts): void {
    if (this.#controls++ === 0 && this.#batches === 1) this.#hasHeader = type === snapshotHeader
    if (type === snapshotFooter) this.#footerAt = facts.position
  }

  damage(_damage: Damage): void {
    this.#damageAtEnd = true
  }

  finish(size: number): void {
    const isPart = this.#name.states.includes('part')
    if (!this.#hasHeader) this.#noHeader()
    if (this.#footerAt === undefined) {
      const explanation = `no footer is at the end (byte ${size})${this.#damageAtEnd ? ': the file ends in damaged bytes' : ''}`
      this.#list.add('kraft-footer', {
        file: this.#file,
        position: size,
        explanation: isPart ? `${explanation}; its name says that it is not finished` : explanation,
        ...(isPart
          ? {severity: 'info' as const, consequence: 'The node deletes unfinished snapshots when it starts.'}
          : {}),
      })
    }
    if (this.#behindFooter > 0) {
      const explanation = `${this.#behindFooter} batches follow the footer at byte ${this.#footerAt}`
      this.#list.add('kraft-after-footer', {file: this.#file, position: this.#footerAt, explanation})
    }
    if (this.#otherEpochs > 0) {
      const explanation = `${this.#otherEpochs} of ${this.#batches} batches have another epoch (${this.#otherEpoch}) than the name (${this.#name.epoch})`
      this.#list.add('kraft-epoch', {file: this.#file, explanation})
    }
  }

  /** Whether the end offset and epoch of the name are those of the metadata log beside it. */
  fits(log: {readonly first: bigint; readonly end: bigint; readonly epochs: readonly LeaderEpochSummary[]}): void {
    const {offset, epoch, isBootstrap} = this.#name
    if (offset === undefined || epoch === undefined || isBootstrap) return
    const add = (explanation: string) => this.#list.add('kraft-not-in-log', {file: this.#file, offset, explanation})
    if (offset > log.end) {
      add(`it reaches to offset ${offset}, and the log ends before ${log.end}`)
      return
    }
    if (offset <= log.first) return
    const last = log.epochs.find(run => run.firstOffset < offset && offset - 1n <= run.lastOffset)
    if (last && last.epoch !== epoch) {
      add(`its name says epoch ${epoch}, and the log has epoch ${last.epoch} at offset ${offset - 1n}`)
    }
  }

  #noHeader(): void {
    if (this.#headerTold) return
    this.#headerTold = true
    this.#list.add('kraft-header', {
      file: this.#file,
      position: 0,
      explanation: 'the first record is not a SNAPSHOT_HEADER',
    })
  }
}
