import type {Answer} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {clusterName, durationFlag} from '../src/cli/flags.js'

export default class Heal extends KxCommand<typeof Heal> {
  static override summary = 'Resume what is paused and start what is down, after a crash of kx'
  static override description =
    'Every fault is written to a journal before it acts. Heal reads that journal and looks at the nodes themselves; what a stopped cluster (kx down) has down stays down.'
  static override examples = ['<%= config.bin %> heal']
  static override flags = {
    ...clusterName('which cluster (all that should be running, if not said)'),
    timeout: durationFlag({
      default: 120_000,
      defaultHelp: async () => '2m',
      summary: 'how long it may take until the cluster is ready',
    }),
  }

  protected override async work(
    flags: FlagsOf<typeof Heal>,
    _: ArgsOf<typeof Heal>,
    {signal, progress}: Session,
  ): Promise<Answer> {
    const {heal} = await import('../src/cluster/lifecycle.js')
    const healed = await heal(flags.name, {timeoutMs: flags.timeout, signal, progress: phase => progress.live(phase)})
    return {
      data: healed,
      text: () => {
        if (healed.length === 0) return 'No cluster is meant to be running.'
        return healed
          .map(({name, cures, busy}) => {
            if (busy !== undefined) return `Cluster ${name} was left alone. ${busy}`
            if (cures.length === 0) return `Cluster ${name}: nothing to heal.`
            return `Cluster ${name}: ${cures.map(({nodeId, cure, was}) => `node ${nodeId} ${cure === 'resume' ? 'resumed' : 'started'} (it was ${was})`).join(', ')}.`
          })
          .join('\n')
      },
    }
  }
}
