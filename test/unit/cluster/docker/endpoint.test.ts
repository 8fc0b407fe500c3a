import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {fromContext, hostnameOf, obstacleOf, resolveEndpoint} from '../../../../src/cluster/docker/endpoint.js'

/** As `docker context inspect` of Docker 28 printed it. */
const desktop = JSON.stringify([
  {
    Name: 'desktop-linux',
    Metadata: {Description: 'Docker Desktop', otel: {OTEL_EXPORTER_OTLP_ENDPOINT: 'unix:///x'}},
    Endpoints: {docker: {Host: 'unix:///Users/ada/.docker/run/docker.sock', SkipTLSVerify: false}},
    TLSMaterial: {},
    Storage: {
      MetadataPath: '/Users/ada/.docker/contexts/meta/fe9c6bd7',
      TLSPath: '/Users/ada/.docker/contexts/tls/fe9c6bd7',
    },
  },
])

const withTls = JSON.stringify([
  {
    Name: 'minikube',
    Metadata: {},
    Endpoints: {docker: {Host: 'tcp://127.0.0.1:32770', SkipTLSVerify: false}},
    TLSMaterial: {docker: ['ca.pem', 'cert.pem', 'key.pem']},
    Storage: {MetadataPath: '/home/ada/.docker/contexts/meta/1', TLSPath: '/home/ada/.docker/contexts/tls/1'},
  },
])

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kx-endpoint-'))
})

afterEach(() => rmSync(folder, {recursive: true}))

/** A PATH on which `docker` is this script. */
function cli(script: string): NodeJS.ProcessEnv {
  const path = join(folder, 'docker')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return {PATH: `${folder}:/usr/bin:/bin`}
}

describe('resolveEndpoint', () => {
  it('takes DOCKER_HOST without asking the CLI', async () => {
    const env = {...cli('exit 1'), DOCKER_HOST: 'unix:///run/user/1000/docker.sock'}
    expect(await resolveEndpoint(env)).toEqual({
      endpoint: {host: 'unix:///run/user/1000/docker.sock', source: 'DOCKER_HOST'},
    })
  })

  it('takes the current context else', async () => {
    const env = cli(`[ "$*" = "context inspect" ] || exit 9\ncat <<'END'\n${desktop}\nEND`)
    expect(await resolveEndpoint(env)).toEqual({
      endpoint: {host: 'unix:///Users/ada/.docker/run/docker.sock', source: 'context desktop-linux'},
    })
  })

  it('passes DOCKER_CONTEXT on to the CLI', async () => {
    const env = {...cli(`[ "$DOCKER_CONTEXT" = other ] && echo '${desktop}'`), DOCKER_CONTEXT: 'other'}
    expect(await resolveEndpoint(env)).toHaveProperty('endpoint.source', 'context desktop-linux')
  })

  it('says that the CLI is missing', async () => {
    expect(await resolveEndpoint({PATH: folder})).toEqual({obstacle: 'There is no "docker" command on the PATH.'})
  })

  it('says why the CLI failed', async () => {
    const env = cli('echo \'context "gone": context not found\' >&2; exit 1')
    expect(await resolveEndpoint(env)).toEqual({
      obstacle: '"docker context inspect" failed: context "gone": context not found.',
    })
  })

  it('says so if the CLI answers something else', async () => {
    expect(await resolveEndpoint(cli('echo podman'))).toEqual({
      obstacle: '"docker context inspect" did not say where the engine is.',
    })
  })

  it('refuses an engine on another host, naming it', async () => {
    const resolved = await resolveEndpoint({DOCKER_HOST: 'tcp://192.0.2.7:2375'})
    expect(resolved).toHaveProperty(
      'obstacle',
      expect.stringContaining('on another host (tcp://192.0.2.7:2375, from DOCKER_HOST)'),
    )
  })

  it('takes the certificates that DOCKER_TLS_VERIFY asks for', async () => {
    const env = {DOCKER_HOST: 'tcp://127.0.0.1:2376', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs'}
    expect(await resolveEndpoint(env)).toHaveProperty('endpoint.certificates', '/certs')
  })
})

describe('fromContext', () => {
  it('finds the certificates of a context with TLS', () => {
    expect(fromContext(withTls)).toEqual({
      host: 'tcp://127.0.0.1:32770',
      source: 'context minikube',
      certificates: '/home/ada/.docker/contexts/tls/1/docker',
    })
  })
})

describe('obstacleOf', () => {
  const obstacle = (host: string) => obstacleOf({host, source: 'DOCKER_HOST'})

  it.each([
    'unix:///var/run/docker.sock',
    'npipe:////./pipe/docker_engine',
    'tcp://localhost:2375',
    'tcp://127.0.0.2:2375',
    'tcp://[::1]:2375',
  ])('finds nothing wrong with %s', host => expect(obstacle(host)).toBeUndefined())

  it.each(['ssh://ada@build', 'tcp://build.example:2375', 'tcp://127.0.0.1.example:2375', 'tcp://[2001:db8::1]:2375'])(
    'refuses %s as an engine on another host',
    host => expect(obstacle(host)).toContain('on another host'),
  )

  it('names what it does not understand', () => {
    expect(obstacle('fd://3')).toContain('does not know how to reach')
    expect(obstacle('nonsense')).toContain('is no URL')
  })
})

describe('hostnameOf', () => {
  it('takes the brackets off an IPv6 address', () => {
    expect(hostnameOf('tcp://[::1]:2375')).toBe('::1')
  })
})
