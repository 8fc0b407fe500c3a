import {at as layout, type BatchCursor} from './batch-cursor.js'
import {CodecError} from './codec/stream.js'
import {codecHint, plainPieces} from './codecs.js'
import {LegacyMessage} from './legacy-message.js'
import {obey, Survey, type WrapperRule, wrapperProblem} from './legacy-records.js'
import {PlainWindow, recordBytesAtMost, TooManyBytes, type WindowMemory} from './plain-window.js'
import {RecordCursor} from './record-cursor.js'

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
  let problem: string | undefined
  try {
    problem = batch.isLegacy ? await stream.legacy() : await stream.records()
  } catch (error) {
    if (error instanceof TooManyBytes) problem = tooManyBytes(batch, options.maxDecompressedBytes)
    else if (error instanceof CodecError) problem = `the ${batch.codec} records can't be decoded: ${error.message}`
    else throw error
  }
  batch.settle(problem, remarks)
  return !stream.isEnded
}

export function tooManyBytes({codec, sizeInBytes}: BatchCursor, atMost: number): string {
  return (
    `the ${codec} records are more than ${atMost} bytes when they are decompressed (the batch has ${sizeInBytes}): ` +
    '--max-decompressed raises the limit'
  )
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

  async records(): Promise<string | undefined> {
    const {recordsCount, codec, sizeInBytes} = this.batch
    if (recordsCount < 0) return `record count ${recordsCount}`
    const isPlain = codec === 'none'
    const plainBytes = isPlain ? sizeInBytes - layout.records : undefined
    return this.#within(async window => {
      const record = this.#record
      record.open(window.bytes, this.batch.recordBase)
      for (let n = 1; n <= recordsCount; n++) {
        let problem: string | undefined
        if (this.#measure(window) > window.left) problem = await this.#hold(window, plainBytes)
        record.aim(window.bytes, window.at, window.limit)
        if (problem === undefined && !record.next()) problem = record.problem
        if (problem !== undefined) {
          // What is wrong with the stream is told before what is wrong with its records, as where it is decoded at once.
          if (!isPlain) await window.drain()
          const hint = n === 1 && isPlain ? codecHint(window.bytes, window.at) : ''
          return `record ${n} of ${recordsCount}: ${problem}${hint}`
        }
        window.at = window.limit - record.bytesLeft
        const visited = this.#visit()
        if (visited !== true && !(await visited)) return undefined
      }
      const rest = await window.drain()
      return rest === 0 ? undefined : `${rest} bytes behind the last of ${recordsCount} records`
    })
  }

  /** Two passes: offsets of magic 1 count from the last message backwards. */
  async legacy(): Promise<string | undefined> {
    const wrapper = new LegacyMessage()
    const {bytes, magic} = this.batch
    const wrong = wrapper.read(bytes, 0, bytes.length)
    if (wrong !== undefined) return wrong === 'cut' ? 'the message is cut' : wrong.problem
    const unwrappable = wrapperProblem(wrapper)
    if (unwrappable !== undefined) return unwrappable
    const survey = new Survey(magic)
    const logAppendTime = this.batch.timestampType === 'LogAppendTime' ? this.batch.maxTimestamp : undefined
    const rule = await this.#within<WrapperRule | string>(async window => {
      const message = new LegacyMessage()
      while (await this.#holdMessage(window)) {
        if (!survey.take(message, window.bytes, window.at, window.limit)) break
        window.at += message.sizeInBytes
      }
      return survey.rule(wrapper.storedOffset, logAppendTime)
    })
    if (typeof rule === 'string') return rule
    this.remarks.length = 0
    return this.#within(window => this.#messages(window, rule))
  }

  async #messages(window: PlainWindow, rule: WrapperRule): Promise<string | undefined> {
    const message = new LegacyMessage()
    let problem: string | undefined
    while (await this.#holdMessage(window)) {
      const wrong = message.read(window.bytes, window.at, window.limit)
      if (wrong === 'cut') return `${await window.drain()} bytes behind the last whole message`
      if (wrong !== undefined) return wrong.problem
      window.at += message.sizeInBytes
      if (message.bytesLeft > 0) problem ??= `${message.bytesLeft} bytes left in a message`
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
    const window = new PlainWindow(plainPieces(codec, options.stored(), {magic, remarks}), atMost, options.memory)
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
