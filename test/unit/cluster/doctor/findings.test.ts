import {describe, expect, it} from 'vitest'
import {nodeFinding, ok, settled, warning} from '../../../../src/cluster/doctor/finding.js'
import {type Host, install, systemFinding, systemOf} from '../../../../src/cluster/doctor/host.js'
import {jarsFinding, javaFindings} from '../../../../src/cluster/doctor/java.js'
import {
  folderFinding,
  limitFindings,
  memoryFindings,
  portsFinding,
  processorFinding,
} from '../../../../src/cluster/doctor/machine.js'
import {parseLimits, parseMeminfo, parseVmStat} from '../../../../src/cluster/doctor/machine-probe.js'
import {defaultSpec} from '../../../../src/cluster/spec.js'

const debian: Host = {system: 'linux', manager: 'apt-get', root: false}
const macos: Host = {system: 'macos', manager: 'brew', root: false}
const gibibyte = 1_073_741_824

describe('the verdict of all findings', () => {
  const noDocker = warning('docker-cli', 'no docker', {blocks: 'docker'})
  const noJava = warning('java', 'no java', {blocks: 'local'})

  it('names the runtime that auto takes', () => {
    expect(settled([ok('java', '')]).at(-1)?.what).toBe(
      'Clusters start with --runtime docker, and --runtime local works too.',
    )
    expect(settled([noDocker]).at(-1)?.what).toBe('Clusters start with --runtime local; docker does not work here.')
    expect(settled([noJava]).at(-1)?.what).toBe('Clusters start with --runtime docker; local does not work here.')
  })

  it('leaves what blocks one runtime a warning while the other works', () => {
    expect(settled([noJava]).map(({level}) => level)).toEqual(['warning', 'ok'])
  })

  it('makes problems of all that blocks when nothing is left', () => {
    expect(settled([noDocker, noJava, warning('swap', 'x')]).map(({id, level}) => `${id} ${level}`)).toEqual([
      'docker-cli problem',
      'java problem',
      'swap warning',
      'runtime problem',
    ])
    expect(settled([warning('folder-state', 'x', {blocks: 'all'})]).map(({level}) => level)).toEqual([
      'problem',
      'problem',
    ])
  })
})

describe('Node', () => {
  it.each([
    ['20.20.0', 'ok'],
    ['24.1.0', 'ok'],
    ['20.19.5', 'problem'],
    ['18.20.4', 'problem'],
  ])('%s is %s', (version, level) => {
    expect(nodeFinding(version).level).toBe(level)
  })
})

describe('Java', () => {
  const found = {version: '17.0.15', executable: '/usr/bin/java'}
  const none = {
    code: 'KX_NO_JAVA',
    message: 'Kafka needs a Java runtime, and there is no java in JAVA_HOME or the PATH.',
  }

  it('of a good version is ok', () => {
    expect(javaFindings({host: debian, found, onlyStub: false})).toEqual([
      {id: 'java', level: 'ok', what: 'Java is 17.0.15 (/usr/bin/java).'},
    ])
  })

  it('that is missing or too old blocks the local runtime, with the command that installs one', () => {
    for (const error of [
      none,
      {code: 'KX_OLD_JAVA', message: 'Kafka 4 needs Java 17 or later, but /usr/bin/java is version 11.0.2.'},
    ]) {
      expect(javaFindings({host: debian, found: error, onlyStub: false})).toEqual([
        {
          id: 'java',
          level: 'warning',
          what: error.message,
          cure: 'sudo apt-get install openjdk-17-jre-headless',
          affects: '--runtime local',
          blocks: 'local',
        },
      ])
    }
  })

  it("that is only macOS's stub is named as such", () => {
    const [finding] = javaFindings({host: macos, found: none, onlyStub: true})
    expect(finding).toMatchObject({
      blocks: 'local',
      cure: 'brew install openjdk; export JAVA_HOME="$(brew --prefix openjdk)"',
    })
    expect(finding?.what).toContain('it opens a dialog')
  })

  it('that JAVA_HOME does not hold is said even if another one is found, because Maven needs it', () => {
    const findings = javaFindings({host: debian, found, onlyStub: false, javaHome: {path: '/opt/gone', hasJava: false}})
    expect(findings[0]).toEqual({
      id: 'java-home',
      level: 'warning',
      what: 'JAVA_HOME is /opt/gone, where there is no bin/java; kx takes /usr/bin/java.',
      cure: 'unset JAVA_HOME, or let it name a Java runtime',
      affects: 'Maven does not start with it',
    })
    expect(findings[1]?.level).toBe('ok')
  })
})

