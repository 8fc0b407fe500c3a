import {mkdtempSync, rmSync} from 'node:fs'
import {createServer, type RequestListener, type Server} from 'node:http'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {Engine, engineError, isEngineGone, statusOf} from '../../../../src/cluster/docker/engine.js'
import {KxError} from '../../../../src/util/errors.js'

let folder: string
let server: Server | undefined
const kept = process.env.DOCKER_HOST

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kx-engine-'))
})

afterEach(async () => {
  await new Promise<void>(resolve => (server ? server.close(() => resolve()) : resolve()))
  server = undefined
  rmSync(folder, {recursive: true})
  if (kept === undefined) delete process.env.DOCKER_HOST
  else process.env.DOCKER_HOST = kept
})

/** Something that speaks HTTP on a socket, as an engine does. */
async function engineThat(answer: RequestListener): Promise<Engine> {
  const socket = join(folder, 'docker.sock')
  const listening = createServer(answer)
  server = listening
  await new Promise<void>(resolve => listening.listen(socket, resolve))
  return Engine.at({host: `unix://${socket}`, source: 'DOCKER_HOST'})
}

async function failureOf(call: Promise<unknown>): Promise<KxError> {
  const error = await call.then(
    () => undefined,
    error => error,
  )
  if (!(error instanceof KxError)) throw new Error(`expected a KxError, got ${error}`)
  return error
}

describe('Engine', () => {
  it('gives the answer of the engine', async () => {
    const engine = await engineThat((_, answer) => answer.end('{"ApiVersion":"1.45"}'))
    expect(await engine.call('say its version', docker => docker.version())).toEqual({ApiVersion: '1.45'})
  })

  it('talks to its endpoint, whatever DOCKER_HOST says', async () => {
    process.env.DOCKER_HOST = 'tcp://192.0.2.1:1'
    const engine = await engineThat((_, answer) => answer.end('{}'))
    expect(await engine.call('say its version', docker => docker.version())).toEqual({})
  })

  it('says where no engine answers, and what to do', async () => {
    const engine = Engine.at({host: `unix://${folder}/none.sock`, source: 'context default'})
    const error = await failureOf(engine.call('list containers', docker => docker.listContainers()))
    expect(isEngineGone(error)).toBe(true)
    expect(error.message).toContain(
      `No Docker engine answers at unix://${folder}/none.sock (context default), so kx could not list containers`,
    )
    expect(error.suggestions.join('\n')).toContain('kx clean')
  })

  it('takes a connection that breaks for an engine that is gone', async () => {
    const engine = await engineThat(request => request.socket.destroy())
    expect((await failureOf(engine.call('list networks', docker => docker.listNetworks()))).code).toBe('KX_DOCKER_GONE')
  })

  it('repeats the words of the engine without the client’s, and keeps the status', async () => {
    const engine = await engineThat((_, answer) => {
      answer.writeHead(409, {'content-type': 'application/json'}).end('{"message":"container abc is paused."}')
    })
    const error = await failureOf(engine.call('stop abc', docker => docker.getContainer('abc').stop()))
    expect(error.message).toBe('Docker could not stop abc: container abc is paused.')
    expect(statusOf(error)).toBe(409)
    expect(isEngineGone(error)).toBe(false)
  })

  it('does not wait for ever', async () => {
    const engine = await engineThat(request => void setTimeout(() => request.socket.destroy(), 500))
    const error = await failureOf(engine.call('say its version', docker => docker.version(), 50))
    expect(error.message).toBe('Waited 50 ms for the Docker engine to say its version, in vain.')
  })
})

describe('engineError', () => {
  const endpoint = {host: 'unix:///var/run/docker.sock', source: 'context default'}

  it('names the cure when this user may not use the socket', () => {
    const error = engineError('list containers', endpoint, Object.assign(new Error('connect EACCES'), {code: 'EACCES'}))
    expect(error.code).toBe('KX_DOCKER_DENIED')
    expect(error.suggestions[0]).toContain('usermod -aG docker')
  })

  it('is of kind environment, whatever happened', () => {
    for (const cause of [new Error('odd'), 'text', undefined, {statusCode: 500, json: {message: 'no space left'}}]) {
      expect(engineError('do it', endpoint, cause).kind).toBe('environment')
    }
  })
})
