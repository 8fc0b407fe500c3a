// Makes the reference runs anew: one quick run of each experiment under results/reference/, without the nodes' logs (they
// name folders of the machine) and without the page (`kx results rejudge` writes it anew). Tests judge them again, and doctored copies of them.
//   node scripts/reference.mjs [experiment …]
import {spawnSync} from 'node:child_process'
import {mkdirSync, readdirSync, rmSync, writeFileSync} from 'node:fs'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}results/reference`
const asked = process.argv.slice(2)
const names = asked.length > 0 ? asked : readdirSync(`${root}experiments`).map(file => file.replace('.ts', ''))
mkdirSync(folder, {recursive: true})
for (const name of names) {
  rmSync(`${folder}/${name}`, {recursive: true, force: true})
  const args = ['experiment', name, '--quick', '--fresh', '--runtime', 'local', '--results', folder, '--seed', '7']
  const {status} = spawnSync(process.execPath, [`${root}bin/kx.js`, ...args], {stdio: 'inherit'})
  if (status !== 0) {
    process.stderr.write(`${name} exited with ${status}: no reference\n`)
    process.exit(1)
  }
  for (const id of readdirSync(`${folder}/${name}`).filter(entry => entry !== 'latest')) {
    for (const part of ['logs', 'report.html'])
      rmSync(`${folder}/${name}/${id}/${part}`, {recursive: true, force: true})
  }
}
writeFileSync(
  `${folder}/README.md`,
  'One quick run of each experiment, made by `node scripts/reference.mjs`. Tests judge them again.\n',
)