describe('the jars', () => {
  const at = (outlook: Parameters<typeof jarsFinding>[0]['outlook']) =>
    jarsFinding({host: debian, version: '4.4.0', outlook})

  it('may be here, or come from Maven', () => {
    expect(at({from: 'home', place: '/opt/kafka'})).toMatchObject({level: 'ok', what: 'Kafka 4.4.0 is in /opt/kafka.'})
    expect(at({from: 'cache'}).level).toBe('ok')
    expect(at({from: 'maven'}).level).toBe('ok')
  })

  it('without Maven come from the archive, which is worth a warning', () => {
    expect(at({from: 'archive', place: 'archive.apache.org'})).toMatchObject({
      level: 'warning',
      cure: 'sudo apt-get install maven  (fetches less)',
    })
    expect(at({from: 'archive', place: 'archive.apache.org'}).blocks).toBeUndefined()
  })

  it('that come from nowhere block the local runtime', () => {
    expect(at({from: 'nowhere', obstacle: 'The folder /c is full.'})).toMatchObject({
      level: 'warning',
      what: 'The folder /c is full.',
      blocks: 'local',
    })
  })
})

describe('the system', () => {
  it.each([
    ['linux', 'Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)', 'linux'],
    ['linux', 'Linux version 5.15.153.1-microsoft-standard-WSL2 (root@941d701f84f1)', 'wsl2'],
    ['linux', 'Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)', 'wsl1'],
    ['darwin', '', 'macos'],
    ['win32', '', 'windows'],
    ['freebsd', '', 'other'],
  ] as const)('%s with "%s" is %s', (platform, kernel, expected) => {
    expect(systemOf(platform, kernel)).toBe(expected)
  })

  it('says what does not work there', () => {
    const level = (system: Host['system'], state = '/home/ann/.local/state/kx') =>
      systemFinding({system, root: false}, state)
    expect(level('linux').level).toBe('ok')
    expect(level('macos').level).toBe('ok')
    expect(level('wsl2').level).toBe('ok')
    expect(level('wsl2', '/mnt/c/Users/ann/kx')).toMatchObject({
      level: 'warning',
      blocks: 'local',
      cure: 'export XDG_STATE_HOME="$HOME/.local/state"',
    })
    expect(level('wsl1')).toMatchObject({level: 'warning', cure: 'wsl --set-version <distribution> 2'})
    expect(level('windows')).toMatchObject({level: 'problem', blocks: 'local'})
    expect(level('other').level).toBe('warning')
  })

  it('says how its package manager installs a thing', () => {
    expect(install('java', {system: 'linux', manager: 'dnf', root: true})).toBe('dnf install java-21-openjdk-headless')
    expect(install('maven', {system: 'linux', manager: 'apk', root: false})).toBe('sudo apk add maven')
    expect(install('java', macos)).toBe('brew install openjdk')
    expect(install('compose', {system: 'linux', root: false})).toMatch(/^Install the Compose plugin/)
  })
})

describe('memory', () => {
  const facts = {available: 8 * gibibyte, total: 16 * gibibyte, swapUsed: 0}
  const ids = (more: object) => memoryFindings({...facts, ...more}, defaultSpec).map(({id, level}) => `${id} ${level}`)

  it('that suffices is told with what the nodes need', () => {
    expect(memoryFindings(facts, defaultSpec)).toEqual([
      {
        id: 'memory',
        level: 'ok',
        what: '8.0 GiB of 16.0 GiB memory are free; 3 brokers and 3 controllers take about 1.2 GiB, at most 3.1 GiB.',
      },
    ])
  })

  it.each([
    ['too little is free', {available: gibibyte}, ['memory warning']],
    ["the desktop's virtual machine is small", {engine: 2 * gibibyte}, ['memory ok', 'docker-memory warning']],
    ['the engine has enough', {engine: 8 * gibibyte}, ['memory ok']],
    ['the machine is swapping', {available: 2 * gibibyte, swapUsed: gibibyte}, ['memory ok', 'swap warning']],
    ['old things were swapped out, and much is free', {swapUsed: gibibyte}, ['memory ok']],
  ])('%s', (_what, more, expected) => {
    expect(ids(more)).toEqual(expected)
  })

  it('is asked for by the cluster that is wanted', () => {
    const small = {...defaultSpec, controllers: 0, heapMiB: 256}
    expect(memoryFindings({...facts, available: gibibyte}, small)[0]?.level).toBe('ok')
  })

  it('is read from /proc/meminfo and vm_stat', () => {
    const meminfo =
      'MemTotal:       24683652 kB\nMemFree:        10000000 kB\nMemAvailable:   21613028 kB\nSwapTotal:       1048576 kB\nSwapFree:         524288 kB\n'
    expect(parseMeminfo(meminfo)).toEqual({
      available: 21_613_028 * 1_024,
      total: 24_683_652 * 1_024,
      swapUsed: 524_288 * 1_024,
    })
    const vmStat =
      'Mach Virtual Memory Statistics: (page size of 16384 bytes)\nPages free:                               10000.\nPages active:                            300000.\nPages inactive:                          200000.\nPages speculative:                         5000.\nPages purgeable:                           1000.\n'
    expect(parseVmStat(vmStat)).toBe(216_000 * 16_384)
    expect(parseVmStat('')).toBeUndefined()
  })
})

