/** Settings whose value is nobody's business. Kafka's own list of PASSWORD-typed settings, and what looks like one. */
const secretName =
  /password|passwd|secret|credential|jaas|token|private|keystore\.key|keystore\.certificate|truststore\.certificates|access[._-]?key|api[._-]?key|\bauth\b/i
const hidden = '[hidden]'

export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/**
 * Hides secrets in whatever is written: by the name of the setting that holds them, and wherever else their value
 * turns up (a node's log, an error text). Made once per run from the settings that the run was given.
 */
export class Redaction {
  readonly #values: readonly string[]

  constructor(...settings: readonly Readonly<Record<string, string>>[]) {
    this.#values = [
      ...new Set(
        settings.flatMap(setting =>
          Object.entries(setting).flatMap(([name, value]) => (isSecretName(name) && value.length > 2 ? [value] : [])),
        ),
      ),
    ].sort((a, b) => b.length - a.length)
  }

  /** A copy in which every secret is `[hidden]`. */
  data<T>(value: T): T {
    return this.#walk(value) as T
  }

  text(text: string): string {
    return this.#values.reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
  }

  #walk(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map(item => this.#walk(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        isSecretName(name) && typeof item === 'string' ? hidden : this.#walk(item),
      ]),
    )
  }
}
