import {KxError} from '../util/errors.js'

/** One of Kafka's own tools ended badly. It says what is wrong in its last line, after how it is used or a stack trace. */
export function toolFailed(what: string, exitCode: number | undefined, output: string): KxError {
  const lines = output.split('\n').filter(line => line.trim() !== '' && !/^\s+at |^Picked up /.test(line))
  const said = lines.at(-1)?.trim().replace(/\.$/, '') ?? 'it said nothing'
  return new KxError('environment', 'KX_KAFKA_TOOL', `${what} failed with exit code ${exitCode}: ${said}.`)
}