describe('a folder', () => {
  const state = {name: 'state', folder: '/home/ann/.local/state/kx', free: 50 * gibibyte, variable: 'XDG_STATE_HOME'}

  it('with room is ok', () => {
    expect(folderFinding(state)).toEqual({
      id: 'folder-state',
      level: 'ok',
      what: '/home/ann/.local/state/kx (clusters and their data): 50.0 GiB are free.',
    })
  })

  it.each([
    ['EROFS', 'its file system is read-only'],
    ['EACCES', 'you may not write there'],
    ['ENOTDIR', 'a file is in the way'],
    ['EIO', 'EIO'],
  ])('that fails with %s says so, and blocks everything if it is that of the clusters', (obstacle, why) => {
    expect(folderFinding({...state, obstacle})).toMatchObject({
      what: `/home/ann/.local/state/kx (clusters and their data) can't be written: ${why}.`,
      cure: 'export XDG_STATE_HOME=/another/folder',
      blocks: 'all',
    })
    const results = folderFinding({name: 'results', folder: '/r', free: 0, obstacle})
    expect(results).toMatchObject({level: 'warning', cure: '--results /another/folder'})
    expect(results.blocks).toBeUndefined()
  })

  it('whose disk is nearly full, of bytes or of files, is a warning', () => {
    expect(folderFinding({...state, free: gibibyte / 2})).toMatchObject({
      level: 'warning',
      what: expect.stringContaining('512.0 MiB are free'),
    })
    expect(folderFinding({...state, freeFiles: 12})).toMatchObject({
      level: 'warning',
      what: expect.stringContaining('12 more files'),
    })
    expect(folderFinding({...state, freeFiles: 1_000_000}).level).toBe('ok')
  })
})

describe('ports', () => {
  it.each([
    ['Linux', {first: 32_768, last: 60_999}, 'ok'],
    ['macOS', {first: 49_152, last: 65_535}, 'ok'],
    ['a tuned server', {first: 1_024, last: 65_535}, 'warning'],
    ['a range that ends in them', {first: 10_000, last: 19_000}, 'warning'],
    ['a range that begins in them', {first: 29_999, last: 60_000}, 'warning'],
    ['a range just above', {first: 30_000, last: 60_000}, 'ok'],
  ])('and the ephemeral range of %s', (_what, ephemeral, level) => {
    const found = portsFinding({ephemeral, freeBlock: true})
    expect(found.level).toBe(level)
    if (level === 'warning') expect(found.cure).toContain('sysctl -w net.ipv4.ip_local_port_range')
  })

  it('that are all taken leave nothing for a cluster', () => {
    expect(portsFinding({freeBlock: false})).toMatchObject({level: 'warning', affects: 'no cluster can get its ports'})
  })
})

describe('limits', () => {
  it('are read from /proc/self/limits', () => {
    const text = `Limit                     Soft Limit           Hard Limit           Units     
Max processes             96419                96419                processes 
Max open files            1024                 1048576              files     
`
    expect(parseLimits(text)).toEqual({openFiles: 1_024, processes: 96_419})
    expect(parseLimits('Max open files            unlimited            unlimited            files')).toEqual({})
  })

  it('that are too low are told with the command that raises them', () => {
    const {root: _, ...system} = debian
    expect(limitFindings({openFiles: 1_024, processes: 500}, debian).map(({id, cure}) => `${id}: ${cure}`)).toEqual([
      'open-files: ulimit -n 65536',
      'processes: ulimit -u 8192',
    ])
    expect(limitFindings({openFiles: 256}, macos)[0]?.cure).toBe('ulimit -n 10240')
    expect(limitFindings({openFiles: 1_048_576, processes: 500}, {...system, root: true})).toMatchObject([
      {id: 'limits', level: 'ok'},
    ])
    expect(limitFindings({}, debian)).toMatchObject([{id: 'limits', level: 'ok'}])
  })

  it('of one processor are a warning', () => {
    expect(processorFinding(1).level).toBe('warning')
    expect(processorFinding(2).level).toBe('ok')
  })
})
