import {z} from 'zod'
import {compareVersions} from '../../kafka/versions.js'
import type {Resolved} from '../docker/endpoint.js'
import {type Finding, ok, warning} from './finding.js'
import {type Host, install} from './host.js'

/** The part of `docker info --format '{{json .}}'` that kx looks at. */
export const engineInfo = z.object({
  ServerVersion: z.string().optional(),
  OSType: z.string().optional(),
  OperatingSystem: z.string().optional(),
  Architecture: z.string().optional(),
  CgroupDriver: z.string().optional(),
  CgroupVersion: z.string().optional(),
  DefaultRuntime: z.string().optional(),
  MemTotal: z.number().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  /** Filled, and all else empty, when the CLI did not reach the engine. */
  ServerErrors: z.array(z.string()).nullish(),
})
export type EngineInfo = z.infer<typeof engineInfo>

export interface EngineFacts {
  readonly host: Host
  /** What `docker` on the PATH is, if anything. */
  readonly cli: 'missing' | 'wsl-stub' | 'there'
  readonly resolved?: Resolved
  /** The engine's answer; without it `said` holds what was said instead. */
  readonly info?: EngineInfo
  readonly said?: string
  /** `docker version`'s name of the server's first component: `Engine`, `Podman Engine`. */
  readonly server?: string
  /** Version of the Compose plugin; without it, the plugin does not answer. */
  readonly compose?: string
  /** The image that would run: the architecture of one that is here, or why none can be had. */
  readonly image?: {readonly name: string; readonly architecture: string} | {readonly obstacle: string}
}

const oldestEngine = '20.10'
const oldestCompose = '2.20'
const blocksDocker = {affects: '--runtime docker', blocks: 'docker'} as const
const cannotPause = 'data-loss would be inconclusive with --runtime docker'

/** Everything about Docker, in the order in which one thing needs the other. */
export function engineFindings(facts: EngineFacts): Finding[] {
  const reach = cliFinding(facts) ?? endpointFinding(facts) ?? silenceFinding(facts)
  if (reach) return [reach]
  const {info = {}, host} = facts
  return [
    engineFinding(facts, info),
    pauseFinding(facts, info),
    composeFinding(facts.compose, host),
    imageFinding(facts.image, info),
  ].filter(finding => finding !== undefined)
}

function cliFinding({cli, host}: EngineFacts): Finding | undefined {
  if (cli === 'missing') {
    return warning('docker-cli', 'There is no docker command on the PATH.', {
      cure: install('docker', host),
      ...blocksDocker,
    })
  }
  if (cli === 'wsl-stub') {
    return warning(
      'docker-cli',
      'The docker command here is only the hint of Docker Desktop: it is not switched on for this WSL distribution.',
      {
        cure: 'Docker Desktop, Settings, Resources, WSL integration: switch this distribution on',
        ...blocksDocker,
      },
    )
  }
  return undefined
}

/** The engine must be on this machine: brokers are reached at 127.0.0.1. */
function endpointFinding({resolved}: EngineFacts): Finding | undefined {
  if (!resolved || !('obstacle' in resolved)) return undefined
  const remote = /another host/.test(resolved.obstacle)
  const cure = remote ? 'unset DOCKER_HOST DOCKER_CONTEXT; docker context use default' : 'docker context ls'
  return warning('docker-engine', resolved.obstacle, {cure, ...blocksDocker})
}

/** Why no engine answers, from the words of Docker's CLI, which differ by its version and by the system. */
function silenceFinding({info, said, resolved, host}: EngineFacts): Finding | undefined {
  const words = [said ?? '', ...(info?.ServerErrors ?? [])].join('\n').trim()
  if (info?.ServerVersion) return undefined
  const place =
    resolved && 'endpoint' in resolved ? `${resolved.endpoint.host} (${resolved.endpoint.source})` : 'its usual place'
  if (/permission denied|EACCES|Access is denied/i.test(words)) {
    return warning('docker-engine', `You may not use the Docker engine at ${place}.`, {
      cure:
        host.system === 'windows'
          ? 'Add yourself to the group docker-users, then sign in again'
          : 'sudo usermod -aG docker "$USER", then log in again (or, for this shell: newgrp docker)',
      ...blocksDocker,
    })
  }
  if (/TLS|certificate|HTTP request to an HTTPS server/i.test(words)) {
    return warning('docker-engine', `The Docker engine at ${place} and its client do not agree about TLS.`, {
      cure: 'See DOCKER_TLS_VERIFY and DOCKER_CERT_PATH; docker context inspect',
      ...blocksDocker,
    })
  }
  if (/did not answer/.test(words)) {
    return warning('docker-engine', `The Docker engine at ${place} accepts connections, but does not answer.`, {
      cure: restart(host, place),
      ...blocksDocker,
    })
  }
  const what = isDesktop(host, place)
    ? `Docker Desktop is not started: nothing answers at ${place}.`
    : `No Docker engine answers at ${place}.`
  return warning('docker-engine', what, {cure: start(host, place), ...blocksDocker})
}

function isDesktop({system}: Host, place: string): boolean {
  if (/colima|orbstack|\.rd\/|rancher|podman|lima/.test(place)) return false
  return system === 'macos' || system === 'windows' || /desktop/.test(place)
}

