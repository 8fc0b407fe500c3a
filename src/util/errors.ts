/** What the process tells its caller. One number never means two things (README, "Exit codes"). */
export const exitCode = {
  ok: 0,
  /** The answer is no: refuted, corruption found, replicas differ. */
  no: 1,
  usage: 2,
  inconclusive: 3,
  environment: 4,
  input: 5,
  internal: 70,
  interrupted: 130,
} as const

export type ErrorKind = 'usage' | 'environment' | 'input' | 'inconclusive' | 'interrupted'

export interface KxErrorOptions {
  /** What to try, one sentence or command each. */
  readonly suggestions?: readonly string[]
  readonly cause?: unknown
}

/** An error that was foreseen: one paragraph with the cause, and the cure in `suggestions`. Anything else is a bug in kx. */
export class KxError extends Error {
  override readonly name = 'KxError'
  readonly suggestions: readonly string[]

  constructor(
    readonly kind: ErrorKind,
    readonly code: `KX_${string}`,
    message: string,
    {suggestions = [], cause}: KxErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : {cause})
    this.suggestions = suggestions
  }

  get exit(): number {
    return exitCode[this.kind]
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of a failed system call (`ENOSPC`, `EACCES`, …), if it is one. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as {code?: unknown} | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
