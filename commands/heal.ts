import type {Answer} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {clusterName, durationFlag} from '../src/cli/flags.js'
import type {Healed} from '../src/cluster/lifecycle.js'
import {plural} from '../src/util/format.js'

interface HealedCluster extends Healed {
  readonly topics: readonly string[]
}

export default class Heal extends KxCommand<typeof Heal> {
  static override summary = 'Resume what is paused and start what is down, after a crash of kx'
  static override description =
    'Every fault is written to a journal before it acts. Heal reads that journal and looks at the nodes themselves, and deletes the topics that an experiment had left; what a stopped cluster (kx down) has down stays down.'
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
    const {deleteLeftoverTopics} = await import('../src/lab/leftover-topics.js')
    const conduct = {timeoutMs: flags.timeout, signal, progress: (phase: string) => progress.live(phase)}
    const healed: HealedCluster[] = []
    let failure: unknown
    for (const one of await heal(flags.name, conduct)) {
      const leftThere = (error: unknown) => {
        failure ??= error
        return []
      }
      const topics = one.busy === undefined ? await deleteLeftoverTopics(one.name, signal).catch(leftThere) : []
      healed.push({...one, topics})
    }
    if (failure !== undefined) {
      // What was cured is told all the same.
      for (const one of healed) progress.line(told(one))
      throw failure
    }
    return {
      data: healed,
      text: () => (healed.length === 0 ? 'No cluster is meant to be running.' : healed.map(told).join('\n')),
    }
  }
}

function told({name, cures, busy, topics}: HealedCluster): string {
  if (busy !== undefined) return `Cluster ${name} was left alone. ${busy}`
  const done = cures.map(
    ({nodeId, cure, was}) => `node ${nodeId} ${cure === 'resume' ? 'resumed' : 'started'} (it was ${was})`,
  )
  if (topics.length > 0) done.push(`${plural(topics.length, 'topic')} of an earlier run deleted`)
  return `Cluster ${name}: ${done.length === 0 ? 'nothing to heal' : done.join(', ')}.`
}
