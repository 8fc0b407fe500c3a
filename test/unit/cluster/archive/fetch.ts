// Run as a process of its own: fetches the jars as kx does, and prints where they are or why not.
import {kafkaLibs} from '../../../../src/cluster/local/jars.js'
import {messageOf} from '../../../../src/util/errors.js'

const tell = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`)
try {
  const progress = (phase: string) => tell({phase})
  tell(await kafkaLibs({version: '4.4.0', signal: new AbortController().signal, progress, pauseMs: 5}))
} catch (error) {
  tell({error: messageOf(error)})
  process.exitCode = 1
}
