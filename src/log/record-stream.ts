import {at as layout, type BatchCursor} from './batch-cursor.js'
import {CodecError} from './codec/stream.js'
import {codecHint, plainPieces} from './codecs.js'
import {LegacyMessage} from './legacy-message.js'
import {endOf, forbidden, obey, oddityOf, Survey, type WrapperRule, wrapperProblem} from './legacy-records.js'
import {PlainWindow, recordBytesAtMost, TooManyBytes, type WindowMemory} from './plain-window.js'
import {RecordCursor} from './record-cursor.js'
import {behindTheLast, type RecordsProblem, unreadable} from './records-problem.js'

export interface StreamOptions {
  /** The stored bytes of the records; asked for anew for each pass. */
  readonly stored: () => AsyncIterable<Buffer>
  readonly maxDecompressedBytes: number
  readonly memory: WindowMemory
  /** After each record: false ends the reading. */
  readonly visit: (record: RecordCursor) => Promise<boolean> | boolean
}

/**
 * The records of a batch that is not held, or whose plain bytes are not, one by one: memory grows to the largest record.
 * The batch's problem and remarks are settled then. Returns false if the visitor ended it.
 */
export async function streamRecords(batch: BatchCursor, options: StreamOptions): Promise<boolean> {
  const remarks: string[] = []
  const stream = new RecordStream(batch, options, remarks)
  let problem: RecordsProblem | undefined
  try {
    problem = batch.isLegacy ? await stream.legacy() : await stream.records()
  } catch (error) {
    problem = damageOf(error, batch, options.maxDecompressedBytes)
  }
  batch.settle(problem, [...new Set(remarks)])
  return !stream.isEnded
}

/** @throws what is no damage of the stream */
function damageOf(error: unknown, batch: BatchCursor, atMost: number): RecordsProblem {
  const {codec, sizeInBytes} = batch
  if (error instanceof CodecError) return unreadable(`the ${codec} records can't be decoded: ${error.message}`)
  if (!(error instanceof TooManyBytes)) throw error
  const reason =
    `the ${codec} records are more than ${atMost} bytes when they are decompressed (the batch has ${sizeInBytes}): ` +
    '--max-decompressed raises the limit'
  return {kind: 'too-large', reason}
}

/** How the reading of some records ended. */
interface Read {
  readonly count: number
  /** Why the next one can't be read. */
  readonly problem?: string
}

class RecordStream {
  /** By the visitor. */
  isEnded = false
  readonly #record = new RecordCursor()
  /** Of the record that was measured; 0: not held. */
  #lengthBytes = 0

  constructor(
    readonly batch: BatchCursor,
    readonly options: StreamOptions,
    readonly remarks: string[],
  ) {}

