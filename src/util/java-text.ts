/**
 * Text of UTF-8 bytes as Java decodes it (`new String(bytes, UTF_8)`). Node differs in one thing: an encoded surrogate,
 * or its first two bytes, is one U+FFFD in Java and one a byte in Node.
 */
export function javaText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  if (!text.includes('\ufffd') || !bytes.includes(0xed)) return text
  const parts: Buffer[] = []
  let start = 0
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    if (!isBetween(bytes[at + 1], 0xa0, 0xbf)) continue
    const end = at + (isBetween(bytes[at + 2], 0x80, 0xbf) ? 3 : 2)
    parts.push(bytes.subarray(start, at), replacement)
    start = end
  }
  return Buffer.concat([...parts, bytes.subarray(start)]).toString('utf8')
}

const replacement = Buffer.from('\ufffd')

function isBetween(byte: number | undefined, least: number, most: number): boolean {
  return byte !== undefined && byte >= least && byte <= most
}
