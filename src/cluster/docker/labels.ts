import {hostname, userInfo} from 'node:os'
import type {ClusterState} from '../cluster.js'
import {stateFolder} from '../state.js'

/** On every container, network and volume of kx. What lacks them, or names another owner, kx never touches. */
export const labelNames = {
  cluster: 'kx.cluster',
  /** `user@host:state folder`: two users of one engine may both have a cluster `default`. */
  owner: 'kx.owner',
  /** The kx process that made it. */
  pid: 'kx.pid',
  start: 'kx.start',
  ephemeral: 'kx.ephemeral',
  node: 'kx.node',
} as const

/** Compose's own label on what belongs to a project. */
export const projectLabel = 'com.docker.compose.project'

export interface Identity {
  readonly cluster: string
  readonly owner: string
  readonly pid: number
  readonly startTime: string
  /** Made for one run or one command: to be removed when its process is gone. */
  readonly ephemeral: boolean
}

export function ownerLabel(user = userInfo().username, host = hostname(), folder = stateFolder()): string {
  return `${user}@${host}:${folder}`
}

export function identityOf(cluster: string, ephemeral: boolean, owner: ClusterState['owner']): Identity {
  return {
    cluster,
    owner: ownerLabel(owner.user, owner.host),
    pid: owner.pid,
    startTime: owner.startTime,
    ephemeral,
  }
}

export function labelsOf({cluster, owner, pid, startTime, ephemeral}: Identity): Record<string, string> {
  return {
    [labelNames.cluster]: cluster,
    [labelNames.owner]: owner,
    [labelNames.pid]: String(pid),
    [labelNames.start]: startTime,
    [labelNames.ephemeral]: String(ephemeral),
  }
}

/** The inverse of {@link labelsOf}; `undefined` if these are not the labels of kx. */
export function identityFrom(labels: Readonly<Record<string, string>> | null | undefined): Identity | undefined {
  const cluster = labels?.[labelNames.cluster]
  const owner = labels?.[labelNames.owner]
  if (!labels || !cluster || !owner) return undefined
  return {
    cluster,
    owner,
    pid: Number(labels[labelNames.pid] ?? 0),
    startTime: labels[labelNames.start] ?? '',
    ephemeral: labels[labelNames.ephemeral] === 'true',
  }
}