  async records(): Promise<RecordsProblem | undefined> {
    const {recordsCount, codec, asKafka} = this.batch
    if (recordsCount < 0 && asKafka) return behindTheLast(recordsCount, 0, 0)
    const counted = Math.max(0, recordsCount)
    let uncounted = 0
    const problem = await this.#within(async window => {
      this.#record.open(window.bytes, this.batch.recordBase)
      const visit = () => this.#visit()
      const {count, problem} = await this.#read(window, counted, visit)
      if (this.isEnded) return undefined
      if (problem !== undefined) {
        // What is wrong with the stream is told before what is wrong with its records, as where it is decoded at once.
        if (codec !== 'none') await window.drain()
        const hint = count === 0 && codec === 'none' ? codecHint(window.bytes, window.at) : ''
        return unreadable(`record ${count + 1} of ${recordsCount}: ${problem}${hint}`)
      }
      const used = window.total - window.left
      uncounted = asKafka ? 0 : await this.#uncounted(window, counted > 0 ? this.#record.offsetDelta : -1)
      await window.drain()
      const rest = window.total - used
      return rest === 0 && recordsCount >= 0 ? undefined : behindTheLast(recordsCount, rest, uncounted)
    })
    if (uncounted === 0) return problem
    this.remarks.length = 0
    await this.#within(async window => {
      this.#record.open(window.bytes, this.batch.recordBase)
      await this.#read(window, counted, () => true)
      await this.#read(window, uncounted, () => this.#visit())
    })
    return problem
  }

  /** Up to so many records, until `each` gives false. */
  async #read(window: PlainWindow, most: number, each: () => boolean | Promise<boolean>): Promise<Read> {
    const {codec, sizeInBytes} = this.batch
    const plainBytes = codec === 'none' ? sizeInBytes - layout.records : undefined
    const record = this.#record
    for (let count = 0; count < most; count++) {
      let problem: string | undefined
      if (this.#measure(window) > window.left) problem = await this.#hold(window, plainBytes)
      record.aim(window.bytes, window.at, window.limit)
      if (problem === undefined && !record.next()) problem = record.problem
      if (problem !== undefined) return {count, problem}
      window.at = window.limit - record.bytesLeft
      const goesOn = each()
      if (goesOn !== true && !(await goesOn)) return {count: count + 1}
    }
    return {count: most}
  }

  /** How many records are behind those that the header counts; 0 if what is there is anything else, or nothing. */
  async #uncounted(window: PlainWindow, lastDelta: number): Promise<number> {
    let [previous, ascends] = [lastDelta, true]
    const each = (): boolean => {
      ascends = this.#record.offsetDelta > previous
      previous = this.#record.offsetDelta
      return ascends
    }
    for (let count = 0; ; count++) {
      await window.fill(1)
      if (window.left === 0) return count
      const {problem} = await this.#read(window, 1, each)
      if (problem !== undefined || !ascends) return 0
    }
  }

  /** Two passes: offsets of magic 1 count from the last message backwards. */
  async legacy(): Promise<RecordsProblem | undefined> {
    const {asKafka, bytes, magic, timestampType, maxTimestamp} = this.batch
    const wrapper = new LegacyMessage()
    const wrong = wrapper.read(bytes, 0, bytes.length, asKafka)
    if (wrong !== undefined) return unreadable(wrong === 'cut' ? 'the message is cut' : wrong.problem)
    const unwrappable = wrapperProblem(wrapper)
    if (unwrappable !== undefined) return unwrappable
    const survey = new Survey(magic)
    const damage = await this.#surveyed(survey)
    const logAppendTime = timestampType === 'LogAppendTime' ? maxTimestamp : undefined
    const rule = survey.rule(wrapper.storedOffset, logAppendTime, damage !== undefined)
    if (typeof rule === 'string') return damage ?? unreadable(rule)
    this.remarks.length = 0
    return this.#within(window => this.#messages(window, rule))
  }

  /** What is wrong with the codec's stream, which the second pass meets again. */
  async #surveyed(survey: Survey): Promise<RecordsProblem | undefined> {
    try {
      await this.#within(async window => {
        const message = new LegacyMessage()
        while (await this.#holdMessage(window)) {
          if (!survey.take(message, window.bytes, window.at, window.limit)) break
          window.at += message.sizeInBytes
        }
        await window.drain()
      })
    } catch (error) {
      return damageOf(error, this.batch, this.options.maxDecompressedBytes)
    }
    return undefined
  }

  async #messages(window: PlainWindow, rule: WrapperRule): Promise<RecordsProblem | undefined> {
    const message = new LegacyMessage()
    let problem: RecordsProblem | undefined
    while (await this.#holdMessage(window)) {
      const wrong = message.read(window.bytes, window.at, window.limit, this.batch.asKafka)
      if (wrong !== undefined) {
        const left = await window.drain()
        return problem ?? endOf(wrong, left)
      }
      const end = forbidden(message)
      if (end !== undefined) return problem ?? end
      window.at += message.sizeInBytes
      problem ??= oddityOf(message, rule)
      obey(message, rule)
      this.#record.placeLegacy(message)
      if (!(await this.#visit())) return undefined
    }
    return problem
  }

  async #holdMessage(window: PlainWindow): Promise<boolean> {
    await window.fill(12)
    if (window.left === 0) return false
    if (window.left < 12) return true
    const needed = 12 + window.bytes.readInt32BE(window.at + 8)
    if (needed > 12 && needed <= recordBytesAtMost) await window.fill(needed)
    return true
  }

  async #within<T>(read: (window: PlainWindow) => Promise<T>): Promise<T> {
    const {batch, options, remarks} = this
    const {magic, codec} = batch
    // What is stored plain is bounded by what is stored.
    const atMost = codec === 'none' ? batch.sizeInBytes : options.maxDecompressedBytes
    const window = new PlainWindow(plainPieces(codec, options.stored, {magic, remarks}), atMost, options.memory)
    try {
      return await read(window)
    } finally {
      await window.close()
    }
  }

  /** Fetches until the next record is held whole, or can't be. Returns why it can't, unless its bytes tell. */
  async #hold(window: PlainWindow, plainBytes: number | undefined): Promise<string | undefined> {
    for (let needed = this.#measure(window); needed > window.left && !window.isEnded; needed = this.#measure(window)) {
      const left = plainBytes === undefined ? Number.POSITIVE_INFINITY : plainBytes - (window.total - window.left)
      const lengthBytes = this.#lengthBytes
      if (needed > left && lengthBytes > 0) {
        return `record length ${needed - lengthBytes}, and ${left - lengthBytes} bytes are left`
      }
      if (needed > recordBytesAtMost) return `it has ${needed} bytes, and ${recordBytesAtMost} can be held`
      await window.fill(needed)
    }
    return undefined
  }

  /** Bytes of the next record with its length; one more than are held if the length isn't held; 0 if it is no length. */
  #measure({bytes, at, limit}: PlainWindow): number {
    this.#lengthBytes = 0
    let unsigned = 0
    for (let n = 0; n < 5; n++) {
      if (at + n >= limit) return limit - at + 1
      const byte = bytes[at + n] as number
      unsigned |= (byte & 0x7f) << (7 * n)
      if (byte < 0x80) {
        this.#lengthBytes = n + 1
        return Math.max(0, n + 1 + ((unsigned >>> 1) ^ -(unsigned & 1)))
      }
    }
    return 0
  }

  #visit(): boolean | Promise<boolean> {
    const visited = this.options.visit(this.#record)
    if (visited === true) return true
    return Promise.resolve(visited).then(goesOn => {
      this.isEnded = !goesOn
      return goesOn
    })
  }
}
