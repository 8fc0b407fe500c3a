import {describe, expect, it} from 'vitest'
import {type EngineFacts, type EngineInfo, engineFindings, engineInfo} from '../../../../src/cluster/doctor/engine.js'
import type {Host} from '../../../../src/cluster/doctor/host.js'

const debian: Host = {system: 'linux', manager: 'apt-get', root: false}
const macos: Host = {system: 'macos', manager: 'brew', root: false}
const socket = {endpoint: {host: 'unix:///var/run/docker.sock', source: 'context default'}}
const desktop = {endpoint: {host: 'unix:///Users/ann/.docker/run/docker.sock', source: 'context desktop-linux'}}

/** `docker info` of a plain engine of Debian, as recorded, without what kx does not look at. */
const plain: EngineInfo = {
  ServerVersion: '26.1.5+dfsg1',
  OSType: 'linux',
  OperatingSystem: 'Debian GNU/Linux 12 (bookworm)',
  Architecture: 'x86_64',
  CgroupDriver: 'cgroupfs',
  CgroupVersion: '1',
  DefaultRuntime: 'runc',
  MemTotal: 25_276_059_648,
  SecurityOptions: ['name=seccomp,profile=builtin'],
}

const good: EngineFacts = {
  host: debian,
  cli: 'there',
  resolved: socket,
  info: plain,
  said: '',
  server: 'Engine',
  compose: '2.26.1-4',
  image: {name: 'apache/kafka:4.4.0', architecture: 'amd64'},
}

const told = (facts: Partial<EngineFacts>) => engineFindings({...good, ...facts})
const one = (facts: Partial<EngineFacts>, id = 'docker-engine') => {
  const found = told(facts).filter(finding => finding.id === id)
  expect(found).toHaveLength(1)
  return found[0]
}
const withInfo = (more: Partial<EngineInfo>) => ({info: {...plain, ...more}})
/** The engine did not answer, and Docker's CLI said this on stderr. */
const silent = (said: string, more: Partial<EngineFacts> = {}) => ({info: {}, said, ...more})

describe('a good engine', () => {
  it('has nothing against it', () => {
    expect(told({})).toEqual([
      {
        id: 'docker-engine',
        level: 'ok',
        what: 'The Docker engine is 26.1.5+dfsg1 (Debian GNU/Linux 12 (bookworm), context default).',
      },
      {id: 'docker-pause', level: 'ok', what: 'Containers can be paused.'},
      {id: 'compose', level: 'ok', what: 'Docker Compose is 2.26.1-4.'},
      {id: 'image', level: 'ok', what: 'The image apache/kafka:4.4.0 is here.'},
    ])
  })
})

