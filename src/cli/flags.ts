import * as Args from '@oclif/core/args'
import {CLIError} from '@oclif/core/errors'
import * as Flags from '@oclif/core/flags'

/** `90`, `90s`, `2m`, `1m30s`, `500ms`: milliseconds. A plain number is seconds. */
export function durationMs(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000)
  const match = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/.exec(text)
  if (!match || text === '') return undefined
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = match.slice(1).map(part => Number(part ?? 0))
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1_000 + ms)
}

/** `384`, `384m`, `1g`: mebibytes. */
export function mebibytes(text: string): number | undefined {
  const match = /^(\d+)\s*(m|mib|mb|g|gib|gb)?$/i.exec(text)
  if (!match) return undefined
  return Number(match[1]) * (/^g/i.test(match[2] ?? '') ? 1_024 : 1)
}

export const durationFlag = Flags.custom<number>({
  helpValue: '<duration>',
  async parse(text) {
    const ms = durationMs(text)
    if (ms === undefined || ms <= 0) throw new CLIError(`"${text}" is no duration; write 90s, 2m or 1m30s`)
    return ms
  },
})

export const sizeFlag = Flags.custom<number>({
  helpValue: '<size>',
  async parse(text) {
    const size = mebibytes(text)
    if (size === undefined || size <= 0) throw new CLIError(`"${text}" is no size; write 384m or 1g`)
    return size
  },
})

/** Each `name=value`, as it was typed; {@link configOf} takes them apart. The value may contain `=` and may be empty. */
const settings = Flags.custom<string>({
  helpValue: '<name>=<value>',
  async parse(text) {
    if (text.indexOf('=') < 1) throw new CLIError(`"${text}" is no setting; write name=value`)
    return text
  },
})

export const clusterName = (summary: string) => ({name: Flags.string({char: 'n', helpValue: '<name>', summary})})

/** How a cluster is started. What is not said here stays open, so that a standing cluster is asked for nothing more. */
export const startFlags = {
  runtime: Flags.option({
    options: ['auto', 'docker', 'local'] as const,
    default: 'auto' as const,
    summary: 'where the nodes run: containers, JVMs on this machine, or whatever works',
  })(),
  'kafka-version': Flags.string({helpValue: '<version>', summary: "Kafka's version; 4.2 is its newest known patch"}),
  'kafka-home': Flags.string({helpValue: '<folder>', summary: 'local: an unpacked Kafka distribution to run'}),
  image: Flags.string({helpValue: '<image>', summary: 'docker: the image to run'}),
  profile: Flags.option({
    options: ['default', 'fast'] as const,
    summary: "time-outs: Kafka's own, or shorter ones (broker session 3 s)",
  })(),
  config: settings({
    multiple: true,
    multipleNonGreedy: true,
    summary: "a broker setting that wins over kx's own; repeatable",
  }),
  heap: sizeFlag({summary: "each node's heap (384m if not said)"}),
  'port-base': Flags.integer({
    helpValue: '<port>',
    min: 1_024,
    max: 65_000,
    summary: 'the first of the ports to use, instead of free ones',
  }),
  timeout: durationFlag({
    default: 120_000,
    defaultHelp: async () => '2m',
    summary: 'how long the start may take until the cluster is ready',
  }),
}

export function configOf(settings: readonly string[] | undefined): Record<string, string> | undefined {
  return (
    settings &&
    Object.fromEntries(
      settings.map(text => {
        const at = text.indexOf('=')
        return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
      }),
    )
  )
}

export const resultsFlag = Flags.string({default: 'results', helpValue: '<folder>', summary: 'where runs are stored'})

export const runArgument = Args.string({
  required: true,
  ignoreStdin: true,
  description: "a run: its id, experiment/id, an experiment (its newest run), or the run's folder",
})