/** What starts the engine that listens at this place. */
function start(host: Host, place: string): string {
  if (/colima/.test(place)) return 'colima start'
  if (/orbstack/.test(place)) return 'orb start'
  if (/\.rd\/|rancher/.test(place)) return 'rdctl start'
  if (/podman/.test(place))
    return host.system === 'macos' ? 'podman machine start' : 'systemctl --user start podman.socket'
  if (host.system === 'macos') return 'open -a Docker'
  if (host.system === 'windows') return 'Start Docker Desktop'
  if (/desktop/.test(place)) return 'systemctl --user start docker-desktop'
  if (host.system === 'wsl1' || host.system === 'wsl2')
    return 'Start Docker Desktop on Windows, or here: sudo service docker start'
  if (/\/run\/user\//.test(place)) return 'systemctl --user start docker'
  const sudo = host.root ? '' : 'sudo '
  return `${sudo}systemctl start docker  (without systemd: ${sudo}service docker start)`
}

function restart(host: Host, place: string): string {
  if (isDesktop(host, place)) return 'Restart Docker Desktop'
  return start(host, place).replaceAll(' start', ' restart')
}

function engineFinding({server, resolved}: EngineFacts, info: EngineInfo): Finding {
  const {ServerVersion = '', OSType, OperatingSystem = ''} = info
  const from = resolved && 'endpoint' in resolved ? `, ${resolved.endpoint.source}` : ''
  if (OSType === 'windows') {
    return warning('docker-engine', 'The Docker engine runs Windows containers, and Kafka needs Linux ones.', {
      cure: 'Docker Desktop, in the menu of its icon: Switch to Linux containers',
      ...blocksDocker,
    })
  }
  if (isPodman(server))
    return warning(
      'docker-engine',
      `The engine is Podman ${ServerVersion}${from}; kx is tried with Docker's own only.`,
      {cure: '--runtime local, if the docker runtime fails'},
    )
  if (compareVersions(ServerVersion, oldestEngine) < 0) {
    return warning('docker-engine', `The Docker engine is ${ServerVersion}, and kx needs ${oldestEngine} or later.`, {
      cure: 'Update Docker (https://docs.docker.com/engine/install)',
      ...blocksDocker,
    })
  }
  return ok('docker-engine', `The Docker engine is ${ServerVersion} (${OperatingSystem}${from}).`)
}

/**
 * Freezing a container needs a cgroup of its own with a freezer: a rootless engine has one only with cgroup v2 and the
 * systemd driver (docs.docker.com, "Rootless mode", "Limiting resources"), gVisor has none.
 */
function pauseFinding({server}: EngineFacts, info: EngineInfo): Finding | undefined {
  const {CgroupVersion, CgroupDriver, DefaultRuntime = ''} = info
  const rootless = (info.SecurityOptions ?? []).some(option => /(^|=)rootless\b/.test(option))
  if (/runsc|gvisor/i.test(DefaultRuntime)) {
    return warning('docker-pause', 'Containers run in gVisor here, which can not pause them.', {
      cure: '--runtime local',
      affects: cannotPause,
    })
  }
  if (!rootless) return isPodman(server) ? undefined : ok('docker-pause', 'Containers can be paused.')
  if (CgroupVersion === '2' && CgroupDriver === 'systemd') {
    return ok(
      'docker-pause',
      'The engine is rootless; with cgroup 2 and systemd its containers can be paused. Should a pause fail, kx says so.',
    )
  }
  const what = `The engine is rootless, with cgroup ${CgroupVersion ?? '?'} and the driver ${CgroupDriver ?? '?'}: its containers can not be paused.`
  return warning('docker-pause', what, {
    cure:
      CgroupVersion === '2'
        ? 'Let systemd delegate cgroups to your user (docs.docker.com/engine/security/rootless), or use --runtime local'
        : '--runtime local',
    affects: cannotPause,
  })
}

function isPodman(server = ''): boolean {
  return /podman/i.test(server)
}

function composeFinding(version: string | undefined, host: Host): Finding {
  const cure = install('compose', host)
  if (version === undefined) return warning('compose', "Docker's Compose plugin is missing.", {cure, ...blocksDocker})
  const plain = version.replace(/^v/, '')
  if (compareVersions(plain, oldestCompose) >= 0) return ok('compose', `Docker Compose is ${plain}.`)
  return warning('compose', `Docker Compose is ${plain}, and kx needs ${oldestCompose} or later.`, {
    cure,
    ...blocksDocker,
  })
}

/** An emulated broker hangs at random (docker/for-mac 5736), so such an image is as good as none. */
function imageFinding(image: EngineFacts['image'], info: EngineInfo): Finding | undefined {
  if (image === undefined) return ok('image', 'The image is pulled or built at the first start.')
  if ('obstacle' in image)
    return warning('image', image.obstacle, {
      cure: 'Build one where none can be pulled: compose/image/build',
      ...blocksDocker,
    })
  const engine = architecture(info.Architecture)
  if (engine === undefined || architecture(image.architecture) === engine)
    return ok('image', `The image ${image.name} is here.`)
  return warning(
    'image',
    `The image ${image.name} is made for ${image.architecture}, and would be emulated on this engine (${engine}), where brokers hang at random.`,
    {
      cure: `docker image rm ${image.name} && docker pull --platform linux/${engine} ${image.name}`,
      ...blocksDocker,
    },
  )
}

/** The kernel's names and those of images: x86_64 is amd64, aarch64 is arm64. */
function architecture(name: string | undefined): string | undefined {
  return {x86_64: 'amd64', aarch64: 'arm64', armv7l: 'arm'}[name ?? ''] ?? name
}
