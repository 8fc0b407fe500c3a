import type {Interfaces} from '@oclif/core'
import {Config} from '@oclif/core/config'
import {KxError} from '../util/errors.js'
import {nearest} from './nearest.js'

/** oclif's "command x not found" as an error of kx that knows what may have been meant; `undefined` for all others. */
export async function unknownCommand(
  error: unknown,
  argv: readonly string[],
  options: Interfaces.LoadOptions,
): Promise<KxError | undefined> {
  if (!(error instanceof Error) || !/^command .* not found$/s.test(error.message)) return undefined
  const {commandIDs} = await Config.load(options)
  const names = commandIDs.map(id => id.replaceAll(':', ' '))
  const words = argv.slice(0, argv.findIndex(word => word.startsWith('-')) >>> 0)
  const typed = words.slice(0, 2).join(' ')
  const meant = nearest(typed, names)
  const others = meant.length > 0 ? meant : nearest(words[0] ?? '', names)
  return new KxError('usage', 'KX_NO_COMMAND', `There is no command "kx ${typed}".`, {
    suggestions: [
      others.length > 0
        ? `Did you mean ${others.map(name => `kx ${name}`).join(' or ')}?`
        : 'kx --help lists all commands.',
    ],
  })
}
