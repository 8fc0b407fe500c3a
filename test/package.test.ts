import {execFileSync} from 'node:child_process'
import {readFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {expect, test} from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

// What a stranger gets from `npm install kafka-kx`. Needs a build, as `npm test` makes one first.
test('the package holds what kx needs to run elsewhere, and no sources of tests', () => {
  const answer = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{files}] = JSON.parse(answer) as [{files: {path: string}[]}]
  const paths = files.map(({path}) => path)
  for (const needed of [
    'bin/kx.js',
    'dist/bundle/main.js',
    'dist/bundle/LICENSES.txt',
    'dist/commands/index.js',
    'dist/experiments/data-loss.js',
    'dist/src/protocol/messages.data.json',
    'compose/kafka.yml',
    'compose/image/Dockerfile',
    'compose/image/build',
    'schemas/run.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
  ]) {
    expect(paths).toContain(needed)
  }
  expect(paths.filter(path => /(^|\/)test\/|\.ts$|^results\/|node_modules/.test(path))).toEqual([])
})

test('installing it runs no script of ours, and every version is exact', () => {
  const {scripts, dependencies, devDependencies} = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as Record<
    string,
    Record<string, string>
  >
  expect(Object.keys(scripts ?? {}).filter(name => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([])
  for (const [name, version] of Object.entries({...dependencies, ...devDependencies}))
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/)
})

test('the lock file names no registry', () => {
  expect(readFileSync(`${root}package-lock.json`, 'utf8')).not.toContain('"resolved"')
})
