import {readFileSync} from 'node:fs'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {findingCodes} from '../src/log/verify/codes.js'
import {differences} from '../src/log/text/differences.js'
import {kx, root} from './cli-harness.js'

// README shows real output. What can be repeated on any machine is repeated here; `npx vitest run test/readme.test.ts -u`
// writes it anew.

let home: string
beforeAll(() => {
  home = process.cwd()
  process.chdir(root)
})
afterAll(() => process.chdir(home))

const shown = /^```\n\$ bin\/kx\.js (dump-log|diff-replicas)([^\n]*)\n[^`]*?```$/gm

test('README shows what kx prints', async () => {
  const readme = readFileSync(`${root}README.md`, 'utf8')
  const outputs = new Map<string, string>()
  for (const [, command = '', words = ''] of readme.matchAll(shown)) {
    const {stdout} = await kx(command, ...words.trim().split(' '))
    outputs.set(`${command}${words}`, stdout)
  }
  expect(outputs.size).toBeGreaterThan(18)
  const renewed = readme
    .replace(
      shown,
      (_, command, words) => `\`\`\`\n$ bin/kx.js ${command}${words}\n${outputs.get(command + words)}\`\`\``,
    )
    .replace(
      /(<!-- differences -->\n)[\s\S]*?(<!-- end of differences -->)/,
      (_, begin, end) => `${begin}${differencesTable()}${end}`,
    )
  await expect(renewed).toMatchFileSnapshot(`${root}README.md`)
})

test('docs/findings.md lists every code', async () => {
  await expect(findingsPage()).toMatchFileSnapshot(`${root}docs/findings.md`)
})

function differencesTable(): string {
  const rows = Object.entries(differences).map(
    ([id, {original, kx, reason, lines}]) => `| ${id} | ${lines} | ${cell(original)} | ${cell(kx)} | ${cell(reason)} |`,
  )
  return ['| name | of Kafka | its tool | kx | because |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function findingsPage(): string {
  const rows = Object.entries(findingCodes).map(([code, kind]) => {
    const {severity, meaning, kafka = ''}: {severity: string; meaning: string; kafka?: string} = kind
    return `| \`${code}\` | ${severity} | ${cell(meaning)} | ${cell(kafka)} |`
  })
  return [
    '# What `kx dump-log` can find',
    '',
    'Codes are stable, for scripts, and the same in every output, with and without `--verify`. The severity is that of the usual case: where the circumstances explain what was seen it is lower. Errors and warnings make the exit code 1.',
    '',
    '| code | severity | meaning | what Kafka 4.x does with it |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
