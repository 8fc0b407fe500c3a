import type {Format} from '../src/cli/answer.js'
import {KxError} from '../src/util/errors.js'

type Flags = Readonly<Record<string, unknown>>

/** What looks at a log otherwise than by showing it, and the formats that it has. */
const views: Readonly<Record<string, readonly Format[]>> = {
  verify: ['text', 'wide', 'json', 'ndjson'],
  stats: ['text', 'wide', 'json'],
  state: ['text', 'wide', 'json', 'ndjson', 'csv'],
  'what-if': ['text', 'wide', 'json', 'ndjson', 'csv'],
  explain: ['text', 'wide', 'json'],
  salvage: ['text', 'wide', 'json'],
}
const parts = [
  ...['limit', 'max-bytes', 'offset', 'from-offset', 'to-offset', 'time', 'key', 'producer-id', 'producer-epoch'],
  ...['leader-epoch', 'codec', 'only'],
]

/** @throws KxError KX_USAGE for flags that would be without effect, so that nobody takes an answer for another one */
export function checkFlags(flags: Flags, format: Format): void {
  const isGiven = (name: string) => flags[name] !== undefined && flags[name] !== false
  for (const [name, formats] of Object.entries(views)) {
    if (!isGiven(name) || formats.includes(format)) continue
    throw usage(
      `--${name} has no -o ${format}.`,
      ...formats.filter(each => each !== 'wide').map(each => `--${name} -o ${each}`),
    )
  }
  const whole = ['verify', 'salvage', 'state', 'what-if'].find(isGiven)
  const asked = parts.filter(isGiven).map(name => `--${name}`)
  if (whole !== undefined && asked.length > 0) {
    const verb = asked.length === 1 ? 'asks' : 'ask'
    throw usage(
      `--${whole} looks at everything, and ${asked.join(', ')} ${verb} for a part.`,
      `Leave out ${asked.join(' and ')}, or --${whole}.`,
      ...(whole === 'state' ? ['--at-offset says up to which record the state goes.'] : []),
    )
  }
  if (isGiven('state') && isGiven('topic') && flags.topic !== '__cluster_metadata') {
    throw usage('--state is that of the metadata, and they are in one topic.', '--topic __cluster_metadata --state')
  }
  if (isGiven('at') && !isGiven('explain')) {
    throw usage('--at says where --explain begins.', `--explain --at ${flags.at}`)
  }
  if (flags.salvage === '-') throw usage('--salvage writes a file, and - is none.', '--salvage saved.log')
}

export function usage(message: string, ...suggestions: string[]): KxError {
  return new KxError('usage', 'KX_USAGE', message, {suggestions})
}
