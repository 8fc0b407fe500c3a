// Assembles src/log/codec/blocks.wat into src/log/codec/blocks.ts: `node scripts/assemble-blocks.mjs`. A test sees to it
// that the two agree.
import {readFileSync, writeFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import wabt from 'wabt'

const folder = fileURLToPath(new URL('../src/log/codec/', import.meta.url))

/** The text of blocks.ts. */
export async function assembled() {
  const {parseWat} = await wabt()
  const module = parseWat('blocks.wat', readFileSync(`${folder}blocks.wat`, 'utf8'))
  module.validate()
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64')
  const lines = (base64.match(/.{1,100}/g) ?? []).map(line => `  '${line}'`)
  return [
    '// Made from blocks.wat by scripts/assemble-blocks.mjs.',
    '',
    'export const blocksInBase64 =',
    lines.join(' +\n'),
    '',
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(`${folder}blocks.ts`, await assembled())
