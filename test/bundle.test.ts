import {execFile} from 'node:child_process'
import {readdirSync} from 'node:fs'
import {join, relative} from 'node:path'
import {pathToFileURL} from 'node:url'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {inWorld, root, type Said} from './cli-harness.js'

// `kx dump-log` starts from files that are put together after the compiler (scripts/bundle.mjs): what they print is
// what the modules print, whatever they load on their way. Needs a build, as `npm test` makes one first.

let cure = () => {}
beforeEach(() => {
  cure = inWorld({HOME: join(root, 'test/golden/none')})
})
afterEach(() => cure())

const kxJs = join(root, 'bin/kx.js')
const modules = `
  import {main} from ${JSON.stringify(`${root}dist/src/cli/main.js`)}
  await main(process.argv.slice(2), {root: new URL(${JSON.stringify(pathToFileURL(root))})})`
const golden = 'test/golden/dump-log/real'
const entries = readdirSync(join(root, golden), {recursive: true, withFileTypes: true})
const files = entries
  .filter(entry => entry.isFile() && !/^original|^manifest/.test(entry.name))
  .map(({parentPath, name}) => relative(root, join(parentPath, name)))
const folders = readdirSync(join(root, golden)).filter(name => !name.includes('.'))

test.each([
  ['folders of real brokers', [...folders.map(name => `${golden}/${name}`), '--verify'], 1],
  ['all their files, with every codec and decoder', [...files, '-o', 'ndjson', '--deep-iteration'], 1],
  ['the same in text', files, 1],
  ['Kafka’s own words', ['-o', 'kafka', '--print-data-log', ...files.filter(name => name.endsWith('.log'))], 1],
  ['figures', ['--stats', ...files.filter(name => name.endsWith('.log'))], 1],
  ['a table', ['-o', 'csv', ...files.filter(name => name.endsWith('.log'))], 1],
  ['YAML', ['-o', 'yaml', `${golden}/headers/00000000000000000000.log`], 0],
  ['its help', ['--help'], 0],
  ['a flag that it does not have', ['--no-such-flag'], 2],
  ['a file that is not there', ['no-such-file.log'], 5],
  ['a cluster that is not there', ['--topic', 'orders'], 2],
])('%s: the bundled command says what the modules say', async (_, argv, exit) => {
  const [expected, said] = await Promise.all([run(['--input-type=module', '--eval', modules, 'kx']), run([kxJs])])
  expect(said).toEqual(expected)
  expect(said).toMatchObject({exit})
  expect(said.stdout.length > 1000 || exit > 1).toBe(true)

  function run(how: readonly string[]): Promise<Said> {
    return new Promise(resolve => {
      const options = {cwd: root, maxBuffer: 2 ** 28}
      execFile(process.execPath, [...how, 'dump-log', ...argv], options, (error, stdout, stderr) =>
        resolve({stdout, stderr, exit: error ? Number(error.code) : 0}),
      )
    })
  }
})
