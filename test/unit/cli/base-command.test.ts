import type {Config} from '@oclif/core/config'
import {captureOutput} from '@oclif/test'
import {afterEach, beforeEach, describe, expect, test, vi} from 'vitest'
import type {Answer} from '../../../src/cli/answer.js'
import {KxCommand, type Session} from '../../../src/cli/base-command.js'
import {interruptible} from '../../../src/cli/interrupt.js'
import {KxError} from '../../../src/util/errors.js'
import {inWorld, withoutCommands} from '../../cli-harness.js'

let work: (session: Session) => Promise<Answer>
class Trial extends KxCommand<typeof Trial> {
  static override id = 'trial'
  protected override work(_flags: unknown, _args: unknown, session: Session): Promise<Answer> {
    return work(session)
  }
}

let cure: () => void
let config: Config
beforeEach(async () => {
  cure = inWorld({})
  config = await withoutCommands()
})
afterEach(() => {
  cure()
  vi.restoreAllMocks()
})

async function run(...argv: string[]) {
  const before = process.exitCode
  try {
    const {stdout, stderr} = await captureOutput(() => Trial.run(argv, config))
    return {stdout, stderr, exit: process.exitCode}
  } finally {
    process.exitCode = before
  }
}

/** What a signal would do: calls the listeners that the command added, and no others. */
function deliver(event: 'SIGINT' | 'uncaughtException', others: readonly unknown[], value: unknown): void {
  for (const listener of process.listeners(event as 'SIGINT'))
    if (!others.includes(listener)) (listener as (value: unknown) => void)(value)
}

const answer = (exit?: number): Answer => ({data: {offset: 5n}, text: () => 'five', ...(exit !== undefined && {exit})})

describe('a command', () => {
  test.each([
    [undefined, 0],
    [1, 1],
    [3, 3],
    [4, 4],
  ])('with the answer’s exit code %s exits %i and has printed the answer', async (exit, expected) => {
    work = async () => answer(exit)
    expect(await run()).toEqual({stdout: 'five\n', stderr: '', exit: expected})
    expect(await run('-o', 'json')).toEqual({stdout: '{\n  "offset": "5"\n}\n', stderr: '', exit: expected})
  })

  test('that meets a bug exits 70 with a stack, also with -o json', async () => {
    work = async () => {
      throw new TypeError('x is not a function')
    }
    const text = await run()
    expect(text.stderr).toMatch(/^Error: This is a bug in kx: TypeError: x is not a function\nTry: {3}Please report it/)
    expect(text.stderr).toContain('base-command.test.ts')
    expect(text).toMatchObject({stdout: '', exit: 70})
    const json = await run('--json')
    expect(JSON.parse(json.stdout)).toMatchObject({error: {kind: 'internal', code: 'KX_BUG', exit: 70}})
    expect(json).toMatchObject({stderr: '', exit: 70})
  })

  test('that fails as foreseen exits with its code and no stack', async () => {
    work = async () => {
      throw new KxError('environment', 'KX_TEST', 'Port 19000 is taken by pid 4711 (java).', {
        suggestions: ['--port-base 20000'],
      })
    }
    expect(await run()).toEqual({
      stdout: '',
      stderr: 'Error: Port 19000 is taken by pid 4711 (java).\nTry:   --port-base 20000\n',
      exit: 4,
    })
  })

  test('quotes the lines of a log as they are, but not what they would do to the terminal', async () => {
    const line = `  [2026-11-29 20:01:02,345] ERROR ${'x '.repeat(60)}\u001b[2J`
    work = async () => {
      throw new KxError('environment', 'KX_TEST', `Node 2 ended. Its last lines:\n${line}`)
    }
    expect((await run()).stderr).toBe(`Error: Node 2 ended. Its last lines:\n${line.replace('\u001b', '\\x1b')}\n`)
  })

  test('that is interrupted cleans up, exits 130, and says nothing on stdout', async () => {
    const before = process.listeners('SIGINT')
    let cleaned = false
    work = async ({signal}) => {
      deliver('SIGINT', before, 'SIGINT')
      expect(signal.aborted).toBe(true)
      cleaned = true
      throw signal.reason
    }
    const {stdout, stderr, exit} = await run()
    expect(cleaned).toBe(true)
    expect(stdout).toBe('')
    expect(stderr).toBe(
      'Interrupted: cleaning up. Once more leaves at once (kx heal and kx clean then put things right).\nInterrupted by SIGINT.\n',
    )
    expect(exit).toBe(130)
    expect(process.listeners('SIGINT')).toEqual(before)
  })

  test('in which something is thrown where nobody can catch it cleans up, and exits 70, not 1', async () => {
    const before = process.listeners('uncaughtException')
    work = async ({signal}) => {
      deliver('uncaughtException', before, new RangeError('somewhere else'))
      throw signal.reason
    }
    const {stdout, stderr, exit} = await run('-o', 'json')
    expect(JSON.parse(stdout).error.message).toBe('This is a bug in kx: RangeError: somewhere else')
    expect(stderr).toBe('Something went wrong that kx did not foresee: cleaning up.\n')
    expect(exit).toBe(70)
    expect(process.listeners('uncaughtException')).toEqual(before)
  })
})

describe('a second signal', () => {
  function interrupted(secondAfterMs: number) {
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
    const before = process.listeners('SIGINT')
    let nowMs = 1_000
    using interruption = interruptible(
      () => undefined,
      () => nowMs,
    )
    deliver('SIGINT', before, 'SIGINT')
    expect(interruption.signal.aborted).toBe(true)
    nowMs += secondAfterMs
    deliver('SIGINT', before, 'SIGINT')
    return exit.mock.calls
  }

  test('leaves at once', () => {
    expect(interrupted(1_500)).toEqual([[130]])
  })

  test('that comes with the first (npm and the terminal both send one Ctrl-C) does not', () => {
    expect(interrupted(30)).toEqual([])
  })
})
