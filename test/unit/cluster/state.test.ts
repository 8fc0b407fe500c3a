import {existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import type {ClusterState} from '../../../src/cluster/cluster.js'
import {defaultSpec} from '../../../src/cluster/spec.js'
import {
  checkName,
  clusterFolder,
  inStateFolder,
  listStates,
  loadState,
  lockCluster,
  removeState,
  saveState,
  stateFolder,
  updateState,
} from '../../../src/cluster/state.js'

const before = process.env.XDG_STATE_HOME
let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kx-state-'))
  process.env.XDG_STATE_HOME = home
})
afterEach(() => {
  if (before === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = before
  rmSync(home, {recursive: true, force: true})
})

function stateNamed(name: string, change: Partial<ClusterState> = {}): ClusterState {
  return {
    schema: 'kx/cluster/1',
    name,
    runtime: 'local',
    spec: defaultSpec,
    clusterId: 'R29sZEZpeHR1cmVDNDAyeA',
    ephemeral: false,
    owner: {pid: 1, startTime: '5@abcdef01', user: 'ada', host: 'engine'},
    createdAt: '2025-11-29T19:36:01.000Z',
    phase: 'up',
    nodes: [
      {nodeId: 1, roles: ['broker'], address: '127.0.0.1:19000', pid: 7, startTime: '6@abcdef01', logDir: '/d/1'},
    ],
    detail: {folder: '/d'},
    ...change,
  }
}

describe('the state folder', () => {
  it('follows XDG_STATE_HOME, ignores a relative one, and has a place on each system', () => {
    expect(stateFolder({XDG_STATE_HOME: '/s', HOME: '/home/ada'}, 'linux')).toBe('/s/kx')
    expect(stateFolder({XDG_STATE_HOME: 's', HOME: '/home/ada'}, 'linux')).toBe('/home/ada/.local/state/kx')
    expect(stateFolder({HOME: '/Users/ada'}, 'darwin')).toBe('/Users/ada/Library/Application Support/kx')
  })
})

describe('a cluster state', () => {
  it('comes back as it was saved', () => {
    saveState(stateNamed('a'))
    expect(loadState('a')).toEqual(stateNamed('a'))
    expect(readdirSync(clusterFolder('a'))).toEqual(['cluster.json'])
  })

  it('is undefined where there is none', () => {
    expect(loadState('nobody')).toBeUndefined()
  })

  it('is changed in one step, and not made by a change', () => {
    saveState(stateNamed('a'))
    updateState('a', state => ({...state, phase: 'down'}))
    updateState('b', state => ({...state, phase: 'down'}))
    expect(loadState('a')?.phase).toBe('down')
    expect(existsSync(clusterFolder('b'))).toBe(false)
  })

  it('goes with all that lies beside it', () => {
    saveState(stateNamed('a'))
    mkdirSync(join(clusterFolder('a'), 'nodes', '1', 'data'), {recursive: true})
    removeState('a')
    expect(existsSync(clusterFolder('a'))).toBe(false)
    removeState('a')
  })

  it.each([
    ['no JSON', '{"schema": "kx/clu'],
    ['JSON of another shape', '{"schema": "kx/cluster/1", "name": "a"}'],
    ['a later schema', JSON.stringify({...stateNamed('a'), schema: 'kx/cluster/2'})],
  ])('that is damaged (%s) is an error that names the file and the cure', (_, text) => {
    mkdirSync(clusterFolder('a'), {recursive: true})
    writeFileSync(join(clusterFolder('a'), 'cluster.json'), text)
    expect(() => loadState('a')).toThrow(
      expect.objectContaining({
        code: 'KX_CLUSTER_STATE',
        exit: 4,
        message: expect.stringContaining(join(clusterFolder('a'), 'cluster.json')),
        suggestions: [expect.stringContaining('kx down --name a --wipe')],
      }),
    )
  })

  it('that is damaged is listed as unreadable and hides no other', () => {
    saveState(stateNamed('good'))
    mkdirSync(clusterFolder('bad'), {recursive: true})
    writeFileSync(join(clusterFolder('bad'), 'cluster.json'), '')
    const {states, unreadable} = listStates()
    expect(states.map(({name}) => name)).toEqual(['good'])
    expect(unreadable.map(({code}) => code)).toEqual(['KX_CLUSTER_STATE'])
  })
})

describe('the name of a cluster', () => {
  it.each(['default', 'x-20251129-193601-data-loss', 'a', '9_lives'])('may be %s', name => {
    expect(checkName(name)).toBe(name)
  })

  it.each(['', '..', 'a/b', '../a', 'Größe', 'UPPER', '-a', '_a', 'a b', 'a\n', 'x'.repeat(64), '$(reboot)', 'a.b'])(
    'may not be %j: the rule is told',
    name => {
      expect(() => checkName(name)).toThrow(
        expect.objectContaining({code: 'KX_CLUSTER_NAME', exit: 2, suggestions: [expect.stringContaining('a–z')]}),
      )
    },
  )
})

describe('a cluster that is locked', () => {
  it('is refused to a second experiment, which is told who has it', async () => {
    using _lock = await lockCluster('a', 'kx experiment data-loss')
    await expect(lockCluster('a', 'kx experiment failover')).rejects.toMatchObject({
      code: 'KX_CLUSTER_BUSY',
      exit: 4,
      message: expect.stringMatching(new RegExp(`kx experiment data-loss \\(pid ${process.pid}\\)`)),
    })
  })

  it('is free again afterwards', async () => {
    {
      using _lock = await lockCluster('a', 'first')
    }
    using lock = await lockCluster('a', 'second')
    expect(existsSync(lock.path)).toBe(true)
  })
})

describe('a state folder that can not be used', () => {
  it.runIf(process.platform === 'linux')('because the disk is full is an error with both ways out', () => {
    mkdirSync(clusterFolder('a'), {recursive: true})
    // The kernel itself says ENOSPC to whoever writes to /dev/full.
    symlinkSync('/dev/full', join(clusterFolder('a'), `cluster.json.${process.pid}.tmp`))
    expect(() => saveState(stateNamed('a'))).toThrow(
      expect.objectContaining({
        code: 'KX_STATE_FOLDER',
        exit: 4,
        message: expect.stringContaining('the disk is full (ENOSPC)'),
        suggestions: [expect.stringContaining('Make room'), expect.stringContaining('export XDG_STATE_HOME=')],
      }),
    )
    expect(readdirSync(clusterFolder('a'))).toEqual([])
  })

  it('because a file is in the way is an error with a way out', async () => {
    const file = join(home, 'file')
    writeFileSync(file, '')
    process.env.XDG_STATE_HOME = file
    const refusal = {code: 'KX_STATE_FOLDER', exit: 4, suggestions: [expect.stringContaining('XDG_STATE_HOME')]}
    expect(() => saveState(stateNamed('a'))).toThrow(expect.objectContaining(refusal))
    await expect(lockCluster('a', 'test')).rejects.toMatchObject(refusal)
  })

  it.each(['EROFS', 'EACCES', 'EPERM', 'EDQUOT'])('because of %s is an error with a way out', code => {
    const failing = () => {
      throw Object.assign(new Error(`${code}: it failed`), {code})
    }
    expect(() => inStateFolder('/home/ada/.local/state/kx', failing)).toThrow(
      expect.objectContaining({
        code: 'KX_STATE_FOLDER',
        exit: 4,
        message: expect.stringContaining(`/home/ada/.local/state/kx can't be written`),
      }),
    )
  })

  it('leaves errors that are no matter of the disk as they are', () => {
    const bug = new TypeError('x is not a function')
    expect(() =>
      inStateFolder('/s', () => {
        throw bug
      }),
    ).toThrow(bug)
  })
})
