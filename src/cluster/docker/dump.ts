import type Docker from 'dockerode'
import {KxError} from '../../util/errors.js'
import {ownOwner} from '../owner.js'
import {type Engine, statusOf} from './engine.js'
import {archiveOf} from './files.js'
import {identityOf, labelsOf} from './labels.js'
import {demultiplexed} from './streams.js'

const folder = 'kx-dump'
const timeoutMs = 120_000

/**
 * Kafka's own dump tool over copies of these files, in a container of its own without network, which is removed
 * whatever happens. Paths in the output are the names as given.
 * @throws KxError KX_DUMP_LOG (environment) with the tool's last line if it fails
 */
export async function dumpInContainer(
  engine: Engine,
  {cluster, image}: {readonly cluster: string; readonly image: string},
  files: readonly {readonly name: string; readonly bytes: Buffer}[],
  flags: readonly string[],
): Promise<string> {
  const archive = await archiveOf(files, folder)
  // Ephemeral: if this process dies on the way, `kx clean` takes the container.
  const labels = labelsOf(identityOf(cluster, true, await ownOwner()))
  const container = await engine.call('create a container for the dump tool', docker =>
    docker.createContainer(settings(image, labels, ['--files', files.map(({name}) => name).join(','), ...flags])),
  )
  try {
    await engine.call('copy files to the dump tool', () => container.putArchive(archive, {path: '/tmp'}))
    const output = await engine.call('run the dump tool', () => outputOf(container), timeoutMs)
    const {State} = await engine.call('look at the dump tool', () => container.inspect())
    const {stdout, stderr} = demultiplexed(output)
    if (State.ExitCode === 0) return stdout
    const why = State.OOMKilled ? 'it ran out of memory' : firstLine(stderr || stdout)
    throw new KxError('environment', 'KX_DUMP_LOG', `kafka-dump-log failed with exit code ${State.ExitCode}: ${why}.`)
  } finally {
    await engine
      .call('remove the container of the dump tool', () => container.remove({force: true, v: true}))
      .catch(error => {
        if (statusOf(error) !== 404) throw error
      })
  }
}

function settings(
  image: string,
  labels: Record<string, string>,
  args: readonly string[],
): Docker.ContainerCreateOptions {
  return {
    Image: image,
    Labels: labels,
    Entrypoint: ['/opt/kafka/bin/kafka-dump-log.sh'],
    Cmd: [...args],
    WorkingDir: `/tmp/${folder}`,
    Env: ['KAFKA_HEAP_OPTS=-Xmx384m', 'KAFKA_JVM_PERFORMANCE_OPTS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1'],
    HostConfig: {NetworkMode: 'none', LogConfig: {Type: 'none', Config: {}}},
  }
}

/** The tool says what is wrong first, and then how it is used, or a stack trace. */
function firstLine(text: string): string {
  const lines = text.split('\n').filter(line => line.trim() !== '' && !/^Picked up |WARN/.test(line))
  return lines[0]?.trim().replace(/\.$/, '') ?? 'it said nothing'
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
