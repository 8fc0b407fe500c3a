import type {Command as Base} from '@oclif/core'
import {Command} from '@oclif/core/command'
import * as Flags from '@oclif/core/flags'
import type {Interfaces} from '@oclif/core'
import {exitCode} from '../util/errors.js'
import {
  type Answer,
  failureText,
  type Format,
  formats,
  OutputClosed,
  rendered,
  renderedFailure,
  type StreamedAnswer,
  streamFormats,
} from './answer.js'
import {type Preset, presets} from './config.js'
import {type Failure, failureOf} from './failure.js'
import {interruptible} from './interrupt.js'
import {Progress} from './progress.js'
import {Stdout} from './stdout.js'
import {screen} from './terminal.js'

/** What a command works with. */
export interface Session {
  /** Aborted by the first Ctrl-C or SIGTERM: clean up, then throw. */
  readonly signal: AbortSignal
  /** Speaks on stderr. */
  readonly progress: Progress
}

export type FlagsOf<T extends typeof Base> = Interfaces.InferredFlags<(typeof KxCommand)['baseFlags'] & T['flags']>
export type ArgsOf<T extends typeof Base> = Interfaces.InferredArgs<T['args']>

/**
 * A command of kx: parses, works, and prints one answer on stdout. Everything else goes to stderr. The exit code is
 * set here and nowhere else: oclif 4.14 exits 1 for what nobody foresaw, and here 1 means "the answer is no".
 */
export abstract class KxCommand<T extends typeof Base> extends Command {
  static override baseFlags = {
    output: Flags.option({
      char: 'o',
      options: formats as readonly Format[],
      default: 'text' as Format,
      summary: 'how the answer is written to stdout',
      helpGroup: 'GLOBAL',
    })(),
    json: Flags.boolean({default: false, summary: 'the same as -o json', helpGroup: 'GLOBAL', exclusive: ['output']}),
    'no-progress': Flags.boolean({
      default: false,
      summary: 'say nothing on stderr but warnings and errors',
      helpGroup: 'GLOBAL',
    }),
  }

  /** False: it only reads, and there is nothing to say when it is interrupted. */
  protected readonly cleansUp: boolean = true
  #format: Format | undefined

  protected abstract work(flags: FlagsOf<T>, args: ArgsOf<T>, session: Session): Promise<Answer | StreamedAnswer>

  /** Which format the flags ask for. */
  protected asked(flags: FlagsOf<T>): Format {
    return flags.json ? 'json' : flags.output
  }

  override async run(): Promise<void> {
    // Should the process end while something is awaited that never comes, this is what it was.
    process.exitCode = exitCode.internal
    const {flags, args} = await this.#read()
    this.#format = this.asked(flags)
    using progress = new Progress({
      screen: screen(process.stderr, process.env),
      quiet: flags['no-progress'],
      write: text => process.stderr.write(text),
    })
    using interruption = interruptible(text => progress.settle(this.cleansUp ? text : undefined))
    using output = new Stdout(process.stdout)
    try {
      const answer = await this.work(flags, args, {signal: interruption.signal, progress})
      const exit = 'stream' in answer ? await this.#stream(answer, output) : (answer.exit ?? exitCode.ok)
      progress.settle()
      if (interruption.bug) throw interruption.bug.error
      if (!('stream' in answer))
        process.stdout.write(await rendered(answer, this.#format, screen(process.stdout, process.env)))
      process.exitCode = interruption.signal.aborted ? exitCode.interrupted : exit
    } catch (error) {
      progress.settle()
      // What has begun as one value on stdout can't become another: then the failure is told on stderr.
      if (output.written) this.#format = 'text'
      if (interruption.bug) await this.#fail(interruption.bug.error, false)
      else await this.#fail(error, interruption.signal.aborted)
    }
  }

  async #stream(answer: StreamedAnswer, output: Stdout): Promise<number> {
    const format = this.#format ?? 'text'
    const {columns, colour, unicode} = screen(process.stdout, process.env)
    try {
      return await answer.stream(output, format, {columns, colour, unicode, wide: format === 'wide'})
    } catch (error) {
      if (error instanceof OutputClosed) return output.failed ? exitCode.environment : exitCode.ok
      throw error
    }
  }

  /** What goes wrong before the work: flags, presets. */
  protected override async catch(error: unknown): Promise<void> {
    // oclif would warn that nothing was parsed, as it takes every caught error for a success.
    this.parsed = true
    await this.#fail(error, false)
  }

  async #fail(error: unknown, interrupted: boolean): Promise<void> {
    const failure = failureOf(error, {
      flags: Object.keys(this.#flags()),
      command: `${this.config.bin} ${this.id?.replaceAll(':', ' ') ?? ''}`.trim(),
      interrupted,
    })
    await tell(failure, this.#format ?? askedFormat(this.argv, process.env))
  }

  #flags(): Interfaces.FlagInput {
    return {...this.ctor.baseFlags, ...this.ctor.flags}
  }

  /** Flags win over what was preset; presets go through the same parser, so that they are checked alike. */
  async #read(): Promise<{flags: FlagsOf<T>; args: ArgsOf<T>}> {
    const given = await this.parse(this.ctor, this.argv)
    const typed = (flag: string) => flag in given.flags && given.metadata.flags[flag]?.setFromDefault !== true
    const known = this.#flags()
    const rivals = (flag: string): string[] => (known[flag]?.exclusive ?? []) as string[]
    const used = (await presets({cwd: process.cwd(), env: process.env})).filter(
      ({flag}) => flag in known && !typed(flag) && !rivals(flag).some(typed) && !(flag === 'output' && typed('json')),
    )
    if (used.length === 0) return given as never
    try {
      return (await this.parse(this.ctor, [
        ...used.flatMap(preset => asArguments(preset, known)),
        ...(given.raw.length > 0 ? this.argv : []),
      ])) as never
    } catch (error) {
      const sources = used.map(({flag, source}) => `--${flag} comes from ${source}`).join(', ')
      if (error instanceof Error) error.message = `${error.message} (${sources})`
      throw error
    }
  }
}

function asArguments({flag, values}: Preset, known: Interfaces.FlagInput): string[] {
  if (known[flag]?.type !== 'boolean') return values.map(value => `--${flag}=${value}`)
  const on = !['0', 'false', 'no', 'off'].includes(values[0]?.toLowerCase() ?? '')
  if (on) return [`--${flag}`]
  return known[flag].allowNo ? [`--no-${flag}`] : []
}

/** Tells a failure on the right stream and sets the exit code. */
export async function tell(failure: Failure, format: Format): Promise<void> {
  process.exitCode = failure.exit
  const value = await renderedFailure(failure, format)
  if (value === undefined) process.stderr.write(failureText(failure, screen(process.stderr, process.env)))
  else process.stdout.write(value)
}

/** The format that was asked for, read without a parser: for errors in the flags themselves. */
export function askedFormat(argv: readonly string[], env: NodeJS.ProcessEnv): Format {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  if (words.includes('--json')) return 'json'
  const joined = words.map(word => /^(?:--output=|-o=?)(.+)$/.exec(word)?.[1]).find(Boolean)
  const apart = words[words.findIndex(word => word === '-o' || word === '--output') + 1]
  const asked = joined ?? (words.some(word => word === '-o' || word === '--output') ? apart : env.KX_OUTPUT)
  return streamFormats.find(format => format === asked) ?? 'text'
}
