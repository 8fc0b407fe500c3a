import {fileURLToPath} from 'node:url'
import {execa} from 'execa'
import {KxError} from '../util/errors.js'
import {type Job, type JobResult, jobTimeoutMs} from './job.js'

/**
 * librdkafka through `@confluentinc/kafka-javascript`, in a process of its own; `module` is the folder of that package.
 * @throws KxError KX_LIBRDKAFKA (environment) if the process or a job fails
 */
export async function produceWithLibrdkafka(
  module: string,
  jobs: readonly Job[],
  signal: AbortSignal,
): Promise<readonly JobResult[]> {
  const fromSource = import.meta.url.endsWith('.ts')
  const child = fileURLToPath(new URL(`./librdkafka-child.${fromSource ? 'ts' : 'js'}`, import.meta.url))
  const {
    stdout,
    stderr,
    exitCode,
    signal: endedBy,
  } = await execa(process.execPath, [...(fromSource ? ['--import', 'tsx'] : []), child], {
    input: JSON.stringify({module, jobs}),
    reject: false,
    timeout: jobTimeoutMs,
    killSignal: 'SIGKILL',
    cancelSignal: signal,
  })
  signal.throwIfAborted()
  const answer = parsed(stdout)
  if (answer.results) return answer.results
  const why = answer.error ?? `its process ended by ${endedBy ?? `exit code ${exitCode}`}: ${lastLine(stderr)}`
  throw new KxError('environment', 'KX_LIBRDKAFKA', `librdkafka could not write its series: ${why}.`)
}

function parsed(stdout: string): {readonly results?: readonly JobResult[]; readonly error?: string} {
  try {
    return JSON.parse(lastLine(stdout)) as {results?: readonly JobResult[]; error?: string}
  } catch {
    return {}
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}
