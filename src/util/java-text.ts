export const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/**
 * The character that begins at `at`: its length if it is one; if not, minus the number of bytes that Java replaces by one
 * U+FFFD. That is the longest beginning of a character, as everywhere, but for the bytes of an encoded surrogate (`ED`
 * `A0`-`BF`), which Java takes together with the continuation byte behind them.
 */
export function utf8Sequence(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] as number
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4 || at + 1 >= end) return -1
  const second = bytes[at + 1] as number
  if (!isContinuation(second)) return -1
  if (lead < 0xe0) return 2
  const third = at + 2 < end && isContinuation(bytes[at + 2])
  if (lead < 0xf0) {
    if (lead === 0xe0 && second < 0xa0) return -1
    if (lead === 0xed && second > 0x9f) return third ? -3 : -2
    return third ? 3 : -2
  }
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return -1
  if (!third) return -2
  return at + 3 < end && isContinuation(bytes[at + 3]) ? 4 : -3
}

/** Text of UTF-8 bytes as Java decodes it (`new String(bytes, UTF_8)`). */
export function javaText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  if (!text.includes(replacement)) return text
  let [java, plainFrom] = ['', 0]
  for (let at = 0; at < bytes.length; ) {
    const length = utf8Sequence(bytes, at, bytes.length)
    if (length < 0) {
      java += bytes.toString('utf8', plainFrom, at) + replacement
      plainFrom = at - length
    }
    at += Math.abs(length)
  }
  return java + bytes.toString('utf8', plainFrom)
}

const replacement = '\ufffd'
