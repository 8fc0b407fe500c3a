import {spawnSync} from 'node:child_process'
import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {expect, it} from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const files = ['setup', '.ci/run', ...under('scripts'), ...under('compose'), ...under('docs/ci')]

function under(folder: string): string[] {
  return readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
    .map(path => join(folder, path))
    .filter(path => statSync(join(root, path)).isFile())
}

it.each(files)('%s names no host and no path of one machine', path => {
  const text = readFileSync(join(root, path), 'utf8')
  // XML namespaces are names, not addresses; loopback is everywhere.
  const addresses = [...text.matchAll(/https?:\/\/([\w.-]+)[^\s"'<>)]*/g)].filter(
    ([address, host]) => !/xmlns/.test(lineOf(text, address)) && host !== 'localhost' && host !== '127.0.0.1',
  )
  expect(addresses.map(([address]) => address)).toEqual([])
  expect(text.match(/(?<![\w$}.])\/(root|work|Users|home\/(?!appuser)\w+)\//g) ?? []).toEqual([])
})

function lineOf(text: string, part: string): string {
  return text.split('\n').find(line => line.includes(part)) ?? ''
}

const shellScripts = files.filter(path => /^#!.*bash/.test(readFileSync(join(root, path), 'utf8')))

it.each(shellScripts)('%s is executable, stops at the first failure and is valid bash', path => {
  expect(statSync(join(root, path)).mode & 0o111).toBe(0o111)
  expect(readFileSync(join(root, path), 'utf8')).toMatch(/^set -euo pipefail$/m)
  expect(spawnSync('bash', ['-n', join(root, path)], {encoding: 'utf8'}).stderr).toBe('')
})

it('finds the scripts that these rules are for', () => {
  expect(shellScripts).toEqual(
    expect.arrayContaining(['setup', '.ci/run', 'compose/image/build', 'compose/image/root/docker/run']),
  )
})
