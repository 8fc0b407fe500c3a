// Runs an experiment again and again, each time on a fresh cluster, and counts the verdicts: a verdict that is not always
// the same is a bug in the method.
//   npm run soak -- data-loss 5                         quick, local
//   npm run soak -- failover 3 --full --runtime docker
import {mkdtempSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {parseArgs} from 'node:util'
import {execa} from 'execa'
import type {RunRecord} from '../src/experiment/run.js'

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {full: {type: 'boolean', default: false}, runtime: {type: 'string', default: 'local'}},
})
const [name = 'data-loss', times = '5'] = positionals
const results = mkdtempSync(join(tmpdir(), 'kx-soak-'))
const kx = fileURLToPath(new URL('../bin/kx.js', import.meta.url))
const counts = new Map<string, number>()
process.stdout.write(
  `${name}, ${times} times, ${values.full ? 'full' : 'quick'}, ${values.runtime}; results in ${results}\n`,
)

for (let run = 1; run <= Number(times); run++) {
  const startedMs = performance.now()
  const args = [
    'experiment',
    name,
    '--fresh',
    '--runtime',
    values.runtime,
    '--results',
    results,
    '-o',
    'json',
    ...(values.full ? [] : ['--quick']),
  ]
  const {stdout, exitCode} = await execa(process.execPath, [kx, ...args], {
    reject: false,
    stderr: 'inherit',
    stdin: 'ignore',
  })
  const record = parse(stdout)
  const outcome = record?.verdict.outcome ?? `exit ${exitCode}`
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  const odd = record?.trials
    .filter(trial => trial.outcome !== 'ok')
    .map(({number, condition, reason}) => `trial ${number} (${condition}): ${reason}`) ?? [stdout.slice(0, 500)]
  const claims =
    record?.verdict.claims
      .filter(claim => claim.outcome !== 'upheld')
      .map(({claim, because}) => `${claim}: ${because}`) ?? []
  process.stdout.write(
    `${run}  ${outcome}  ${((performance.now() - startedMs) / 1_000).toFixed(0)} s  ${record?.id ?? ''}\n`,
  )
  for (const line of [...odd, ...claims]) process.stdout.write(`   ${line}\n`)
}

process.stdout.write(`${[...counts].map(([outcome, count]) => `${outcome} ${count}`).join(', ')}\n`)
process.exitCode = counts.get('upheld') === Number(times) ? 0 : 1

function parse(text: string): RunRecord | undefined {
  try {
    const value = JSON.parse(text) as Partial<RunRecord>
    return value.schema === 'kx/run/1' ? (value as RunRecord) : undefined
  } catch {
    return undefined
  }
}
