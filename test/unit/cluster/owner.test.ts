import {spawn} from 'node:child_process'
import {hostname} from 'node:os'
import {describe, expect, it} from 'vitest'
import {findProcesses, fromPs, identify, isAlive, isGone, ownOwner, parseStat} from '../../../src/cluster/owner.js'
import {until} from '../../../src/util/until.js'

describe('the identity of a process', () => {
  it('is pid, start time and command line, and stays the same while the process runs', async () => {
    const first = await identify(process.pid)
    const second = await identify(process.pid)
    expect(first).toMatchObject({pid: process.pid, startTime: expect.stringMatching(/\S/)})
    expect(first?.commandLine).toContain('node')
    expect(second).toEqual(first)
  })

  it('is alive only with the same start time, so that a recycled pid is not taken for it', async () => {
    const self = await identify(process.pid)
    expect(await isAlive(self!)).toBe(true)
    expect(await isAlive({pid: process.pid, startTime: '1@00000000'})).toBe(false)
  })

  it('is alive only with the command line that is looked for', async () => {
    const self = await identify(process.pid)
    expect(await isAlive(self!, 'node')).toBe(true)
    expect(await isAlive(self!, 'kafka.Kafka /no/such/server.properties')).toBe(false)
  })

  it('ends with the process', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {stdio: 'ignore'})
    const identity = (await identify(child.pid!))!
    expect(identity.pid).toBe(child.pid)
    child.kill('SIGKILL')
    await until('the child to be gone', async () => ((await isAlive(identity)) ? undefined : true), {timeoutMs: 5_000})
    expect(await identify(child.pid!)).toBeUndefined()
  })

  it('is found by a text in the command line, and never as oneself', async () => {
    const mark = `kx-test-mark-${process.pid}`
    const child = spawn(process.execPath, ['-e', `setInterval(() => {}, 1000) // ${mark}`], {stdio: 'ignore'})
    try {
      const found = await findProcesses(mark)
      expect(found.map(({pid}) => pid)).toEqual([child.pid])
      expect((await findProcesses('node')).map(({pid}) => pid)).not.toContain(process.pid)
    } finally {
      child.kill('SIGKILL')
    }
  })
})

describe('the owner of a cluster', () => {
  it('is this process, and not gone', async () => {
    const owner = await ownOwner()
    expect(owner).toMatchObject({pid: process.pid, host: hostname()})
    expect(await isGone(owner)).toBe(false)
  })

  it('is gone when its pid belongs to another process by now', async () => {
    expect(await isGone({...(await ownOwner()), startTime: '1@00000000'})).toBe(true)
  })

  it('is never called gone when it is a process of another host', async () => {
    expect(await isGone({...(await ownOwner()), startTime: '1@00000000', host: 'elsewhere.example'})).toBe(false)
  })
})

describe('what the system says of a process', () => {
  it('is read from /proc even when the command holds spaces and parentheses', () => {
    const text = `4711 (a (b) c) T 1 4711 4711 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 83 0 1234567 99 88`
    expect(parseStat(text)).toEqual({state: 'T', startTicks: '1234567'})
  })

  it('is read from ps where there is no /proc', () => {
    expect(fromPs('Sat Nov 29 19:36:01 2025     /usr/bin/java -Xmx384m kafka.Kafka /a b/server.properties', 7)).toEqual(
      {
        pid: 7,
        startTime: 'Sat Nov 29 19:36:01 2025',
        commandLine: '/usr/bin/java -Xmx384m kafka.Kafka /a b/server.properties',
      },
    )
    expect(fromPs('Tue Dec  2 09:00:00 2025 (java)', 7)).toBeUndefined()
    expect(fromPs('', 7)).toBeUndefined()
  })
})
