// What `npm test` runs: build, linter, compiler, and the tests of all three kinds (docs/DESIGN.md, "Tests").
// `--full` adds the long tests. The last line is `N passed, N failed`; what this machine can't run is named above it.
import {spawn} from 'node:child_process'
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {browserPath, hasDocker, hasJava, otherNodePath} from './machine.mjs'
import {closingLine, sum, tallyCommand, tallyNotRun, tallyVitest} from './test-tally.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const isFull = process.argv.includes('--full')
const isCi = Boolean(process.env.CI) && process.env.CI !== 'false'
const reports = mkdtempSync(join(tmpdir(), 'kx-test-'))
const minute = 60_000
/** The fuzzer has four times as many inputs in the full run. */
const unitMs = (isFull ? 60 : 20) * minute
let interrupted = false
process.on('SIGINT', () => {
  interrupted = true
})

/** Runs a command of the project with its output passed through; resolves with its exit code, 1 for a signal. */
function run(command, args, limitMs) {
  return new Promise(resolve => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {...process.env, ...(isFull ? {KX_TEST_FULL: '1'} : {})},
    })
    const limit = setTimeout(() => {
      process.stderr.write(`${command} ${args.join(' ')}: not done within ${limitMs / minute} minutes, ended\n`)
      child.kill('SIGKILL')
    }, limitMs)
    child.once('error', error => {
      clearTimeout(limit)
      process.stderr.write(`${command}: ${error.message}\n`)
      resolve(1)
    })
    child.once('close', code => {
      clearTimeout(limit)
      resolve(code ?? 1)
    })
  })
}

const node = (args, limitMs = 10 * minute) => run(process.execPath, args, limitMs)

async function command(title, args) {
  process.stdout.write(`\n== ${title}\n`)
  return tallyCommand(await node(args))
}

async function vitest(project, args, limitMs, program = process.execPath) {
  process.stdout.write(`\n== ${project} tests${program === process.execPath ? '' : ' with Node 24'}\n`)
  const file = join(reports, `${project}-${program === process.execPath ? 'own' : 'other'}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const vitestArgs = ['node_modules/vitest/vitest.mjs', 'run', '--project', project, ...reporters, ...args]
  const exitCode = await run(program, vitestArgs, limitMs)
  let report
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    report = undefined
  }
  return tallyVitest(report, exitCode)
}

/** The tests of the docker runtime are those whose file names begin with `docker`; all others need Java. */
async function clusterTests() {
  const [docker, java] = [hasDocker(), hasJava()]
  const none = 'no Docker engine answers here (./setup --for-tests installs and starts one)'
  const tallies = []
  if (!docker) tallies.push(tallyNotRun('the tests of the docker runtime', none, isCi))
  if (!java) tallies.push(tallyNotRun('the tests of the local runtime', 'there is no Java 17 or later here', isCi))
  const limitMs = (isFull ? 180 : 60) * minute
  if (docker && java) tallies.push(await vitest('cluster', [], limitMs))
  else if (java) tallies.push(await vitest('cluster', ['--exclude', 'test/cluster/docker*'], limitMs))
  else if (docker) tallies.push(await vitest('cluster', ['test/cluster/docker'], limitMs))
  return tallies
}

async function otherNode() {
  const other = otherNodePath()
  if (!other) return tallyNotRun('the check with Node 24', 'it is not in the cache (./setup --for-tests gets it)', isCi)
  process.stdout.write('\n== kx with Node 24\n')
  const started = [tallyCommand(await run(other, ['bin/kx.js', '--version'], minute))]
  if (isFull) started.push(await vitest('unit', [], unitMs, other))
  return sum(started)
}

async function all() {
  const tallies = [await command('build', ['scripts/build.mjs'])]
  const built = tallies[0].failed === 0
  if (built) writeFileSync(join(root, 'dist', '.built'), '') // setup need not build again
  tallies.push(await command('linter', ['node_modules/@biomejs/biome/bin/biome', 'check', '.']))
  tallies.push(await command('compiler', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.test.json']))
  if (!interrupted) tallies.push(await vitest('unit', [], unitMs))
  if (!built) {
    tallies.push(tallyNotRun('browser and cluster tests', 'they start what the build makes, and it failed', true))
    return sum(tallies)
  }
  if (!interrupted) tallies.push(await otherNode())
  const browser = browserPath() !== undefined
  if (!browser) tallies.push(tallyNotRun('the browser tests', 'there is no Chromium here', isCi))
  else if (!interrupted) tallies.push(await vitest('browser', [], 15 * minute))
  if (!interrupted) tallies.push(...(await clusterTests()))
  return sum(tallies)
}

const total = await all()
rmSync(reports, {recursive: true, force: true})
process.stdout.write('\n')
for (const note of total.notes) process.stdout.write(`${note}\n`)
process.stdout.write(`${closingLine(total)}\n`)
process.exitCode = interrupted ? 130 : total.failed === 0 ? 0 : 1
