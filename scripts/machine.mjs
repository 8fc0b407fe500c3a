// What this machine has for the tests (types in machine.d.mts).
import {spawnSync} from 'node:child_process'
import {existsSync} from 'node:fs'
import {homedir} from 'node:os'
import {delimiter, join} from 'node:path'

function run(command, args) {
  const done = spawnSync(command, args, {encoding: 'utf8', timeout: 15_000, stdio: ['ignore', 'pipe', 'pipe']})
  return {ok: done.status === 0, text: `${done.stdout ?? ''}${done.stderr ?? ''}`.trim()}
}

export function hasDocker() {
  return run('docker', ['version', '--format', '{{.Server.Version}}']).ok && run('docker', ['compose', 'version']).ok
}

export function hasJava() {
  const homes = [process.env.JAVA_HOME, undefined].map(home => (home ? join(home, 'bin', 'java') : 'java'))
  return homes.some(java => {
    const found = /version "(?:1\.)?(\d+)/.exec(run(java, ['-version']).text)
    return found !== null && Number(found[1]) >= 17
  })
}

export function browserPath(env = process.env) {
  const folders = (env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  return names.flatMap(name => folders.map(folder => join(folder, name))).find(path => existsSync(path))
}

export function otherNodePath(env = process.env) {
  const home = env.HOME || homedir()
  const caches = process.platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache')
  const path = join(env.XDG_CACHE_HOME || caches, 'kx', 'node', '24', 'bin', 'node')
  return existsSync(path) ? path : undefined
}
