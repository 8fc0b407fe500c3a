import {expect, test} from 'vitest'
import {byHand} from '../../../src/report/by-hand.js'
import {dataLoss} from './samples.js'

const commandsOf = (input: Parameters<typeof byHand>[0]) => byHand(input).flatMap(({commands}) => commands)
const loss = dataLoss()
const on = (kafka: string) => ({
  ...loss,
  faults: [],
  run: {...loss.run, environment: {...loss.run.environment, kafka}},
})

test('a run with faults is repeated with kill, one without with a producer of each codec and a flipped copy', () => {
  expect(commandsOf(loss).join('\n')).toContain('kill -9')
  const commands = commandsOf(on('4.4.0'))
  expect(commands.join('\n')).not.toMatch(/kill|acks=1/)
  expect(
    commands.filter(command => command.includes('compression.type=')).map(command => command.split('=').at(-1)),
  ).toEqual(['none', 'gzip', 'snappy', 'lz4', 'zstd'])
  expect(commands.at(-2)).toContain(
    String.raw`printf '\377' | dd of=00000000000000000000.log bs=1 seek=100 conv=notrunc`,
  )
  expect(commands.find(command => command.includes('perf-test'))).toContain('--bootstrap-server "$BOOTSTRAP"')
})

test('the flags are those of the version', () => {
  const commands = commandsOf(on('4.0.2')).join('\n')
  expect(commands).toContain('--producer-property compression.type=zstd')
  expect(commands).toContain('--producer-props bootstrap.servers="$BOOTSTRAP"')
})
