import {Config} from '@oclif/core'
import {expect, test} from 'vitest'
import type {Answer} from '../../../src/cli/answer.js'
import {type FlagsOf, KxCommand} from '../../../src/cli/base-command.js'
import {configOf, startFlags} from '../../../src/cli/flags.js'

const given: (Record<string, string> | undefined)[] = []

class Start extends KxCommand<typeof Start> {
  static override flags = {...startFlags}

  protected override async work(flags: FlagsOf<typeof Start>): Promise<Answer> {
    given.push(configOf(flags.config))
    return {data: {}, text: () => ''}
  }
}

async function parsed(...argv: string[]): Promise<Record<string, string> | undefined> {
  await new Start([...argv, '--no-progress'], await Config.load(import.meta.dirname)).run()
  return given.at(-1)
}

test('each --config is one setting; values may hold = or be empty', async () => {
  expect(await parsed('--config', 'a=1')).toEqual({a: '1'})
  expect(await parsed('--config', 'a=1', '--config=b=x=y', '--config', 'c=')).toEqual({a: '1', b: 'x=y', c: ''})
  expect(await parsed()).toBeUndefined()
})
