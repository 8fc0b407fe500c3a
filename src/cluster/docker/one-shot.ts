import type Docker from 'dockerode'
import {until} from '../../util/until.js'
import {ownOwner} from '../owner.js'
import {type Engine, statusOf} from './engine.js'
import {archiveOf} from './files.js'
import {identityOf, labelsOf} from './labels.js'
import {demultiplexed} from './streams.js'

export interface OneShot {
  /** For messages: `the dump tool`. */
  readonly what: string
  readonly cluster: string
  readonly image: string
  /** Absent: none. */
  readonly network?: string
  readonly command: readonly string[]
  readonly environment: readonly string[]
  readonly files: readonly {readonly name: string; readonly bytes: Buffer}[]
  readonly timeoutMs: number
  /** Ends it early. */
  readonly signal?: AbortSignal
}

/** Where the files of a one-shot container lie, which is also where its command runs. */
export const oneShotFolder = '/tmp/kx-files'

export interface OneShotEnd {
  readonly exitCode: number
  readonly outOfMemory: boolean
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command in a container of its own, which is removed whatever happens. */
export async function runOneShot(engine: Engine, shot: OneShot): Promise<OneShotEnd> {
  const {what, files, timeoutMs, signal} = shot
  const [, parent, folder] = oneShotFolder.split('/')
  const archive = await archiveOf(files, folder as string)
  // Ephemeral: if this process dies on the way, `kx clean` takes the container.
  const labels = labelsOf(identityOf(shot.cluster, true, await ownOwner()))
  const container = await engine.call(`create a container for ${what}`, docker =>
    docker.createContainer(settings(shot, labels)),
  )
  // Removed rather than killed: it may not have been started yet, and then never will be.
  const end = () => void container.remove({force: true, v: true}).catch(() => undefined)
  signal?.addEventListener('abort', end, {once: true})
  try {
    await engine.call(`copy files to ${what}`, () => container.putArchive(archive, {path: `/${parent}`}))
    signal?.throwIfAborted()
    const output = await engine.call(`run ${what}`, () => outputOf(container), timeoutMs)
    const {State} = await engine.call(`look at ${what}`, () => container.inspect())
    return {exitCode: State.ExitCode, outOfMemory: State.OOMKilled, ...demultiplexed(output)}
  } finally {
    signal?.removeEventListener('abort', end)
    await engine
      .call(`remove the container of ${what}`, () => container.remove({force: true, v: true}))
      .catch(error => {
        // Gone already, or on its way (409), as after an abort.
        if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error
      })
    await until(`the container of ${what} to be gone`, () => isGone(engine, container), {timeoutMs: removalMs})
  }
}

const removalMs = 30_000

async function isGone(engine: Engine, container: Docker.Container): Promise<true | undefined> {
  try {
    await engine.call('look at a container', () => container.inspect())
    return undefined
  } catch (error) {
    if (statusOf(error) === 404) return true
    throw error
  }
}

function settings(
  {image, network, command, environment}: OneShot,
  labels: Record<string, string>,
): Docker.ContainerCreateOptions {
  const [entry, ...args] = command
  return {
    Image: image,
    Labels: labels,
    Entrypoint: [entry as string],
    Cmd: args,
    WorkingDir: oneShotFolder,
    Env: [...environment],
    HostConfig: {NetworkMode: network ?? 'none', LogConfig: {Type: 'none', Config: {}}},
  }
}

/** Attached before it starts, so that not a line is missed; the stream ends when the process does. */
async function outputOf(container: Docker.Container): Promise<Buffer> {
  const stream = await container.attach({stream: true, stdout: true, stderr: true})
  const chunks: Buffer[] = []
  const ended = new Promise<void>((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.once('end', resolve)
    stream.once('error', reject)
  })
  await container.start()
  await ended
  await container.wait()
  return Buffer.concat(chunks)
}
