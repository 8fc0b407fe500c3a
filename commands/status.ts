import type {Answer} from '../src/cli/answer.js'
import {table} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {clusterName} from '../src/cli/flags.js'
import {clusterText} from './cluster-text.js'

export default class Status extends KxCommand<typeof Status> {
  static override summary = 'Say what runs, where, and whether it is ready; without a name, of all clusters'
  static override description =
    'With -o json or yaml: one object for --name, and where there is only one cluster; else a list.'
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --name default -o json']
  static override flags = clusterName('which cluster')

  protected override async work(
    flags: FlagsOf<typeof Status>,
    _: ArgsOf<typeof Status>,
    {progress}: Session,
  ): Promise<Answer> {
    const {list, status} = await import('../src/cluster/lifecycle.js')
    if (flags.name !== undefined) {
      const one = await status(flags.name)
      return {data: one, text: view => clusterText(one, view)}
    }
    const {clusters: all, unreadable} = await list()
    for (const {message} of unreadable) progress.warning(message)
    return {
      // In the usual case nobody should have to index a list.
      data: all.length === 1 ? all[0] : all,
      text: view => {
        if (all.length === 0) return 'No cluster is known here. Next  kx up'
        if (all.length === 1 || view.wide) return all.map(one => clusterText(one, view)).join('\n\n')
        const rows = all.map(one => [
          one.name,
          one.phase === 'down' ? 'stopped' : one.ready ? 'ready' : 'not ready',
          one.kafkaVersion,
          one.runtime,
          one.nodes.length,
          one.bootstrapServers,
        ])
        return table(['name', 'state', 'kafka', 'runtime', 'nodes', 'bootstrap servers'], rows)
      },
    }
  }
}
