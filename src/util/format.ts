/** Numbers for people: thousands grouped by a thin gap, never a decimal comma. Raw numbers belong into data. */
export function grouped(value: number | bigint): string {
  const [whole = '', fraction] = String(value).split('.')
  const parts = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  return fraction === undefined ? parts : `${parts}.${fraction}`
}

/** A duration for people: `38 ms`, `8.6 s`, `1 m 52 s`. */
export function duration(ms: number): string {
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
}

export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`
  if (size < 1_048_576) return `${(size / 1_024).toFixed(1)} KiB`
  if (size < 1_073_741_824) return `${(size / 1_048_576).toFixed(1)} MiB`
  return `${(size / 1_073_741_824).toFixed(1)} GiB`
}

/** "1 record", "2 records". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`
}

/** "1, 2 and 3". */
export function list(items: readonly (string | number)[], last = 'and'): string {
  if (items.length < 2) return items.join('')
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

// Control characters, left-to-right marks and bidirectional overrides, lone surrogates.
const unsafe = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu

/** Makes text safe for a terminal: control characters, bidirectional overrides and lone surrogates become visible. */
export function safe(text: string): string {
  return text.replace(unsafe, character => {
    const code = character.codePointAt(0) ?? 0
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}
