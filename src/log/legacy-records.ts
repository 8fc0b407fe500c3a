import {plainBytesAtMost, uncompressed} from './codecs.js'
import {Outlet} from './codec/stream.js'
import {LegacyMessage} from './legacy-message.js'
import type {RecordCursor} from './record-cursor.js'

/** What a wrapper decides for the messages in it. */
export interface WrapperRule {
  /** Added to the offsets of the messages; `undefined`: they are absolute. */
  readonly base: bigint | undefined
  /** Overrides their timestamps. */
  readonly logAppendTime: bigint | undefined
}

/**
 * The records of a message of magic 0 or 1: itself, or those in it, with absolute offsets and the right timestamps
 * (org.apache.kafka.common.record.AbstractLegacyRecordBatch.DeepRecordsIterator).
 */
export class LegacyRecords {
  problem: string | undefined
  remarks: readonly string[] = []

  readonly #message = new LegacyMessage()
  #outlet: Outlet | undefined
  #plain: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0
  #rule: WrapperRule | undefined

  /** @param logAppendTime The wrapper's, if it has one. */
  open(
    source: Buffer,
    at: number,
    size: number,
    logAppendTime: bigint | undefined,
    atMost = plainBytesAtMost,
  ): 'too-large' | undefined {
    this.problem = undefined
    this.remarks = []
    this.#end = 0
    const wrapper = this.#message
    const wrong = wrapper.read(source, at, at + size)
    if (wrong !== undefined) this.problem = wrong === 'cut' ? 'the message is cut' : wrong.problem
    else if (wrapper.codec === 'none') {
      this.#rule = undefined
      this.#plain = source
      this.#at = at
      this.#end = at + size
    } else return this.#unwrap(wrapper, logAppendTime, atMost)
    return undefined
  }

  /** Moves the cursor to the next record. False after the last, or where the rest can't be read. */
  next(record: RecordCursor): boolean {
    if (this.#at >= this.#end) return false
    const message = this.#message
    const wrong = message.read(this.#plain, this.#at, this.#end)
    if (wrong !== undefined) {
      this.problem = wrong === 'cut' ? `${this.#end - this.#at} bytes behind the last whole message` : wrong.problem
      this.#at = this.#end
      return false
    }
    this.#at += message.sizeInBytes
    if (message.bytesLeft > 0) this.problem ??= `${message.bytesLeft} bytes left in a message`
    if (this.#rule) obey(message, this.#rule)
    record.placeLegacy(message)
    return true
  }

  #unwrap(wrapper: LegacyMessage, logAppendTime: bigint | undefined, atMost: number): 'too-large' | undefined {
    const {codec, magic, storedOffset} = wrapper
    this.problem = wrapperProblem(wrapper)
    if (this.problem !== undefined) return undefined
    this.#outlet ??= new Outlet()
    const content = uncompressed(codec, wrapper.value, {magic, outlet: this.#outlet, atMost})
    if ('unreadable' in content) {
      this.problem = `the ${codec} messages can't be decoded: ${content.unreadable}`
      return content.tooLarge ? 'too-large' : undefined
    }
    this.remarks = content.remarks
    this.#plain = content.bytes
    const survey = new Survey(magic)
    for (let at = 0; at < this.#plain.length && survey.take(this.#message, this.#plain, at, this.#plain.length); ) {
      at += this.#message.sizeInBytes
    }
    const rule = survey.rule(storedOffset, logAppendTime)
    if (typeof rule === 'string') this.problem = rule
    else {
      this.#rule = rule
      this.#at = 0
      this.#end = this.#plain.length
    }
    return undefined
  }
}

/** Why what is wrapped can't be had, whatever it is. */
export function wrapperProblem({valueSize, magic, codec}: LegacyMessage): string | undefined {
  if (valueSize < 0) return 'a compressed message without a value'
  if (codec === 'zstd' || codec === 'unknown') return `a message of magic ${magic} can't have the codec ${codec}`
  return undefined
}

export function obey(message: LegacyMessage, {base, logAppendTime}: WrapperRule): void {
  if (base !== undefined) message.offset = BigInt.asIntN(64, message.storedOffset + base)
  if (logAppendTime !== undefined) message.timestamp = logAppendTime
}

/** A first look at all messages of a wrapper: the offsets of magic 1 count from the last of them backwards. */
export class Survey {
  #last: bigint | undefined
  #problem: string | undefined

  constructor(readonly magic: number) {}

  /** False: there is no further message, or what is there forbids reading any of them. */
  take(message: LegacyMessage, source: Buffer, at: number, limit: number): boolean {
    // What is wrong with a message is told when it is read for good.
    if (message.read(source, at, limit) !== undefined) return false
    if (message.magic !== this.magic) {
      this.#problem = `a message of magic ${message.magic} wrapped in one of magic ${this.magic}`
    } else if (message.codec !== 'none') this.#problem = 'a compressed message in a compressed message'
    this.#last = message.storedOffset
    return this.#problem === undefined
  }

  rule(wrapperOffset: bigint, logAppendTime: bigint | undefined): WrapperRule | string {
    if (this.#problem !== undefined) return this.#problem
    if (this.#last === undefined) return 'a compressed message without messages in it'
    if (this.magic === 0) return {base: undefined, logAppendTime}
    // Old librdkafka left the wrapper's offset 0 in what it produced.
    if (wrapperOffset === 0n) return {base: 0n, logAppendTime}
    if (wrapperOffset >= this.#last) return {base: wrapperOffset - this.#last, logAppendTime}
    return `the wrapper's offset ${wrapperOffset} is less than the last offset in it, ${this.#last}, and not 0`
  }
}
