import {table, type View} from '../src/cli/answer.js'
import {paint} from '../src/cli/terminal.js'
import type {ClusterStatus} from '../src/cluster/lifecycle.js'
import {plural} from '../src/util/format.js'

/** One cluster for people: what it is, how to reach it, what runs where. */
export function clusterText(status: ClusterStatus, view: View): string {
  const rows = status.nodes.map(node => [
    String(node.nodeId),
    node.roles.join('+') + (node.nodeId === status.controllerId ? ' (active)' : ''),
    node.state,
    node.address,
    String(node.container ?? node.pid ?? (view.unicode ? '–' : '-')),
  ])
  const place = status.runtime === 'docker' ? 'container' : 'pid'
  return [
    headline(status, view),
    '',
    `Bootstrap servers  ${status.bootstrapServers}`,
    '',
    table(['node', 'role', 'state', 'address', place], rows),
  ].join('\n')
}

export function headline(status: ClusterStatus, view: View): string {
  const ready = status.ready
    ? paint('ready', 'green', view.colour)
    : paint(status.phase === 'down' ? 'stopped' : 'not ready', 'red', view.colour)
  const why = status.missing === undefined ? '' : `\n${status.missing}`
  return `Cluster ${status.name} is ${ready}: ${kindOf(status)}.${why}`
}

export function kindOf({kafkaVersion, newerThanKnown, runtime, profile, nodes}: ClusterStatus): string {
  const brokers = nodes.filter(node => node.roles.includes('broker')).length
  const controllers = nodes.length - brokers
  const shape =
    controllers === 0
      ? `${plural(brokers, 'combined node')}`
      : `${plural(brokers, 'broker')}, ${plural(controllers, 'controller')}`
  return `Kafka ${kafkaVersion}${newerThanKnown ? ' (newer than this kx knows)' : ''}, ${runtime}, ${shape}, profile ${profile}`
}
