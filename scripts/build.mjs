// Compiles src, commands and experiments to dist/, and copies the data files that the compiler does not know.
import {spawnSync} from 'node:child_process'
import {cpSync, readdirSync, rmSync} from 'node:fs'
import {fileURLToPath} from 'node:url'
import {bundle} from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}dist`, {recursive: true, force: true})
const compiled = spawnSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.json`], {
  stdio: 'inherit',
  cwd: root,
})
if (compiled.status !== 0) process.exit(compiled.status ?? 1)
for (const path of readdirSync(`${root}src`, {recursive: true})) {
  if (String(path).endsWith('.data.json')) cpSync(`${root}src/${path}`, `${root}dist/src/${path}`)
}
await bundle(root)
