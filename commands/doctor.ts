import * as Flags from '@oclif/core/flags'
import type {Answer, View} from '../src/cli/answer.js'
import {type ArgsOf, type FlagsOf, KxCommand, type Session} from '../src/cli/base-command.js'
import {resultsFlag, startFlags} from '../src/cli/flags.js'
import {paint, wrap} from '../src/cli/terminal.js'
import type {Finding} from '../src/cluster/doctor.js'
import {exitCode} from '../src/util/errors.js'
import {plural} from '../src/util/format.js'

export default class Doctor extends KxCommand<typeof Doctor> {
  static override summary = 'Say what this machine lacks for clusters and experiments, and what cures it'
  static override description =
    'Looks and changes nothing, unless --fix names what to install. Exit code 4 if no cluster can be started here.'
  static override examples = [
    '<%= config.bin %> doctor',
    '<%= config.bin %> doctor --kafka-version 4.1',
    '<%= config.bin %> doctor --fix librdkafka',
  ]
  static override flags = {
    fix: Flags.option({options: ['librdkafka'] as const, summary: 'install it: librdkafka is the second client'})(),
    'kafka-version': startFlags['kafka-version'],
    'kafka-home': startFlags['kafka-home'],
    image: startFlags.image,
    results: resultsFlag,
  }

  protected override async work(
    flags: FlagsOf<typeof Doctor>,
    _: ArgsOf<typeof Doctor>,
    {signal, progress}: Session,
  ): Promise<Answer> {
    const [{examine, fixes}, {resolveVersion}, {defaultSpec}] = await Promise.all([
      import('../src/cluster/doctor.js'),
      import('../src/cluster/version.js'),
      import('../src/cluster/spec.js'),
    ])
    const fix = flags.fix === undefined ? undefined : fixes[flags.fix]
    const fixed = await fix?.({signal, progress: phase => progress.live(phase)})
    progress.live('looking at this machine')
    const asked = flags['kafka-version']
    const findings = await examine({
      spec: asked === undefined ? defaultSpec : {...defaultSpec, kafkaVersion: resolveVersion(asked)},
      results: flags.results,
      signal,
      ...(flags['kafka-home'] === undefined ? {} : {kafkaHome: flags['kafka-home']}),
      ...(flags.image === undefined ? {} : {image: flags.image}),
    })
    const healthy = findings.every(({level}) => level !== 'problem')
    return {
      data: {healthy, findings, ...(fixed === undefined ? {} : {fixed})},
      text: view => [...(fixed === undefined ? [] : [fixed, '']), asText(findings, view)].join('\n'),
      exit: healthy ? exitCode.ok : exitCode.environment,
    }
  }
}

const signs = {ok: ['✔', '+'], warning: ['!', '!'], problem: ['✘', 'x']} as const
const tones = {ok: 'green', warning: 'yellow', problem: 'red'} as const

function asText(findings: readonly Finding[], view: View): string {
  const width = Math.max(...findings.map(({id}) => id.length))
  const indent = ' '.repeat(width + 4)
  const columns = Math.min(view.columns, 120) - indent.length
  const told = (text: string) => wrap(text, columns).replaceAll('\n', `\n${indent}`)
  const lines = findings.flatMap(({id, level, what, affects, cure}) => [
    `${paint(signs[level][view.unicode ? 0 : 1], tones[level], view.colour)} ${id.padEnd(width)}  ${told(what)}`,
    ...(affects === undefined ? [] : [`${indent}${told(`Affects: ${affects}`)}`]),
    ...(cure === undefined ? [] : [`${indent}${told(`Cure: ${cure}`)}`]),
  ])
  const count = (level: Finding['level']) => findings.filter(finding => finding.level === level).length
  return [...lines, '', `${plural(count('problem'), 'problem')}, ${plural(count('warning'), 'warning')}.`].join('\n')
}
