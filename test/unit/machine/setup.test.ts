import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {BareMachine} from './bare-machine.js'

let machine: BareMachine
beforeEach(() => {
  machine = new BareMachine()
})
afterEach(() => machine.remove())

const lines = (text: string) => text.trimEnd().split('\n')

describe('setup on a machine without a runtime', () => {
  it('would install a JRE and Maven, and --dry-run calls nothing that changes the machine', () => {
    machine.apt()
    const {status, stdout, stderr} = machine.setup(['--dry-run'])
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(lines(stdout)).toEqual([
      `setup: Node ${process.versions.node}`,
      'setup: npm packages are those of package-lock.json',
      'setup: dist/ is newer than the sources',
      'setup: neither a Docker engine nor Java is there',
      'setup: would install with apt-get: openjdk-17-jre-headless maven (Java 17 or later, and Maven for the jars of Kafka)',
      'setup: 1 to do; nothing was changed (--dry-run)',
    ])
    expect(machine.calls('apt-get')).toEqual([])
    expect(machine.calls('npm')).toEqual([])
  })

  it('installs them where there is no terminal to ask on, and a second run has nothing to do', () => {
    machine.apt()
    const first = machine.setup([])
    expect(first.stderr).toBe('')
    expect(first.status).toBe(0)
    expect(lines(first.stdout).at(-1)).toBe('setup: ready. Next: bin/kx.js experiment data-loss')
    const installs = machine.calls('apt-get').filter(call => call.includes('install'))
    expect(installs).toHaveLength(1)
    expect(installs[0]).toMatch(/install -y --no-install-recommends openjdk-17-jre-headless maven$/)

    const second = machine.setup([])
    expect(second.status).toBe(0)
    expect(lines(second.stdout).at(-1)).toBe('setup: nothing to do')
    expect(machine.calls('apt-get').filter(call => call.includes('install'))).toHaveLength(1)
  })

  it('says that Java 11 is too old and would install another one', () => {
    machine.apt().java('11.0.2')
    const {status, stdout} = machine.setup(['--dry-run'])
    expect(status).toBe(0)
    expect(stdout).toContain('setup: Java is 11.0.2, and Kafka needs 17 or later\n')
    expect(stdout).toContain('setup: would install with apt-get: openjdk-17-jre-headless maven')
  })

  it('says what to do when an older Java is still the first that is found', () => {
    machine.apt({java: '11.0.2'})
    const {status, stderr} = machine.setup([])
    expect(status).toBe(4)
    expect(lines(stderr)).toHaveLength(1)
    expect(stderr).toContain('the java that is found first is 11.0.2. Set JAVA_HOME')
  })

  it('takes the old version scheme of Java 8 for 8', () => {
    machine.apt().java('1.8.0_402')
    expect(machine.setup(['--dry-run']).stdout).toContain('setup: Java is 8.0_402, and Kafka needs 17 or later\n')
  })

  it('installs nothing beside Java 17, and says where the jars come from without Maven', () => {
    machine.apt().java('17.0.15')
    const {stdout} = machine.setup(['--dry-run'])
    expect(stdout).toContain('setup: Java 17.0.15: the local runtime\n')
    expect(stdout).toContain("setup: Maven is not there: kx will take Kafka's jars from the Apache archive\n")
    expect(lines(stdout).at(-1)).toBe('setup: nothing to do')
  })

  it('installs nothing beside a Docker engine with Compose 2.20', () => {
    machine.apt().docker('26.1.5', '2.20.0')
    const {stdout} = machine.setup(['--dry-run'])
    expect(stdout).toContain('setup: Docker engine 26.1.5 with Compose 2.20.0 answers: the docker runtime\n')
    expect(lines(stdout).at(-1)).toBe('setup: nothing to do')
  })

  it('does not count an engine whose Compose is too old', () => {
    machine.apt().docker('20.10.24', '2.19.1')
    const {stdout} = machine.setup(['--dry-run'])
    expect(stdout).toContain('setup: Docker engine 20.10.24 answers, but Compose is 2.19.1 (2.20 or later is needed)\n')
    expect(stdout).toContain('setup: would install with apt-get: openjdk-17-jre-headless maven')
  })

  it('names the packages of the other system where there is no apt-get', () => {
    machine.stub('dnf', '')
    const {status, stderr} = machine.setup([])
    expect(status).toBe(4)
    expect(stderr).toContain('Run "sudo dnf install java-21-openjdk-headless maven"')
    expect(machine.calls('dnf')).toEqual([])
  })

  it('names the cause in the words of apt-get, and one paragraph with the cure, when an installation fails', () => {
    machine.apt('failure')
    const {status, stderr} = machine.setup([])
    expect(status).toBe(4)
    expect(stderr).toContain('E: No space left')
    expect(stderr).toMatch(
      /setup: apt-get could not install openjdk-17-jre-headless maven .* then run \.\/setup again\.$/m,
    )
  })

  it('says which command root must run where it is not root and there is no sudo', () => {
    machine.apt().stub('id', 'echo 1000')
    const {status, stderr} = machine.setup([])
    expect(status).toBe(4)
    expect(stderr).toContain(
      'This needs root, and sudo is not there: as root, run "apt-get install openjdk-17-jre-headless maven"',
    )
  })
})

