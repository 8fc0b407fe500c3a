import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import type {Answer, View} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {paint, wrap} from '../src/cli/terminal.js'
import type {PartitionDiff} from '../src/inspect/diff.js'
import {exitCode, KxError} from '../src/util/errors.js'

export default class DiffReplicas extends KxCommand<typeof DiffReplicas> {
  static override summary = 'Compare the replicas of a partition: equal up to where, and who has what beyond'
  static override description =
    "Batches are compared by their bytes from byte 16 on, and where these differ by their records: a tail that is missing, a diverged leader, a flipped bit and a compaction are told apart. Folders may hold .log or .log.gz files; in a folder without segments the partitions are looked for, and those of the same name compared. Exit codes: 0 equal, 1 they differ, 2 wrong use, 5 a folder can't be read."
  static override examples = [
    '<%= config.bin %> diff-replicas /var/kafka-1/orders-0 /var/kafka-2/orders-0 /var/kafka-3/orders-0',
    '<%= config.bin %> diff-replicas --topic orders --partition 0',
    '<%= config.bin %> diff-replicas results/data-loss/7f3a/evidence/trial-2',
  ]
  static override args = {
    folders: Args.string({
      multiple: true,
      ignoreStdin: true,
      description: 'folders of the same partition, or folders that hold such',
    }),
  }
  static override flags = {
    topic: Flags.string({helpValue: '<topic>', summary: 'compare the replicas on the brokers of a running cluster'}),
    partition: Flags.integer({min: 0, default: 0, helpValue: '<n>', summary: 'which partition of the topic'}),
    cluster: Flags.string({helpValue: '<name>', summary: 'which cluster, if several run', dependsOn: ['topic']}),
    all: Flags.boolean({
      summary: 'what lies above the high watermark too, which may legally be on the leader alone',
      dependsOn: ['topic'],
    }),
  }

  protected override async work(
    flags: FlagsOf<typeof DiffReplicas>,
    args: ArgsOf<typeof DiffReplicas>,
    {signal, progress}: Session,
  ): Promise<Answer> {
    const folders = (args.folders as unknown as readonly string[] | undefined) ?? []
    const run = {signal, progress: (text: string) => progress.live(text)}
    const diffs = await compared(flags, folders, run)
    const equal = diffs.every(diff => diff.equal)
    return {
      data: {schema: 'kx/diff-replicas/1', equal, partitions: diffs},
      text: await textOf(diffs),
      exit: equal ? exitCode.ok : exitCode.no,
    }
  }
}

async function compared(
  {topic, partition, cluster, all}: FlagsOf<typeof DiffReplicas>,
  folders: readonly string[],
  run: {readonly signal: AbortSignal; readonly progress: (text: string) => void},
): Promise<PartitionDiff[]> {
  if ((topic === undefined) === (folders.length === 0)) {
    const what = topic === undefined ? 'Nothing is named to compare.' : 'Folders and --topic exclude each other.'
    throw new KxError('usage', 'KX_USAGE', what, {
      suggestions: [
        'kx diff-replicas /var/kafka-1/orders-0 /var/kafka-2/orders-0',
        'kx diff-replicas --topic orders --partition 0',
      ],
    })
  }
  const {diffFolders, diffLive} = await import('../src/inspect/diff.js')
  if (topic === undefined) return diffFolders(folders, run)
  const colon = /^(.+):(\d+)$/.exec(topic)
  const asked = colon ? {topic: colon[1] ?? topic, partition: Number(colon[2])} : {topic, partition}
  return [await diffLive({...asked, all: all === true, ...(cluster !== undefined && {cluster})}, run)]
}

async function textOf(diffs: readonly PartitionDiff[]): Promise<Answer['text']> {
  const {diffText} = await import('../src/log/diff/text.js')
  return ({columns, colour, unicode}: View) =>
    diffs
      .map(diff => {
        const title = diff.partition === null ? undefined : diff.partition
        const text = diffText(diff, {columns, unicode, title, wrap, paint: (word, tone) => paint(word, tone, colour)})
        return [text, ...diff.notes.map(note => wrap(note, columns))].join('\n\n')
      })
      .join('\n\n\n')
}
