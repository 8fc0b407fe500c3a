import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {
  isStopped,
  parsePsThreads,
  runTool,
  signal,
  startDetached,
  threadStates,
  untilGone,
} from '../../../../src/cluster/local/process.js'
import {identify, type ProcessIdentity} from '../../../../src/cluster/owner.js'
import {until} from '../../../../src/util/until.js'

let folder: string
const started: ProcessIdentity[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kx-process-'))
})
afterEach(async () => {
  for (const one of started.splice(0)) await signal(one, '', 'SIGKILL')
  rmSync(folder, {recursive: true, force: true})
})

async function start(script: string): Promise<ProcessIdentity> {
  const output = join(folder, 'out')
  const one = await startDetached({
    executable: process.execPath,
    args: ['-e', script],
    env: process.env,
    folder,
    output,
  })
  started.push(one)
  return one
}

const forever = 'setInterval(() => {}, 1000)'

describe('a detached process', () => {
  it('runs in a session of its own, which the Ctrl-C of the terminal does not reach', async () => {
    const {pid} = await start(forever)
    const sessionOf = (of: number) =>
      readFileSync(`/proc/${of}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')[3]
    if (process.platform === 'linux') {
      expect(sessionOf(pid)).toBe(String(pid))
      expect(sessionOf(pid)).not.toBe(sessionOf(process.pid))
    }
    process.kill(-pid, 0) // its own group exists, or this throws
  })

  it('writes what it prints into its file', async () => {
    const one = await start('console.log("out"); console.error("err")')
    await untilGone(one, 'it', 10_000)
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('out\nerr\n')
  })

  it('that can not be started is an error that names it', async () => {
    const command = {executable: join(folder, 'no-such-java'), args: [], env: {}, folder, output: join(folder, 'out')}
    await expect(startDetached(command)).rejects.toMatchObject({
      code: 'KX_PROCESS',
      exit: 4,
      message: expect.stringContaining("no-such-java can't be started"),
    })
  })
})

describe('a signal', () => {
  it('reaches the process that it was meant for', async () => {
    const one = await start(forever)
    expect(await signal(one, forever, 'SIGKILL')).toBe(true)
    await untilGone(one, 'it', 10_000)
    expect(await signal(one, forever, 'SIGKILL')).toBe(false)
  })

  it('never hits a process that only has the same pid', async () => {
    const one = await start(forever)
    expect(await signal({...one, startTime: '1@00000000'}, forever, 'SIGKILL')).toBe(false)
    expect(await signal(one, 'kafka.Kafka /another/server.properties', 'SIGKILL')).toBe(false)
    expect(await identify(one.pid)).toMatchObject(one)
  })

  it('that stops or continues is proven by the state of every thread', async () => {
    const one = await start(forever)
    const several = async () => ((await threadStates(one.pid)).length > 3 ? true : undefined)
    await until('Node to have its threads', several, {timeoutMs: 5_000, everyMs: 1})
    await signal(one, forever, 'SIGSTOP')
    const all = (stopped: boolean) => async () => {
      const states = await threadStates(one.pid)
      return states.length > 0 && states.every(state => isStopped(state) === stopped) ? states : undefined
    }
    const stopped = await until('all threads to stop', all(true), {timeoutMs: 5_000, everyMs: 1})
    expect(stopped.length).toBeGreaterThan(3)
    await signal(one, forever, 'SIGCONT')
    await until('all threads to go on', all(false), {timeoutMs: 5_000, everyMs: 1})
  })
})

describe('threads where there is no /proc', () => {
  it('are read from ps -M, the process and its threads a line each', () => {
    const text = `USER     PID   TT   %CPU STAT PRI     STIME     UTIME COMMAND
ada    51234 s003    0.0 T    31T   0:00.01   0:00.02 java -Xmx384m kafka.Kafka /a/server.properties
       51234         0.0 T    31T   0:00.30   0:01.10
       51234         0,5 S    20T   0:00.30   0:01.10
`
    expect(parsePsThreads(text)).toEqual(['T', 'T', 'S'])
    expect(parsePsThreads('USER     PID   TT   %CPU STAT PRI     STIME     UTIME COMMAND\n')).toEqual([])
  })
})

describe('a tool', () => {
  const run = (script: string, timeoutMs: number, abort?: AbortSignal) =>
    runTool({
      executable: process.execPath,
      args: ['-e', script],
      env: process.env,
      what: 'the tool',
      timeoutMs,
      ...(abort ? {signal: abort} : {}),
    })

  it('gives its output and its exit code', async () => {
    expect(await run('console.log("a"); console.error("b"); process.exit(3)', 10_000)).toMatchObject({
      exitCode: 3,
      stdout: 'a',
      stderr: 'b',
    })
  })

  it('that hangs is ended, with an error that says how long it was waited for', async () => {
    await expect(run(forever, 300)).rejects.toMatchObject({
      code: 'KX_TIMEOUT',
      message: 'the tool took longer than 0.3 s.',
    })
  })

  it('is ended when the user interrupts', async () => {
    await expect(run(forever, 10_000, AbortSignal.timeout(200))).rejects.toMatchObject({
      code: 'KX_INTERRUPTED',
      exit: 130,
    })
  })
})
