import * as Flags from '@oclif/core/flags'
import type {Answer} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {clusterName} from '../src/cli/flags.js'

export default class Down extends KxCommand<typeof Down> {
  static override summary = 'Stop a cluster; its data stay unless --wipe'
  static override examples = ['<%= config.bin %> down', '<%= config.bin %> down --name old --wipe']
  static override flags = {
    ...clusterName('which cluster (default if not said)'),
    wipe: Flags.boolean({default: false, summary: 'delete its data too'}),
  }

  protected override async work(
    flags: FlagsOf<typeof Down>,
    _: ArgsOf<typeof Down>,
    {signal, progress}: Session,
  ): Promise<Answer> {
    const {down} = await import('../src/cluster/lifecycle.js')
    const name = flags.name ?? 'default'
    const result = await down(name, {wipe: flags.wipe, signal, progress: phase => progress.live(phase)})
    const again = `kx up${name === 'default' ? '' : ` --name ${name}`}`
    return {
      data: result,
      text: () =>
        result.wiped
          ? `Cluster ${name} is gone, with its data.`
          : `Cluster ${name} ${result.wasRunning ? 'is stopped' : 'was not running'}; its data are kept. ${again} starts it again, kx down --wipe deletes it.`,
    }
  }
}