describe('without an engine', () => {
  it('no docker command is the first thing that is missing, and the only one said', () => {
    expect(told({cli: 'missing'})).toEqual([
      {
        id: 'docker-cli',
        level: 'warning',
        what: 'There is no docker command on the PATH.',
        cure: 'sudo apt-get install docker.io',
        affects: '--runtime docker',
        blocks: 'docker',
      },
    ])
    expect(one({cli: 'missing', host: macos}, 'docker-cli')?.cure).toBe('brew install --cask docker')
    expect(one({cli: 'missing', host: {system: 'other', root: false}}, 'docker-cli')?.cure).toMatch(/^Install Docker/)
  })

  it("the hint of Docker Desktop in a WSL distribution is not taken for Docker's CLI", () => {
    expect(one({cli: 'wsl-stub'}, 'docker-cli')?.cure).toContain('WSL integration')
  })

  // The words of Docker's CLI in several versions.
  it.each([
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'],
    [
      'failed to connect to the docker API at unix:///var/run/docker.sock; check if the path is correct and if the daemon is running: dial unix /var/run/docker.sock: connect: no such file or directory',
    ],
    [
      'ERROR: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\nerrors pretty printing info',
    ],
    [''],
  ])('a daemon that does not run is started with systemctl: "%s"', said => {
    expect(one(silent(said))).toMatchObject({
      level: 'warning',
      what: 'No Docker engine answers at unix:///var/run/docker.sock (context default).',
      cure: 'sudo systemctl start docker  (without systemd: sudo service docker start)',
      blocks: 'docker',
    })
  })

  it('errors that stand in the JSON itself count too', () => {
    const info = engineInfo.parse({
      ID: '',
      Containers: 0,
      ServerErrors: ['permission denied while trying to connect to the docker API at unix:///var/run/docker.sock'],
      ClientInfo: {},
    })
    expect(one({info, said: ''})?.what).toContain('You may not use')
  })

  it.each([
    [
      'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.47/info": dial unix /var/run/docker.sock: connect: permission denied',
    ],
    ['Got permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock'],
  ])('a socket that may not be used is a matter of groups, not of a daemon: "%s"', said => {
    expect(one(silent(said))).toMatchObject({
      what: 'You may not use the Docker engine at unix:///var/run/docker.sock (context default).',
      cure: expect.stringMatching(/^sudo usermod -aG docker "\$USER"/),
      blocks: 'docker',
    })
  })

  it('Docker Desktop that is not started is named and started', () => {
    const said =
      'Cannot connect to the Docker daemon at unix:///Users/ann/.docker/run/docker.sock. Is the docker daemon running?'
    expect(one(silent(said, {host: macos, resolved: desktop}))).toMatchObject({
      what: 'Docker Desktop is not started: nothing answers at unix:///Users/ann/.docker/run/docker.sock (context desktop-linux).',
      cure: 'open -a Docker',
    })
    const onLinux = {endpoint: {host: 'unix:///home/ann/.docker/desktop/docker.sock', source: 'context desktop-linux'}}
    expect(one(silent('', {resolved: onLinux}))).toMatchObject({
      what: expect.stringMatching(/^Docker Desktop is not started/),
      cure: 'systemctl --user start docker-desktop',
    })
  })

  it('Docker Desktop on Windows is known by the words of its pipe', () => {
    const pipe = {endpoint: {host: 'npipe:////./pipe/docker_engine', source: 'context default'}}
    const windows: Host = {system: 'windows', root: false}
    const notStarted =
      'error during connect: in the default daemon configuration on Windows, the docker client must be run with elevated privileges to connect: open //./pipe/docker_engine: The system cannot find the file specified.'
    expect(one(silent(notStarted, {host: windows, resolved: pipe}))).toMatchObject({
      what: expect.stringMatching(/^Docker Desktop is not started/),
      cure: 'Start Docker Desktop',
    })
    const denied = 'error during connect: open //./pipe/docker_engine: Access is denied.'
    expect(one(silent(denied, {host: windows, resolved: pipe}))?.cure).toContain('docker-users')
  })

  it.each([
    ['unix:///Users/ann/.colima/default/docker.sock', macos, 'colima start'],
    ['unix:///Users/ann/.orbstack/run/docker.sock', macos, 'orb start'],
    ['unix:///Users/ann/.rd/docker.sock', macos, 'rdctl start'],
    ['unix:///Users/ann/.local/share/containers/podman/machine/podman.sock', macos, 'podman machine start'],
    ['unix:///run/user/1000/podman/podman.sock', debian, 'systemctl --user start podman.socket'],
    ['unix:///run/user/1000/docker.sock', debian, 'systemctl --user start docker'],
    [
      'unix:///var/run/docker.sock',
      {system: 'wsl2', root: false} as Host,
      'Start Docker Desktop on Windows, or here: sudo service docker start',
    ],
    [
      'unix:///var/run/docker.sock',
      {...debian, root: true},
      'systemctl start docker  (without systemd: service docker start)',
    ],
  ])('at %s the cure is the command of what listens there', (host, system, cure) => {
    const found = one(silent('', {host: system, resolved: {endpoint: {host, source: 'DOCKER_HOST'}}}))
    expect(found?.cure).toBe(cure)
    expect(found?.what).toBe(`No Docker engine answers at ${host} (DOCKER_HOST).`)
  })

  it('an engine that accepts and then hangs is restarted, not started', () => {
    expect(one({info: {}, said: 'The engine did not answer.'})).toMatchObject({
      what: expect.stringContaining('accepts connections, but does not answer'),
      cure: 'sudo systemctl restart docker  (without systemd: sudo service docker restart)',
    })
  })

  it('an engine on another host is an obstacle by name', () => {
    const obstacle =
      'The Docker engine is on another host (ssh://ann@build, from DOCKER_HOST): its brokers would not be reachable at 127.0.0.1.'
    expect(one({resolved: {obstacle}})).toEqual({
      id: 'docker-engine',
      level: 'warning',
      what: obstacle,
      cure: 'unset DOCKER_HOST DOCKER_CONTEXT; docker context use default',
      affects: '--runtime docker',
      blocks: 'docker',
    })
  })

  it('a quarrel about TLS is no missing daemon', () => {
    expect(one(silent('Error response from daemon: Client sent an HTTP request to an HTTPS server.'))?.cure).toContain(
      'DOCKER_TLS_VERIFY',
    )
  })
})

