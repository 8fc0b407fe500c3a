import {bytes} from '../../util/format.js'
import type {ClusterSpec} from '../spec.js'
import {type Finding, ok, warning} from './finding.js'
import type {Host} from './host.js'

const mebibyte = 1_048_576

export interface MemoryFacts {
  /** What could be had now without swapping. */
  readonly available: number
  readonly total: number
  readonly swapUsed: number
  /** The memory of the engine, which on a desktop is that of its virtual machine. */
  readonly engine?: number
}

/** Measured: 3 + 3 nodes with heaps of 384 MiB hold 1.2 GB, and can grow to the heap and about 150 MiB each. */
export function memoryFindings({available, total, swapUsed, engine}: MemoryFacts, spec: ClusterSpec): Finding[] {
  const nodes = Math.max(spec.brokers, 1) + spec.controllers
  const usual = nodes * 210 * mebibyte
  const most = nodes * (spec.heapMiB + 150) * mebibyte
  const need = `${spec.brokers} brokers and ${spec.controllers} controllers take about ${bytes(usual)}, at most ${bytes(most)}`
  const less = `kx up --controllers 1 --heap 256 takes less`
  const findings: Finding[] = []
  if (available < usual * 1.2) {
    findings.push(
      warning('memory', `${bytes(available)} of ${bytes(total)} memory are free, and ${need}.`, {
        cure: `Close what is not needed; ${less}.`,
        affects: 'the start may fail, or a node be killed in the middle',
      }),
    )
  } else findings.push(ok('memory', `${bytes(available)} of ${bytes(total)} memory are free; ${need}.`))
  if (engine !== undefined && engine < most) {
    findings.push(
      warning('docker-memory', `The Docker engine has ${bytes(engine)} in all, and ${need}.`, {
        cure: `Docker Desktop, Settings, Resources, Memory limit; ${less}.`,
        affects: '--runtime docker: nodes may be killed',
      }),
    )
  }
  if (swapUsed > 512 * mebibyte && available < most) {
    findings.push(
      warning('swap', `${bytes(swapUsed)} are swapped out: a broker that waits for its memory misses heartbeats.`, {
        cure: 'Close what is not needed.',
        affects: 'failover and all times',
      }),
    )
  }
  return findings
}

export function processorFinding(count: number): Finding {
  if (count >= 2) return ok('processors', `${count} processors.`)
  return warning('processors', 'There is one processor: brokers may miss heartbeats while others start.', {
    affects: 'failover and all times',
  })
}

export interface FolderFacts {
  /** `state`, `cache`, `results` */
  readonly name: string
  readonly folder: string
  readonly free: number
  /** Files that can still be made; 0 means none, `undefined` that the file system knows no limit. */
  readonly freeFiles?: number
  /** Why it can't be written: EROFS, EACCES, ENOTDIR, … */
  readonly obstacle?: string
  readonly variable?: string
}

const purposes: Readonly<Record<string, string>> = {
  state: 'clusters and their data',
  cache: "Kafka's jars",
  results: 'what experiments found',
}

export function folderFinding({name, folder, free, freeFiles, obstacle, variable}: FolderFacts): Finding {
  const id = `folder-${name}`
  const elsewhere = variable ? `export ${variable}=/another/folder` : `--results /another/folder`
  const purpose = purposes[name] ?? name
  // Without a cache the jars may come from a distribution: their own finding says so.
  const blocks = name === 'state' ? ({blocks: 'all'} as const) : {}
  if (obstacle !== undefined) {
    const why =
      {
        EROFS: 'its file system is read-only',
        EACCES: 'you may not write there',
        EPERM: 'you may not write there',
        ENOTDIR: 'a file is in the way',
      }[obstacle] ?? obstacle
    return warning(id, `${folder} (${purpose}) can't be written: ${why}.`, {
      cure: elsewhere,
      affects: `all that needs ${purpose}`,
      ...blocks,
    })
  }
  if (freeFiles !== undefined && freeFiles < 1_000) {
    return warning(id, `The disk of ${folder} (${purpose}) has room for ${freeFiles} more files only (df -i).`, {
      cure: elsewhere,
      affects: 'brokers stop when they can make no segment',
    })
  }
  if (free < 1_024 * mebibyte) {
    return warning(id, `${bytes(free)} are free on the disk of ${folder} (${purpose}); experiments want 1 GiB.`, {
      cure: `Make room (kx status lists clusters, kx down --wipe removes their data), or: ${elsewhere}`,
      affects: 'a broker whose disk is full stops',
    })
  }
  return ok(id, `${folder} (${purpose}): ${bytes(free)} are free.`)
}

export interface PortFacts {
  /** The system takes the ports of outgoing connections from here. */
  readonly ephemeral?: {readonly first: number; readonly last: number}
  /** A block that a cluster of the default size could have now. */
  readonly freeBlock: boolean
}

/** `first` and `last` of the ports that kx chooses from, see ports.ts. */
export const portRange = {first: 19_000, last: 29_999}

export function portsFinding({ephemeral, freeBlock}: PortFacts): Finding {
  const {first, last} = portRange
  if (!freeBlock) {
    return warning('ports', `No block of ports is free between ${first} and ${last}.`, {
      cure: 'kx status lists the clusters that keep ports; kx down --wipe gives them back; or: kx up --port-base 31000',
      affects: 'no cluster can get its ports',
    })
  }
  if (ephemeral && ephemeral.first <= last && ephemeral.last >= first) {
    return warning(
      'ports',
      `Outgoing connections take ports from ${ephemeral.first} to ${ephemeral.last} here, among them the ports of brokers (${first} to ${last}).`,
      {
        cure: 'sudo sysctl -w net.ipv4.ip_local_port_range="32768 60999"',
        affects: 'a node that was down may find its port taken when it starts again',
      },
    )
  }
  return ok('ports', `Ports from ${first} to ${last} are there for brokers.`)
}

export interface LimitFacts {
  /** `undefined`: unlimited or unknown. */
  readonly openFiles?: number
  readonly processes?: number
}

/** A broker holds some files for each partition, a JVM about 90 threads, and Linux counts threads as processes. */
export function limitFindings(
  {openFiles, processes}: LimitFacts,
  {system, root}: Pick<Host, 'system' | 'root'>,
): Finding[] {
  const findings: Finding[] = []
  if (openFiles !== undefined && openFiles < 4_096) {
    findings.push(
      warning('open-files', `A process may have ${openFiles} files open here; a broker wants 4096.`, {
        cure: system === 'macos' ? 'ulimit -n 10240' : 'ulimit -n 65536',
        affects: 'brokers of --runtime local stop when they run out',
      }),
    )
  }
  // The limit does not bind root.
  if (processes !== undefined && processes < 2_000 && !root) {
    findings.push(
      warning('processes', `You may have ${processes} threads here, and a cluster of six nodes takes about 600.`, {
        cure: 'ulimit -u 8192',
        affects: 'JVMs of --runtime local die with "unable to create native thread"',
      }),
    )
  }
  return findings.length > 0 ? findings : [ok('limits', 'Limits of open files and threads are high enough.')]
}
