import * as Flags from '@oclif/core/flags'
import type {Answer} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {clusterName, configOf, startFlags} from '../src/cli/flags.js'
import type {ClusterSpec} from '../src/cluster/spec.js'
import {clusterText} from './cluster-text.js'

export default class Up extends KxCommand<typeof Up> {
  static override summary = 'Start a cluster, and return when it is ready'
  static override description =
    'Three brokers and three controllers, as in production, unless flags say otherwise. Ready means: all brokers registered and unfenced, ' +
    'the quorum has a leader, and a probe record was written with acks=all and read back. Only loopback is bound. ' +
    'On a cluster that runs already it says so; a stopped one is started again on its data.'
  static override examples = [
    '<%= config.bin %> up',
    '<%= config.bin %> up --runtime local --controllers 1 --profile fast',
    '<%= config.bin %> up --name old --kafka-version 4.0',
  ]
  static override flags = {
    ...clusterName('how the cluster is called (default if not said)'),
    brokers: Flags.integer({helpValue: '<count>', min: 1, max: 9, summary: 'how many brokers (3 if not said)'}),
    controllers: Flags.integer({
      helpValue: '<count>',
      min: 1,
      max: 9,
      summary: 'how many isolated controllers (3 if not said)',
      exclusive: ['combined'],
    }),
    combined: Flags.boolean({default: false, summary: 'brokers are controllers too', exclusive: ['controllers']}),
    ...startFlags,
  }

  protected override async work(
    flags: FlagsOf<typeof Up>,
    _: ArgsOf<typeof Up>,
    {signal, progress}: Session,
  ): Promise<Answer> {
    const [{up}, {resolveVersion}] = await Promise.all([
      import('../src/cluster/lifecycle.js'),
      import('../src/cluster/version.js'),
    ])
    const config = configOf(flags.config)
    const controllers = flags.combined ? 0 : flags.controllers
    const asked: Partial<ClusterSpec> = {
      ...(flags.brokers !== undefined && {brokers: flags.brokers}),
      ...(controllers !== undefined && {controllers}),
      ...(flags['kafka-version'] !== undefined && {kafkaVersion: resolveVersion(flags['kafka-version'])}),
      ...(flags.profile !== undefined && {profile: flags.profile}),
      ...(flags.heap !== undefined && {heapMiB: flags.heap}),
      ...(config !== undefined && {config}),
    }
    const {status, outcome} = await up({
      name: flags.name ?? 'default',
      runtime: flags.runtime,
      asked,
      kafkaHome: flags['kafka-home'],
      image: flags.image,
      portBase: flags['port-base'],
      timeoutMs: flags.timeout,
      signal,
      progress: phase => progress.live(phase),
    })
    progress.settle(outcome === 'running' ? `Cluster ${status.name} runs already.` : undefined)
    return {
      data: {...status, outcome},
      text: view =>
        `${clusterText(status, view)}\n\nNext  kx experiment data-loss${status.name === 'default' ? '' : ` --name ${status.name}`}`,
    }
  }
}
