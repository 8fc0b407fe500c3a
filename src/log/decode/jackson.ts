/** A JSON string as Jackson writes it: control characters in upper-case hex, nothing else but `"` and `\` escaped. */
export function jacksonString(text: string): string {
  return plain.test(text) ? `"${text}"` : `"${text.replace(escaped, escapeOf)}"`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const plain = /^[^"\\\u0000-\u001f]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const escaped = /["\\\u0000-\u001f]/g

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
}

function escapeOf(character: string): string {
  return short[character] ?? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Jackson quotes what is no number in JSON. */
export function jacksonDouble(value: number): string {
  return Number.isFinite(value) ? javaDouble(value) : `"${javaDouble(value)}"`
}

/**
 * Java's Double.toString of JDK 19 and later: the shortest decimal that gives the same double, at least two digits,
 * and of those the closest. (Older JDKs print a digit more for some doubles.)
 */
export function javaDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const sign = value < 0 ? '-' : ''
  const {digits, exponent} = decimalOf(Math.abs(value))
  if (exponent >= -3 && exponent < 7) return sign + fixed(digits, exponent)
  return `${sign}${digits[0]}.${digits.slice(1) || '0'}E${exponent}`
}

/** The value is 0.d₁d₂… × 10^(exponent + 1). */
function decimalOf(value: number): {digits: string; exponent: number} {
  const shortest = value.toExponential()
  // One digit is never enough for Java: it takes the closest of two, which may be another one (4.9E-324, not 5.0E-324).
  const two = value.toExponential(1)
  const [mantissa = '', power = ''] = (/^\de/.test(shortest) && Number(two) === value ? two : shortest).split('e')
  return {digits: mantissa.replace('.', '').replace(/(?<=.)0+$/, ''), exponent: Number(power)}
}

function fixed(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${whole}.${digits.slice(exponent + 1) || '0'}`
}
