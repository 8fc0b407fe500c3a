import {list as listText} from '../../util/format.js'
import {openProducerSnapshot, type ProducerEntry, type ProducerSnapshot} from '../files/producer-snapshot.js'
import type {OpenFile} from '../folder.js'
import type {FindingCode} from './codes.js'
import type {FindingList, NewFinding} from './finding-list.js'
import {release} from './release.js'
import type {ProducerState, Producers} from './producers.js'

const bytesPerEntry = 46
const headerBytes = 10
const toldAtMost = 100

/** One `.snapshot` file: on its own, and against the producers that the log had before its offset. */
export class SnapshotCheck {
  /** The state is that before this offset. */
  readonly offset: bigint
  readonly entries: number
  /** False: it can't be taken as what came before. */
  readonly isSound: boolean

  readonly #list: FindingList
  readonly #file: OpenFile
  readonly #snapshot: ProducerSnapshot
  #deferred: {readonly code: FindingCode; readonly finding: NewFinding; readonly isOfCompacted: boolean}[] = []

  readonly #ownsFile: boolean

  private constructor(
    file: OpenFile,
    offset: bigint,
    snapshot: ProducerSnapshot,
    list: FindingList,
    ownsFile: boolean,
  ) {
    this.#ownsFile = ownsFile
    this.#file = file
    this.offset = offset
    this.#snapshot = snapshot
    this.#list = list
    this.entries = snapshot.entryCount
    this.isSound = snapshot.problems.length === 0
  }

  /** `ownsFile`: it is given back once it is not needed any more. */
  static async open(file: OpenFile, offset: bigint, list: FindingList, ownsFile = false): Promise<SnapshotCheck> {
    const snapshot = await openProducerSnapshot(file)
    for (const {reason} of snapshot.problems) list.add('snapshot-corrupt', {file: file.path, explanation: reason})
    return new SnapshotCheck(file, offset, snapshot, list, ownsFile)
  }

  async seed(producers: Producers): Promise<void> {
    for await (const chunk of this.#snapshot.entries()) producers.seed(chunk, this.offset)
    producers.seed([], this.offset)
    await this.release()
  }

  /** It is not needed any more. */
  async release(): Promise<void> {
    if (this.#ownsFile) await release(this.#file)
  }

  async compare(producers: Producers): Promise<void> {
    if (this.isSound) await this.#compareAll(producers)
    await this.release()
  }

  async #compareAll(producers: Producers): Promise<void> {
    const seen = new Set<bigint>()
    for await (const chunk of this.#snapshot.entries()) {
      for (const entry of chunk) {
        seen.add(entry.producerId)
        this.#compareEntry(entry, producers)
      }
    }
    const absent: bigint[] = []
    let count = 0
    for (const state of producers.all()) {
      if (seen.has(state.producerId) || state.changedAt >= this.offset) continue
      count++
      if (absent.length < 3) absent.push(state.producerId)
    }
    if (count === 0) return
    const names = absent.map(id => `${id}`)
    const explanation = `${count === 1 ? 'producer' : `${count} producers, among them`} ${listText(names)}, seen before offset ${this.offset}, ${count === 1 ? 'is' : 'are'} not in it`
    this.#list.add('snapshot-absent-producer', {file: this.#file.path, explanation})
  }

  /** `isCut`: the log has lost its end, which explains it. */
  async beyond(endOffset: bigint | undefined, isCut: boolean): Promise<void> {
    await this.release()
    if (endOffset === undefined || this.offset <= endOffset) return
    this.#list.add('snapshot-beyond-log', {
      file: this.#file.path,
      offset: this.offset,
      explanation: `it is for offset ${this.offset}, and the log ends before ${endOffset}`,
      ...(isCut ? {severity: 'info' as const} : {}),
    })
  }

  /** Tells what was found, now that it is known whether the topic is compacted. */
  finish(isCompacted: boolean): void {
    for (const {code, finding, isOfCompacted} of this.#deferred) {
      if (isOfCompacted || !isCompacted) this.#list.add(code, finding)
    }
    this.#deferred = []
  }

  #compareEntry(entry: ProducerEntry, producers: Producers): void {
    const state = producers.find(entry.producerId)
    const at = {file: this.#file.path, position: headerBytes + entry.index * bytesPerEntry}
    if (!state) {
      if (!producers.isComplete) return
      const explanation = `producer ${entry.producerId} is in it, and in no batch before offset ${this.offset}`
      this.#defer('snapshot-extra', {...at, explanation}, false)
      return
    }
    if (state.changedAt >= this.offset || !producers.isKnown(state)) return
    const strict = differences(entry, state, producers.isComplete)
    if (strict.length === 0) return
    const lenient = entry.producerEpoch === state.epoch && entry.lastOffset >= 0n && state.lastOffset >= 0n
    const finding = {
      ...at,
      offset: state.changedAt,
      explanation: `producer ${entry.producerId}: ${strict.join(', ')}`,
    }
    const isOfCompacted = lenient && entry.lastOffset < state.lastOffset
    this.#defer('snapshot-mismatch', finding, isOfCompacted)
  }

  #defer(code: FindingCode, finding: NewFinding, isOfCompacted: boolean): void {
    if (this.#deferred.length < toldAtMost) this.#deferred.push({code, finding, isOfCompacted})
  }
}

/** The eight fields, "lastSequence 5 and 6 in the log". */
function differences(entry: ProducerEntry, state: ProducerState, isComplete: boolean): string[] {
  const told: string[] = []
  const field = (name: string, stored: bigint | number, log: bigint | number): void => {
    if (stored !== log) told.push(`${name} is ${stored}, by the log ${log}`)
  }
  field('producerEpoch', entry.producerEpoch, state.epoch)
  if (entry.lastOffset >= 0n || state.lastOffset >= 0n) {
    field('lastSequence', entry.lastSequence, state.lastSequence)
    field('offsetDelta', entry.offsetDelta, state.offsetDelta)
  }
  field('lastOffset', entry.lastOffset, state.lastOffset)
  field('timestamp', entry.timestamp, state.timestamp)
  if (state.coordinatorIsKnown) field('coordinatorEpoch', entry.coordinatorEpoch, state.coordinatorEpoch)
  if (isComplete) {
    field('currentTxnFirstOffset', entry.currentTxnFirstOffset ?? -1n, state.transactionFirstOffset ?? -1n)
  }
  return told
}
