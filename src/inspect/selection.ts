import type {FilterOptions, OnlyKind} from '../log/filter.js'
import type {CodecName} from '../log/codecs.js'
import {KxError} from '../util/errors.js'

/** The flags that choose what is shown, as they were typed. */
export interface SelectionFlags {
  readonly offset?: string | undefined
  readonly 'from-offset'?: string | undefined
  readonly 'to-offset'?: string | undefined
  readonly time?: string | undefined
  readonly 'producer-id'?: readonly string[] | undefined
  readonly 'producer-epoch'?: number | undefined
  readonly 'leader-epoch'?: number | undefined
  readonly key?: string | undefined
  readonly codec?: readonly CodecName[] | undefined
  readonly only?: readonly OnlyKind[] | undefined
}

/** @throws KxError KX_USAGE that says how it is written */
export function selectionOf(flags: SelectionFlags): FilterOptions {
  const offsets = range('offset', flags.offset, integer)
  const times = range('time', flags.time, milliseconds)
  const only = flags.only
  if (only?.includes('control') && (only.includes('data') || only.includes('tombstones'))) {
    throw usage('Nothing is control and data at once.', '--only control')
  }
  return {
    fromOffset: flags['from-offset'] === undefined ? offsets.from : integer('from-offset', flags['from-offset']),
    toOffset: flags['to-offset'] === undefined ? offsets.to : integer('to-offset', flags['to-offset']),
    fromTime: times.from,
    toTime: times.to,
    producerIds: flags['producer-id']?.map(text => integer('producer-id', text)),
    producerEpoch: flags['producer-epoch'],
    leaderEpoch: flags['leader-epoch'],
    codecs: flags.codec,
    key: flags.key === undefined ? undefined : keyMatcher(flags.key),
    only,
  }
}

interface Range {
  readonly from: bigint | undefined
  readonly to: bigint | undefined
}

/** `A..B`, `A..`, `..B`, or `A` alone for exactly that. */
function range(flag: string, text: string | undefined, parse: (flag: string, text: string) => bigint): Range {
  if (text === undefined) return {from: undefined, to: undefined}
  const at = text.indexOf('..')
  if (at === -1) return {from: parse(flag, text), to: parse(flag, text)}
  const [from, to] = [text.slice(0, at).trim(), text.slice(at + 2).trim()]
  if (from === '' && to === '') throw usage(`--${flag} "${text}" is no range.`, `--${flag} A..B`)
  const parsed = {from: from === '' ? undefined : parse(flag, from), to: to === '' ? undefined : parse(flag, to)}
  if (parsed.from !== undefined && parsed.to !== undefined && parsed.from > parsed.to) {
    throw usage(`--${flag} "${text}" is empty: it ends before it begins.`, `--${flag} ${to}..${from}`)
  }
  return parsed
}

function integer(flag: string, text: string): bigint {
  const value = /^-?\d{1,19}$/.test(text.trim()) ? BigInt(text.trim()) : undefined
  if (value !== undefined && BigInt.asIntN(64, value) === value) return value
  throw usage(`--${flag} "${text}" is no 64-bit integer.`, flag === 'offset' ? '--offset 1000..2000' : `--${flag} 1000`)
}

/** Milliseconds since 1970, or ISO 8601; where no zone is said it is UTC. */
function milliseconds(flag: string, text: string): bigint {
  if (/^-?\d+$/.test(text)) return integer(flag, text)
  const iso = /^\d{4}-\d{2}(-\d{2})?$|^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/.exec(
    text,
  )
  const ms = iso ? Date.parse(/[T ]/.test(text) && iso[4] === undefined ? `${text}Z` : text) : Number.NaN
  if (Number.isNaN(ms)) {
    throw usage(
      `--${flag} "${text}" is no time.`,
      `--${flag} 2026-01-31T10:00..2026-01-31T11:00`,
      `--${flag} 1700000000000..`,
    )
  }
  return BigInt(ms)
}

function keyMatcher(text: string): (key: Buffer) => boolean {
  const regex = /^\/(.*)\/([a-z]*)$/s.exec(text)
  if (regex) {
    const pattern = regularExpression(regex[1] ?? '', regex[2] ?? '')
    return key => pattern.test(key.toString('utf8'))
  }
  if (text.startsWith('hex:')) {
    const digits = text.slice(4).replaceAll(/[\s:]/g, '')
    if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits))
      throw usage(`--key "${text}" is no hex text.`, '--key hex:00ff')
    const wanted = Buffer.from(digits, 'hex')
    return key => wanted.equals(key)
  }
  const wanted = Buffer.from(text.replace(/^text:/, ''))
  return key => wanted.equals(key)
}

function regularExpression(source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags.replaceAll(/[gy]/g, ''))
  } catch (error) {
    throw usage(`--key: ${error instanceof Error ? error.message : String(error)}.`, '--key "/^order-[0-9]+$/"')
  }
}

function usage(message: string, ...suggestions: string[]): KxError {
  return new KxError('usage', 'KX_USAGE', message, {suggestions})
}