describe('an engine that answers', () => {
  it.each([
    ['19.03.15', false],
    ['20.10.0', true],
    ['20.10.24+dfsg1', true],
    ['28.2.2', true],
    ['29.0.0-rc.1', true],
  ])('of version %s is new enough: %s', (ServerVersion, expected) => {
    const found = one(withInfo({ServerVersion}))
    expect(found?.blocks).toBe(expected ? undefined : 'docker')
    if (!expected) expect(found?.what).toBe('The Docker engine is 19.03.15, and kx needs 20.10 or later.')
  })

  it('with Windows containers can not run Kafka', () => {
    expect(one(withInfo({OSType: 'windows'}))).toMatchObject({
      blocks: 'docker',
      cure: expect.stringContaining('Switch to Linux containers'),
    })
  })

  it('that is Podman is said to be, and not measured by the versions of Docker', () => {
    const found = one({...withInfo({ServerVersion: '4.9.3', OperatingSystem: 'fedora'}), server: 'Podman Engine'})
    expect(found).toMatchObject({level: 'warning', what: expect.stringMatching(/^The engine is Podman 4\.9\.3/)})
    expect(found?.blocks).toBeUndefined()
  })

  it.each([
    [
      'rootless, cgroup 2 without systemd',
      {
        SecurityOptions: ['name=seccomp,profile=builtin', 'name=rootless', 'name=cgroupns'],
        CgroupVersion: '2',
        CgroupDriver: 'none',
      },
      'Engine',
      false,
    ],
    [
      'rootless, cgroup 2 with cgroupfs',
      {SecurityOptions: ['name=rootless'], CgroupVersion: '2', CgroupDriver: 'cgroupfs'},
      'Engine',
      false,
    ],
    [
      'rootless, cgroup 1',
      {SecurityOptions: ['name=rootless'], CgroupVersion: '1', CgroupDriver: 'none'},
      'Engine',
      false,
    ],
    [
      'rootless, cgroup 2 with systemd',
      {SecurityOptions: ['name=rootless', 'name=cgroupns'], CgroupVersion: '2', CgroupDriver: 'systemd'},
      'Engine',
      true,
    ],
    [
      'rootless Podman, cgroup 1',
      {SecurityOptions: ['name=rootless'], CgroupVersion: '1', CgroupDriver: 'cgroupfs'},
      'Podman Engine',
      false,
    ],
    ['gVisor', {DefaultRuntime: 'runsc'}, 'Engine', false],
    ['with the privileges of root, cgroup 1', {}, 'Engine', true],
    [
      'of a desktop',
      {
        OperatingSystem: 'Docker Desktop',
        CgroupVersion: '2',
        CgroupDriver: 'cgroupfs',
        SecurityOptions: ['name=seccomp,profile=unconfined', 'name=cgroupns'],
      },
      'Engine',
      true,
    ],
  ])('%s', (_what, info, server, pauses) => {
    const found = one({...withInfo(info), server}, 'docker-pause')
    expect(found?.level).toBe(pauses ? 'ok' : 'warning')
    expect(found?.affects).toBe(pauses ? undefined : 'data-loss would be inconclusive with --runtime docker')
    expect(found?.blocks).toBeUndefined()
  })

  it.each([
    ['2.26.1-4', true],
    ['v2.20.0', true],
    ['2.19.9', false],
    ['1.29.2', false],
    [undefined, false],
  ])('needs Compose 2.20 or later: %s is %s', (compose, expected) => {
    const {compose: _, ...without} = good
    const found = engineFindings(compose === undefined ? without : {...good, compose}).find(({id}) => id === 'compose')
    expect(found?.level).toBe(expected ? 'ok' : 'warning')
    expect(found?.blocks).toBe(expected ? undefined : 'docker')
    if (!expected) expect(found?.cure).toMatch(/^sudo apt-get install docker-compose-v2/)
  })

  it.each([
    ['amd64', 'x86_64', true],
    ['arm64', 'aarch64', true],
    ['amd64', 'aarch64', false],
    ['arm64', 'x86_64', false],
  ])('an image for %s on %s is good: %s', (architecture, Architecture, expected) => {
    const found = one({...withInfo({Architecture}), image: {name: 'apache/kafka:4.4.0', architecture}}, 'image')
    expect(found?.level).toBe(expected ? 'ok' : 'warning')
    expect(found?.blocks).toBe(expected ? undefined : 'docker')
    if (!expected)
      expect(found?.cure).toMatch(/^docker image rm apache\/kafka:4\.4\.0 && docker pull --platform linux\//)
  })

  it('without an image may still pull or build one, or else says why not', () => {
    const {image: _, ...none} = good
    expect(engineFindings(none).find(({id}) => id === 'image')).toMatchObject({
      level: 'ok',
      what: 'The image is pulled or built at the first start.',
    })
    expect(one({image: {obstacle: 'No image to run: apache/kafka:9.9.9 is not here.'}}, 'image')).toMatchObject({
      level: 'warning',
      blocks: 'docker',
    })
  })
})
