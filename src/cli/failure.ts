import {exitCode, KxError, messageOf, systemCode} from '../util/errors.js'
import {nearest} from './nearest.js'

/** An error as it is told, on the screen or as JSON (`schemas/error.json`). */
export interface Failure {
  readonly kind: 'usage' | 'environment' | 'input' | 'inconclusive' | 'interrupted' | 'internal'
  readonly code: string
  readonly message: string
  readonly suggestions: readonly string[]
  readonly cause: string | null
  readonly exit: number
  /** Only of a bug. */
  readonly stack?: string
}

/** What oclif's parser adds to its errors (`CLIParseError`, `NonExistentFlagsError`, …). */
interface ParserError extends Error {
  readonly oclif?: {readonly exit?: number | false}
  readonly flags?: unknown
  readonly suggestions?: readonly string[]
}

export interface Told {
  /** The flags of the command that failed, for "did you mean". */
  readonly flags?: readonly string[]
  /** The command as it is typed, e.g. `kx experiment data-loss`. */
  readonly command?: string
  readonly interrupted?: boolean
}

/** Sorts whatever was thrown into foreseen errors with a cure, the parser's complaints, the system's, and bugs. */
export function failureOf(error: unknown, {flags = [], command = 'kx', interrupted = false}: Told = {}): Failure {
  if (interrupted) return interruption(error)
  if (error instanceof KxError) {
    const {kind, code, message, suggestions, exit} = error
    return {kind, code, message, suggestions, cause: causeOf(error), exit}
  }
  if (isParserError(error)) return usage(error, flags, command)
  return systemFailure(error) ?? bug(error)
}

function interruption(error: unknown): Failure {
  const told = error instanceof KxError && error.kind === 'interrupted'
  const aborted = error instanceof Error && error.name === 'AbortError'
  return {
    kind: 'interrupted',
    code: 'KX_INTERRUPTED',
    message: told ? error.message : aborted ? 'Interrupted.' : `Interrupted. On the way out: ${messageOf(error)}`,
    suggestions: [],
    cause: told ? causeOf(error) : null,
    exit: exitCode.interrupted,
  }
}

function isParserError(error: unknown): error is ParserError {
  return error instanceof Error && (error as ParserError).oclif?.exit === exitCode.usage
}

function usage(error: ParserError, flags: readonly string[], command: string): Failure {
  const unknown = Array.isArray(error.flags) ? error.flags.filter(flag => typeof flag === 'string') : []
  const meant = unknown.flatMap(flag => nearest(flag.replace(/^-+|=.*$/g, ''), flags).map(name => `--${name}`))
  const message = error.message
    .replace(/\nSee more help with --help/g, '')
    .replace(/^Parsing (--\S+) *\n\t/, '$1: ')
    .replace(/^Nonexistent flag(s?): /, 'Unknown flag$1: ')
    .replace(/^The following errors? occurred:\s+/, '')
    .replace(/(--[\w-]+)=true\b/g, '$1')
    .trim()
  return {
    kind: 'usage',
    code: 'KX_USAGE',
    message: /[.?!]$/.test(message) ? message : `${message}.`,
    suggestions: [...(meant.length > 0 ? [`Did you mean ${meant.join(' or ')}?`] : []), `${command} --help`],
    cause: null,
    exit: exitCode.usage,
  }
}

/** Failed system calls that nobody caught where they happened: still the machine's fault and not a bug. */
const system: Readonly<Record<string, readonly [code: string, what: string, cure: string]>> = {
  ENOSPC: [
    'KX_DISK_FULL',
    'The disk is full',
    'Free some space, or let kx write elsewhere: --results, XDG_STATE_HOME, XDG_CACHE_HOME.',
  ],
  EDQUOT: [
    'KX_DISK_FULL',
    'The disk quota is used up',
    'Free some space, or let kx write elsewhere: --results, XDG_STATE_HOME, XDG_CACHE_HOME.',
  ],
  EACCES: [
    'KX_NOT_PERMITTED',
    'The system refuses access',
    'Check who owns it, or let kx write elsewhere: --results, XDG_STATE_HOME, XDG_CACHE_HOME.',
  ],
  EPERM: [
    'KX_NOT_PERMITTED',
    'The system does not permit this',
    'Check who owns it, or let kx write elsewhere: --results, XDG_STATE_HOME, XDG_CACHE_HOME.',
  ],
  EROFS: [
    'KX_NOT_PERMITTED',
    'The file system is read-only',
    'Let kx write elsewhere: --results, XDG_STATE_HOME, XDG_CACHE_HOME.',
  ],
  EMFILE: ['KX_TOO_MANY_FILES', 'Too many open files', 'Raise the limit of open files: ulimit -n 4096'],
  ENFILE: ['KX_TOO_MANY_FILES', 'Too many open files in the whole system', 'Close something, or raise fs.file-max.'],
}

function systemFailure(error: unknown): Failure | undefined {
  const [code, what, cure] = system[systemCode(error) ?? ''] ?? []
  if (!code || !what || !cure) return undefined
  return {
    kind: 'environment',
    code,
    message: `${what}: ${messageOf(error)}.`,
    suggestions: [cure],
    cause: causeOf(error),
    exit: exitCode.environment,
  }
}

function bug(error: unknown): Failure {
  return {
    kind: 'internal',
    code: 'KX_BUG',
    message: `This is a bug in kx: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
    suggestions: ['Please report it, with the command and the lines below.'],
    cause: causeOf(error),
    exit: exitCode.internal,
    stack: (error instanceof Error && error.stack) || new Error('thrown without a stack').stack || '',
  }
}

/** The messages of the chain of causes, nearest first. */
function causeOf(error: unknown): string | null {
  const messages: string[] = []
  let cause = (error as {cause?: unknown} | undefined)?.cause
  while (cause !== undefined && cause !== null && messages.length < 5) {
    messages.push(messageOf(cause))
    cause = (cause as {cause?: unknown}).cause
  }
  return messages.length === 0 ? null : messages.join(': ')
}
