import {access, constants, readFile} from 'node:fs/promises'
import {delimiter, join} from 'node:path'
import {type Finding, ok, problem, warning} from './finding.js'

/** The system under kx, as far as cures and limits depend on it. */
export interface Host {
  readonly system: 'linux' | 'macos' | 'wsl1' | 'wsl2' | 'windows' | 'other'
  /** Of the package managers that kx knows, the first on the PATH. */
  readonly manager?: Manager
  /** Commands need no sudo. */
  readonly root: boolean
}

export type Manager = keyof typeof packages
type Thing = 'java' | 'maven' | 'docker' | 'compose'

const packages = {
  'apt-get': {java: 'openjdk-17-jre-headless', maven: 'maven', docker: 'docker.io', compose: 'docker-compose-v2'},
  dnf: {java: 'java-21-openjdk-headless', maven: 'maven', docker: 'moby-engine', compose: 'docker-compose'},
  apk: {java: 'openjdk17-jre-headless', maven: 'maven', docker: 'docker', compose: 'docker-cli-compose'},
  pacman: {java: 'jre-openjdk-headless', maven: 'maven', docker: 'docker', compose: 'docker-compose'},
  zypper: {java: 'java-17-openjdk-headless', maven: 'maven', docker: 'docker', compose: 'docker-compose'},
  brew: {java: 'openjdk', maven: 'maven', docker: '--cask docker', compose: 'docker-compose'},
} as const

const installing: Readonly<Record<Manager, string>> = {
  'apt-get': 'apt-get install',
  dnf: 'dnf install',
  apk: 'apk add',
  pacman: 'pacman -S',
  zypper: 'zypper install',
  brew: 'brew install',
}

/** The command that installs something here; where no package manager is known, what to install. */
export function install(thing: Thing, {manager, root}: Host): string {
  if (manager === undefined) {
    return {
      java: 'Install a Java runtime of version 17 or later.',
      maven: 'Install Maven 3.6 or later.',
      docker: 'Install Docker (https://docs.docker.com/engine/install).',
      compose: 'Install the Compose plugin (https://docs.docker.com/compose/install).',
    }[thing]
  }
  const command = `${root || manager === 'brew' ? '' : 'sudo '}${installing[manager]} ${packages[manager][thing]}`
  const elsewhere = "(where Docker's own packages are installed: docker-compose-plugin; Debian 13: docker-compose)"
  return thing === 'compose' && manager === 'apt-get' ? `${command}  ${elsewhere}` : command
}

/** What kx can do on this kind of system: README's platform table, for the machine at hand. */
export function systemFinding({system}: Host, stateFolder: string): Finding {
  switch (system) {
    case 'linux':
      return ok('system', 'Linux: everything works here.')
    case 'macos':
      return ok('system', 'macOS: everything works here; a paused JVM is proven with ps, as there is no procfs.')
    case 'wsl2':
      // Kafka renames open files, and needs working locks and mmap: drvfs (9p) gives neither reliably.
      if (!/^\/mnt\/[a-z]\//.test(stateFolder)) return ok('system', 'WSL 2: everything works here that works on Linux.')
      return warning(
        'system',
        `WSL 2, but kx's state folder ${stateFolder} lies on a Windows drive, where brokers fail when they rename segments.`,
        {
          cure: 'export XDG_STATE_HOME="$HOME/.local/state"',
          affects: '--runtime local',
          blocks: 'local',
        },
      )
    case 'wsl1':
      return warning('system', 'WSL 1 has no Linux kernel, and kx was never tried on it.', {
        cure: 'wsl --set-version <distribution> 2',
      })
    case 'windows':
      return problem(
        'system',
        'Windows itself is no place for brokers: they can not rename open files there (KAFKA-1194).',
        {
          cure: 'Run kx inside of WSL 2: wsl --install',
          affects: '--runtime local',
          blocks: 'local',
        },
      )
    default:
      return warning('system', `kx was never tried on this system (${process.platform}).`)
  }
}

/** @param kernel the text of /proc/version; empty where there is none */
export function systemOf(platform: NodeJS.Platform, kernel: string): Host['system'] {
  if (platform === 'darwin') return 'macos'
  if (platform === 'win32') return 'windows'
  if (platform !== 'linux') return 'other'
  if (!/microsoft/i.test(kernel)) return 'linux'
  return /WSL2|microsoft-standard/.test(kernel) ? 'wsl2' : 'wsl1'
}

export async function probeHost(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): Promise<Host> {
  const kernel = await readFile('/proc/version', 'utf8').catch(() => '')
  const managers = Object.keys(packages) as Manager[]
  const there = await Promise.all(managers.map(async name => ((await onPath(name, env)) ? name : undefined)))
  // Linux may have a brew too; its own manager comes first.
  const manager = there.find(name => name !== undefined && (platform !== 'darwin' || name === 'brew'))
  return {system: systemOf(platform, kernel), root: process.getuid?.() === 0, ...(manager ? {manager} : {})}
}

/** The first executable of this name on the PATH. */
export async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue
    const path = join(folder, name)
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return path
  }
  return undefined
}
