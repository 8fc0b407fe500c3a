// Compares the state that kx makes of metadata records with Kafka's own MetadataImage (needs a JDK; about 10 s):
//   node --import tsx scripts/compare-state.ts FOLDER [HISTORIES [SEED]]
// FOLDER holds the jars of a release. Kafka's classes load made-up histories of all record types, with transactions that end
// and that are given up, and write a snapshot of what they lead to; kx's state of the history must be its state of that.
import {spawnSync} from 'node:child_process'
import {fileURLToPath} from 'node:url'
import fc from 'fast-check'
import {
  aborted,
  anyHistory,
  framedValue,
  type History,
  inTransactions,
  logOf,
} from '../test/unit/log/state/histories.js'
import {differences, folderOf, load} from '../test/unit/log/state/loading.js'
import {writeBatch} from '../src/log/write-batch.js'

const [folder, histories = '1000', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: compare-state.ts FOLDER [HISTORIES [SEED]]')

const withTransactions = fc
  .tuple(anyHistory, anyHistory, fc.array(fc.boolean(), {minLength: 1}), fc.nat())
  .map(([history, other, where, pick]): History => {
    const cut = 1 + (pick % history.length)
    // A batch of its own ends each transaction that was given up: its records are never applied.
    const given = aborted(
      other
        .slice(1)
        .flat()
        .filter(({name}) => name !== 'RemoveTopicRecord'),
    )
    const isThere = given[1]?.length === 0 ? [] : given
    return [...inTransactions(history.slice(0, cut), where), ...isThere, ...inTransactions(history.slice(cut), where)]
  })
const made = fc.sample(withTransactions, {numRuns: Number(histories), seed: Number(seed)})
const lines = made.map(batches =>
  batches.map(records => records.map(record => framedValue(record).toString('hex')).join(',')).join(';'),
)
const java = spawnSync('java', ['-cp', `${folder}/*`, fileURLToPath(new URL('CompareState.java', import.meta.url))], {
  input: lines.map(line => `${line}\n`).join(''),
  encoding: 'utf8',
  maxBuffer: 1 << 30,
})
const answers = java.stdout.split('\n').slice(0, -1)
if (java.status !== 0 || answers.length !== made.length) {
  throw new Error(`java ended with ${java.status} after ${answers.length} answers: ${java.stderr.slice(0, 2_000)}`)
}

let different = 0
for (const [n, history] of made.entries()) {
  const [records = '', fault] = (answers[n] as string).split('!')
  const snapshot = writeBatch({
    leaderEpoch: 1,
    records: records.split(',').map(hex => ({timestamp: 1n, key: null, value: Buffer.from(hex, 'hex')})),
  })
  const ours = await load(folderOf({'00000000000000000000.log': logOf(history)}))
  const theirs = await load(folderOf({'00000000000000000000.log': snapshot}))
  const found = [...differences(theirs.state, ours.state), ...theirs.findings.map(({explanation}) => explanation)]
  const told = ours.findings.map(({explanation}) => explanation)
  if (found.length === 0 && told.length === 0 && fault === undefined) continue
  different++
  if (different <= 5) process.stdout.write(`history ${n}\n  ${[...found, ...told, fault ?? 'no fault'].join('\n  ')}\n`)
}
process.stdout.write(`${made.length} histories, ${different} different (seed ${seed})\n`)
process.exitCode = different === 0 ? 0 : 1
