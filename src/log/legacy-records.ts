import {plainBytesAtMost, uncompressed} from './codecs.js'
import {Outlet} from './codec/stream.js'
import {LegacyMessage} from './legacy-message.js'
import type {RecordCursor} from './record-cursor.js'
import {type RecordsProblem, unreadable} from './records-problem.js'

/** What a wrapper decides for the messages in it. */
export interface WrapperRule {
  readonly magic: number
  /** Added to the offsets of the messages; `undefined`: they are absolute. */
  readonly base: bigint | undefined
  /** Overrides the timestamps of those of magic 1. */
  readonly logAppendTime: bigint | undefined
}

export interface LegacyOptions {
  /** The wrapper's, if it has one. */
  readonly logAppendTime?: bigint | undefined
  readonly atMost?: number
  /** The sizes in a message are not checked. */
  readonly asKafka?: boolean
}

/**
 * The records of a message of magic 0 or 1: itself, or those in it, with absolute offsets and the right timestamps
 * (org.apache.kafka.common.record.AbstractLegacyRecordBatch.DeepRecordsIterator).
 */
export class LegacyRecords {
  problem: RecordsProblem | undefined
  remarks: readonly string[] = []

  readonly #message = new LegacyMessage()
  #outlet: Outlet | undefined
  #plain: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0
  #rule: WrapperRule | undefined
  #asKafka = false

  open(source: Buffer, at: number, size: number, options: LegacyOptions = {}): 'too-large' | undefined {
    this.problem = undefined
    this.remarks = []
    this.#end = 0
    this.#asKafka = options.asKafka ?? false
    const wrapper = this.#message
    const wrong = wrapper.read(source, at, at + size, this.#asKafka)
    if (wrong !== undefined) this.problem = unreadable(wrong === 'cut' ? 'the message is cut' : wrong.problem)
    else if (wrapper.codec === 'none') {
      this.#rule = undefined
      this.#plain = source
      this.#at = at
      this.#end = at + size
    } else return this.#unwrap(wrapper, options)
    return undefined
  }

  /** Moves the cursor to the next record. False after the last, or where the rest can't be read. */
  next(record: RecordCursor): boolean {
    if (this.#at >= this.#end) return false
    const message = this.#message
    const wrong = message.read(this.#plain, this.#at, this.#end, this.#asKafka)
    const end = this.#rule && wrong === undefined ? forbidden(message) : undefined
    if (wrong !== undefined || end !== undefined) {
      this.problem ??= end ?? endOf(wrong as Wrong, this.#end - this.#at)
      this.#at = this.#end
      return false
    }
    this.#at += message.sizeInBytes
    this.problem ??= oddityOf(message, this.#rule)
    if (this.#rule) obey(message, this.#rule)
    record.placeLegacy(message)
    return true
  }

  #unwrap(wrapper: LegacyMessage, {logAppendTime, atMost = plainBytesAtMost}: LegacyOptions): 'too-large' | undefined {
    const {codec, magic, storedOffset} = wrapper
    this.problem = wrapperProblem(wrapper)
    if (this.problem !== undefined) return undefined
    this.#outlet ??= new Outlet()
    const content = uncompressed(codec, wrapper.value, {magic, outlet: this.#outlet, atMost})
    const isDamaged = content.unreadable !== undefined
    if (isDamaged) {
      const kind = content.tooLarge ? 'too-large' : 'unreadable'
      this.problem = {kind, reason: `the ${codec} messages can't be decoded: ${content.unreadable}`}
      if (content.tooLarge) return 'too-large'
    }
    this.remarks = content.remarks
    this.#plain = content.bytes
    const survey = new Survey(magic)
    for (let at = 0; at < this.#plain.length && survey.take(this.#message, this.#plain, at, this.#plain.length); ) {
      at += this.#message.sizeInBytes
    }
    const rule = survey.rule(storedOffset, logAppendTime, isDamaged)
    if (typeof rule === 'string') this.problem ??= unreadable(rule)
    else {
      this.#rule = rule
      this.#at = 0
      this.#end = this.#plain.length
    }
    return undefined
  }
}

type Wrong = Exclude<ReturnType<LegacyMessage['read']>, undefined>

/** Why what is wrapped can't be had, whatever it is. */
export function wrapperProblem({valueSize, magic, codec, failure}: LegacyMessage): RecordsProblem | undefined {
  if (failure) return unreadable(failure.problem)
  if (valueSize < 0) return unreadable('a compressed message without a value')
  if (codec === 'zstd' || codec === 'unknown')
    return unreadable(`a message of magic ${magic} can't have the codec ${codec}`)
  return undefined
}

/** What a wrapped message must not be: there the reading ends. */
export function forbidden({codec}: LegacyMessage): RecordsProblem | undefined {
  return codec === 'none' ? undefined : unreadable('a compressed message in a compressed message')
}

/** Why the reading ends at a message that can't be read, `left` bytes before the end. */
export function endOf(wrong: Wrong, left: number): RecordsProblem {
  return unreadable(wrong === 'cut' ? `${left} bytes behind the last whole message` : wrong.problem)
}

/** What is wrong with a message that can be read all the same. */
export function oddityOf(
  {failure, bytesLeft, magic}: LegacyMessage,
  rule: WrapperRule | undefined,
): RecordsProblem | undefined {
  if (failure) return unreadable(failure.problem)
  if (rule && magic !== rule.magic) {
    return unreadable(`a message of magic ${magic} wrapped in one of magic ${rule.magic}`)
  }
  return bytesLeft > 0 ? unreadable(`${bytesLeft} bytes left in a message`) : undefined
}

export function obey(message: LegacyMessage, {base, logAppendTime}: WrapperRule): void {
  if (base !== undefined) message.offset = BigInt.asIntN(64, message.storedOffset + base)
  if (logAppendTime !== undefined && message.magic === 1) message.timestamp = logAppendTime
}

/** A first look at all messages of a wrapper: the offsets of magic 1 count from the last of them backwards. */
export class Survey {
  #last: bigint | undefined
  /** A message that says an impossible size: where the next one begins is not known. */
  #isLost = false

  constructor(readonly magic: number) {}

  /** False: there is no further message. */
  take(message: LegacyMessage, source: Buffer, at: number, limit: number): boolean {
    // What is wrong in a message is told when it is read for good.
    const wrong = message.read(source, at, limit, true)
    if (wrong === undefined) this.#last = message.storedOffset
    else if (wrong !== 'cut') this.#isLost = true
    return wrong === undefined
  }

  /** @param isDamaged More messages were there, and can't be decoded */
  rule(wrapperOffset: bigint, logAppendTime: bigint | undefined, isDamaged: boolean): WrapperRule | string {
    const {magic} = this
    if (this.#last === undefined) return 'a compressed message without messages in it'
    if (magic === 0) return {magic, base: undefined, logAppendTime}
    // Old librdkafka left the wrapper's offset 0 in what it produced.
    if (wrapperOffset === 0n) return {magic, base: 0n, logAppendTime}
    if (this.#isLost || isDamaged) return 'the offsets in it count from the last message, which can not be read'
    if (wrapperOffset >= this.#last) return {magic, base: wrapperOffset - this.#last, logAppendTime}
    return `the wrapper's offset ${wrapperOffset} is less than the last offset in it, ${this.#last}, and not 0`
  }
}