describe('setup and the project', () => {
  beforeEach(() => {
    machine.java('21.0.4')
  })

  it('runs npm ci when an installed package is not the one of the lock file', () => {
    machine.file(
      'node_modules/.package-lock.json',
      JSON.stringify({packages: {'node_modules/a': {version: '0.9.0', integrity: 'sha512-a'}}}),
    )
    expect(machine.setup(['--dry-run']).stdout).toContain('setup: would run npm ci\n')
    machine.setup([])
    expect(machine.calls('npm').some(call => call.startsWith('npm ci'))).toBe(true)
  })

  it('asks for no package of another platform', () => {
    const entry = {version: '1.0.0', integrity: 'sha512-a'}
    const other = {...entry, optional: true, os: ['plan9'], cpu: [process.arch]}
    machine.file('package-lock.json', JSON.stringify({packages: {'node_modules/a': entry, 'node_modules/b': other}}))
    expect(machine.setup(['--dry-run']).stdout).toContain('setup: npm packages are those of package-lock.json\n')
    const own = {...other, os: [process.platform]}
    machine.file('package-lock.json', JSON.stringify({packages: {'node_modules/a': entry, 'node_modules/b': own}}))
    expect(machine.setup(['--dry-run']).stdout).toContain('setup: would run npm ci\n')
  })

  it('builds when a source is newer than the build, and only then', () => {
    expect(machine.setup(['--dry-run']).stdout).toContain('setup: dist/ is newer than the sources\n')
    machine.file('src/new.ts', '')
    expect(machine.setup([]).stdout).toContain('setup: run npm run build\n')
    expect(machine.calls('npm')).toEqual(['npm run --silent build'])
    expect(lines(machine.setup([]).stdout).at(-1)).toBe('setup: nothing to do')
  })

  it('stops with one paragraph when the build fails, and the next run builds again', () => {
    machine.file('src/new.ts', '')
    machine.stub('npm', 'echo "src/new.ts(1,1): error" >&2; exit 1')
    const {status, stderr} = machine.setup([])
    expect(status).toBe(4)
    expect(stderr).toContain('setup: npm run build failed')
    expect(machine.setup(['--dry-run']).stdout).toContain('setup: would run npm run build\n')
  })

  it('refuses a Node that is too old', () => {
    machine.stub('node', 'echo 20.9.0')
    const {status, stderr} = machine.setup([])
    expect(status).toBe(4)
    expect(stderr).toBe(
      'setup: Node is 20.9.0 here, and kx needs 20.20 or later. Install a newer Node with your package manager or version manager (nvm, fnm, mise), then run ./setup again.\n',
    )
  })

  it('takes no unknown option', () => {
    const {status, stderr} = machine.setup(['--for-test'])
    expect(status).toBe(2)
    expect(stderr).toContain('setup: there is no option "--for-test".')
    expect(machine.calls('npm')).toEqual([])
  })

  it('prints its help and does nothing', () => {
    const {status, stdout} = machine.setup(['--help'])
    expect(status).toBe(0)
    expect(stdout).toContain('--for-tests')
  })
})

