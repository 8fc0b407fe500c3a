// Compares kx's codec with Kafka's own generated classes, over all schemas and versions (needs a JDK; about 15 s):
//   node --import tsx scripts/compare-codec.ts FOLDER [VALUES [SEED]]
// FOLDER holds the jars of the release that messages.data.json is of. For random values (40 of each version) kx's bytes
// must be read by Kafka's class and written again the same; and a message of which nothing was said must be the same.
import {spawnSync} from 'node:child_process'
import {fileURLToPath} from 'node:url'
import fc from 'fast-check'
import {ProtocolError} from '../src/protocol/errors.js'
import {encode, messageNamed} from '../src/protocol/messages.js'
import {allSchemas} from '../src/protocol/schema.js'
import {anyValueOf, versionsOf} from '../test/unit/protocol/arbitrary.js'

interface Sample {
  readonly name: string
  readonly version: number
  readonly asked: string
  readonly expected: string
}

function* samples(values: number, seed: number): Generator<Sample> {
  for (const {name} of allSchemas()) {
    const message = messageNamed(name)
    for (const version of versionsOf(message)) {
      for (const value of fc.sample(anyValueOf(message, version), {numRuns: values, seed})) {
        const hex = encode(name, version, value).toString('hex')
        yield {name, version, asked: hex, expected: hex}
      }
      const unsaid = unsaidBytes(name, version)
      if (unsaid !== undefined) yield {name, version, asked: 'default', expected: unsaid}
    }
  }
}

/** A few messages can't be written in every version when nothing was said: their default is null where null is not allowed. */
function unsaidBytes(name: string, version: number): string | undefined {
  try {
    return encode(name, version, {}).toString('hex')
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

const [folder, values = '40', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: compare-codec.ts FOLDER [VALUES [SEED]]')
const asked = [...samples(Number(values), Number(seed))]
const java = spawnSync('java', ['-cp', `${folder}/*`, fileURLToPath(new URL('CompareCodec.java', import.meta.url))], {
  input: asked.map(({name, version, asked: hex}) => `${name} ${version} ${hex}\n`).join(''),
  encoding: 'utf8',
  maxBuffer: 1 << 30,
})
const answers = java.stdout.split('\n').filter((_, index, all) => index < all.length - 1)
if (java.status !== 0 || answers.length !== asked.length)
  throw new Error(`java ended with ${java.status} after ${answers.length} answers: ${java.stderr}`)
const different = asked.flatMap((sample, index) =>
  answers[index] === sample.expected ? [] : [{...sample, answer: answers[index]}],
)
for (const {name, version, expected, asked: input, answer} of different.slice(0, 20)) {
  process.stdout.write(
    `${name} v${version}${input === 'default' ? ' (nothing said)' : ''}\n  kx    ${expected}\n  Kafka ${answer}\n`,
  )
}
process.stdout.write(`${asked.length} messages, ${different.length} different (seed ${seed})\n`)
process.exitCode = different.length === 0 ? 0 : 1
