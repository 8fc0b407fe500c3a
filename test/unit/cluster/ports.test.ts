import {spawn} from 'node:child_process'
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {type AddressInfo, createServer, type Server} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {choosePorts, firstPort, isFree, parseListening, portOwner} from '../../../src/cluster/ports.js'
import {defaultSpec} from '../../../src/cluster/spec.js'
import {saveState, stateFolder} from '../../../src/cluster/state.js'

const before = process.env.XDG_STATE_HOME
let home: string
const servers: Server[] = []
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kx-ports-'))
  process.env.XDG_STATE_HOME = home
})
afterEach(async () => {
  if (before === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = before
  await Promise.all(servers.splice(0).map(server => new Promise(resolve => server.close(resolve))))
  rmSync(home, {recursive: true, force: true})
})

async function listen(port = 0): Promise<number> {
  const server = createServer()
  servers.push(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}

function keep(name: string, ports: readonly number[]): void {
  saveState({
    schema: 'kx/cluster/1',
    name,
    runtime: 'local',
    spec: defaultSpec,
    clusterId: 'id',
    ephemeral: false,
    owner: {pid: 1, startTime: '1', user: 'u', host: 'h'},
    createdAt: 'now',
    phase: 'down',
    nodes: [],
    detail: {ports: ports.join(',')},
  })
}

const chosen = (count: number, name = 'new', portBase?: number) =>
  choosePorts({count, name, ...(portBase === undefined ? {} : {portBase})}, ports => [...ports])

describe('the ports of a cluster', () => {
  it('are consecutive, free, and outside the ephemeral range', async () => {
    const ports = await chosen(9)
    expect(ports).toEqual(Array.from({length: 9}, (_, index) => (ports[0] as number) + index))
    expect(Math.min(...ports)).toBeGreaterThanOrEqual(19_000)
    expect(Math.max(...ports)).toBeLessThanOrEqual(29_999)
    for (const port of ports) expect(await isFree(port)).toBe(true)
  })

  it('are another block when one of them is taken', async () => {
    const [first] = (await chosen(3)) as [number]
    await listen(first + 1)
    const ports = await chosen(3)
    expect(ports).not.toContain(first + 1)
    expect(ports[0]).toBe(first + 2)
  })

  it('are not those that a cluster which is down keeps for its next start', async () => {
    const first = await chosen(3)
    keep('asleep', first)
    expect((await chosen(3)).filter(port => first.includes(port))).toEqual([])
  })

  it('begin where --port-base says', async () => {
    const [free] = (await chosen(3)) as [number]
    expect(await chosen(3, 'new', free)).toEqual([free, free + 1, free + 2])
  })

  it('given by --port-base but taken are an error that names the owner', async () => {
    const port = await listen()
    await expect(chosen(1, 'new', port)).rejects.toMatchObject({
      code: 'KX_PORT_TAKEN',
      exit: 4,
      message: expect.stringMatching(
        new RegExp(`^Port ${port} is taken: .*node.*\\(pid ${process.pid}\\) listens on it\\.$`),
      ),
    })
  })

  it('given by --port-base but kept by another cluster are an error that names the cluster', async () => {
    const [free] = (await chosen(1)) as [number]
    keep('asleep', [free])
    await expect(chosen(1, 'new', free)).rejects.toMatchObject({
      code: 'KX_PORT_TAKEN',
      message: `Port ${free} is taken: cluster "asleep", which is down, keeps it.`,
    })
    expect(await chosen(1, 'asleep', free)).toEqual([free])
  })

  it.each([80, 65_530, 1.5, Number.NaN])('can not begin at %s', async base => {
    await expect(chosen(9, 'new', base)).rejects.toMatchObject({code: 'KX_PORT_BASE', exit: 2})
  })

  it('begin elsewhere for another state folder, in whole tens', () => {
    const begins = ['/a', '/b', '/c', '/d'].map(firstPort)
    expect(new Set(begins).size).toBe(4)
    for (const port of begins) expect([port % 10, port >= 19_000, port < 30_000]).toEqual([0, true, true])
    expect(firstPort(stateFolder())).toBe(firstPort(stateFolder()))
  })

  it('are never the same for two kx processes that start at once', async () => {
    const source = (file: string) => JSON.stringify(new URL(`../../../src/cluster/${file}`, import.meta.url).pathname)
    const script = `
      import {choosePorts} from ${source('ports.ts')}
      import {saveState} from ${source('state.ts')}
      const name = process.argv[2]
      const ports = await choosePorts({count: 9, name}, found => {
        saveState({schema: 'kx/cluster/1', name, runtime: 'local', spec: ${JSON.stringify(defaultSpec)}, clusterId: 'i', ephemeral: true,
          owner: {pid: 1, startTime: '1', user: 'u', host: 'h'}, createdAt: 'now', phase: 'starting', nodes: [], detail: {ports: found.join(',')}})
        return found
      })
      process.stdout.write(JSON.stringify(ports))`
    const file = join(home, 'child.mts')
    writeFileSync(file, script)
    const answers = await Promise.all(
      ['a', 'b', 'c'].map(async name => {
        const child = spawn(process.execPath, ['--import', 'tsx', file, name], {stdio: ['ignore', 'pipe', 'inherit']})
        let text = ''
        for await (const chunk of child.stdout) text += chunk
        return JSON.parse(text) as number[]
      }),
    )
    expect(new Set(answers.flat()).size).toBe(27)
  })
})

describe('the owner of a port', () => {
  it('is the process that listens on it', async () => {
    const port = await listen()
    expect(await portOwner(port)).toMatch(new RegExp(`\\(pid ${process.pid}\\) listens on it$`))
  })

  it('is unknown where nobody can be seen', async () => {
    const [free] = (await chosen(1)) as [number]
    expect(await portOwner(free)).toBe('a process that this user may not see listens on it')
  })

  it('is looked up by the inode of the listening socket, not of a connection', () => {
    const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4A38 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0000 100 0 0 10 0
   1: 0100007F:4A38 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4343 1 0000 20 4 30 10 -1
   2: 0100007F:4A39 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4444 1 0000 100 0 0 10 0`
    expect(parseListening(table, 19_000)).toEqual(['4242'])
    expect(parseListening(table, 19_001)).toEqual(['4444'])
    expect(parseListening(table, 19_002)).toEqual([])
  })
})