describe('setup --for-tests', () => {
  const whole = (text: string) => lines(text).filter(line => line.startsWith('setup: would '))

  it('would add the engine of Debian 13, the images, the clients and the browser on a bare Debian 12', () => {
    machine.apt()
    const {status, stdout} = machine.setup(['--for-tests', '--dry-run'])
    expect(status).toBe(0)
    expect(whole(stdout)).toEqual([
      'setup: would install with apt-get: openjdk-17-jre-headless maven (Java 17 or later, and Maven for the jars of Kafka)',
      'setup: would add Debian 13 (trixie) as a package source of low priority, for a newer Docker',
      'setup: would install with apt-get: docker.io/trixie iptables docker-cli/trixie docker-compose/trixie docker-buildx/trixie (the Docker engine and its plugins)',
      'setup: would start the Docker engine',
      'setup: would pull debian:bookworm-slim, or make it with debootstrap where no image can be pulled',
      'setup: would build the image kx/kafka:4.4.0',
      'setup: would build the image kx/kafka:4.0.2',
      'setup: would install the second client (librdkafka)',
      'setup: would get Node 24 (the npm package) for the version check',
      'setup: would install with apt-get: chromium fonts-liberation (the browser that opens the reports)',
    ])
    expect(machine.calls('apt-get')).toEqual([])
  })

  it('takes the packages of Ubuntu there', () => {
    machine.apt().osRelease('ID=ubuntu\nVERSION_CODENAME=noble\n')
    const {stdout} = machine.setup(['--for-tests', '--dry-run'])
    expect(stdout).not.toContain('trixie')
    expect(stdout).toContain(
      'would install with apt-get: docker.io iptables docker.io docker-compose-v2 docker-buildx (',
    )
  })

  it('leaves an engine that answers alone', () => {
    machine.apt().java('17.0.15').docker('20.10.24', '2.26.1')
    machine.stub(
      'docker',
      `case "$*" in version*) echo 20.10.24 ;; "compose version"*) echo v2.26.1 ;; "buildx version") exit 0 ;; *) exit 1 ;; esac`,
    )
    const {stdout} = machine.setup(['--for-tests', '--dry-run'])
    expect(stdout).toContain('setup: Docker engine 20.10.24 answers\n')
    expect(stdout).not.toContain('would start')
    expect(stdout).not.toContain('docker.io')
  })

  it('only starts an engine that is installed and does not answer', () => {
    machine.apt().java('17.0.15').stub('dockerd', 'exit 1')
    machine.stub(
      'docker',
      `case "$*" in "compose version"*) echo 2.26.1 ;; "buildx version") exit 0 ;; *) exit 1 ;; esac`,
    )
    const {stdout} = machine.setup(['--for-tests', '--dry-run'])
    expect(stdout).toContain('setup: would start the Docker engine\n')
    expect(stdout).not.toContain('docker.io')
    expect(machine.calls('dockerd')).toEqual([])
  })

  it('starts no second engine where DOCKER_HOST names one that does not answer', () => {
    machine.apt().java('17.0.15').docker(undefined, '2.26.1')
    const {status, stderr} = machine.setup(['--for-tests', '--dry-run'], {DOCKER_HOST: 'tcp://127.0.0.1:1'})
    expect(status).toBe(4)
    expect(stderr).toContain('DOCKER_HOST is tcp://127.0.0.1:1, and no Docker engine answers there.')
  })

  it('starts no second engine where the user may not talk to the one that runs', () => {
    machine.apt().java('17.0.15').stub('docker', 'echo "permission denied while trying to connect" >&2; exit 1')
    const {status, stderr} = machine.setup(['--for-tests', '--dry-run'])
    expect(status).toBe(4)
    expect(stderr).toContain('this user may not talk to it. Add the user to its group')
  })
})
