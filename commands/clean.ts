import type {Answer} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'

export default class Clean extends KxCommand<typeof Clean> {
  static override summary = 'Remove what crashed runs of kx left behind'
  static override description =
    'Takes clusters that were made for one run, or never came up, and whose kx process is gone. A cluster made by kx up is never a leftover; ' +
    'nor is a Kafka that kx did not start.'
  static override examples = ['<%= config.bin %> clean']

  protected override async work(
    _flags: FlagsOf<typeof Clean>,
    _: ArgsOf<typeof Clean>,
    {progress}: Session,
  ): Promise<Answer> {
    const {clean} = await import('../src/cluster/leftovers.js')
    const {removed, kept} = await clean({progress: phase => progress.live(phase)})
    return {
      data: {removed, kept},
      text: () =>
        [
          ...(removed.length === 0
            ? ['Nothing was left behind.']
            : removed.map(({name, why}) => `Removed ${name}: ${why}.`)),
          ...kept.map(({name, why}) => `Kept ${name}: ${why}.`),
        ].join('\n'),
    }
  }
}
