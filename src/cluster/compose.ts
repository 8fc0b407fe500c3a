import {Document, isMap, Scalar, type YAMLMap} from 'yaml'
import {brokerConfig, nodeIds, type Place, rolesOf, toProperties} from './broker-config.js'
import {type ClusterSpec, controllerIds, defaultSpec} from './spec.js'

/** What a Compose file needs beside the spec. */
export interface ComposeOptions {
  /** Compose's project name, which also begins the names of containers, network and volumes. */
  readonly project: string
  /** As Compose reads it: `$` begins a variable. */
  readonly image: string
  /** 16 bytes, base64 for URLs: Kafka's `Uuid`. */
  readonly clusterId: string
  /** For each broker the port of 127.0.0.1 under which clients reach it. */
  readonly clientPorts: Readonly<Record<number, number>>
  /** On everything that Compose makes: containers, network, volumes. */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * For `docker compose` in a person's hands: a health check for `up --wait` (kx asks over the wire, as an exec in each
   * container costs CPU), and brokers that `down` stops before the controllers (kx does so itself): a broker whose
   * controllers are gone waits in vain to hand its leaderships over.
   */
  readonly byHand?: boolean
  /** Comment lines above the file. */
  readonly heading?: string
}

/** The volume's mount point in the images `apache/kafka` and `kx/kafka`. */
export const dataFolder = '/var/lib/kafka/data'
/** A sub-directory, because a file system may put `lost+found` into the volume's root, at which a broker stops. */
export const logDir = `${dataFolder}/kraft`

/** Ports inside a container. Clients never share a listener with replication: a cut of one must not cut the other. */
const ports = {CLIENT: 9092, CTRL: 9093, REPL: 19092} as const
/** The JVM beside its heap: metaspace, code cache, threads, direct buffers. */
const besideHeapMiB = 300

/** Bash's own sockets, no broker tool: that would be a JVM every few seconds in each container. */
const probe = [
  'CMD',
  'bash',
  '-c',
  [ports.CLIENT, ports.CTRL].map(port => `(exec 3<>/dev/tcp/127.0.0.1/${port})`).join(' || '),
]

/** `broker-1`, `controller-101`: the service's name, and its host name on the cluster's network. */
export function serviceName(spec: ClusterSpec, nodeId: number): string {
  return rolesOf(spec, nodeId).includes('broker') ? `broker-${nodeId}` : `controller-${nodeId}`
}

export function containerName(project: string, spec: ClusterSpec, nodeId: number): string {
  return `${project}-${serviceName(spec, nodeId)}`
}

/** `host:port` of a node: for brokers the published one, for isolated controllers the one on the cluster's network. */
export function addressOf(spec: ClusterSpec, nodeId: number, clientPorts: ComposeOptions['clientPorts']): string {
  if (rolesOf(spec, nodeId).includes('broker')) return `127.0.0.1:${clientPorts[nodeId]}`
  return `${serviceName(spec, nodeId)}:${ports.CTRL}`
}

/** `host:port` of each broker on the cluster's network: a client beside the brokers is told these names again. */
export function replicationAddresses(spec: ClusterSpec): string[] {
  return nodeIds(spec)
    .filter(id => rolesOf(spec, id).includes('broker'))
    .map(id => `${serviceName(spec, id)}:${ports.REPL}`)
}

/**
 * A setting's name as the image reads it (kafka.docker.KafkaDockerWrapper, which undoes this in the same order):
 * `.` → `_`, `_` → `__`, `-` → `___`.
 */
export function environmentName(setting: string): string {
  const mapped = setting.replace(/[._-]/g, sign => ({'.': '_', _: '__', '-': '___'})[sign] as string)
  return `KAFKA_${mapped.toUpperCase()}`
}

/**
 * The Compose file of a cluster. Pure: the same arguments give the same text, and `compose/kafka.yml` is this function
 * applied to the default spec.
 */
export function renderCompose(spec: ClusterSpec, options: ComposeOptions): string {
  const ids = nodeIds(spec)
  const environments = new Map(ids.map(id => [id, environment(spec, id, options)]))
  const shared = common([...environments.values()])
  const contents = {
    name: options.project,
    'x-config': shared,
    'x-kafka': template(spec, options),
    services: Object.fromEntries(
      ids.map(id => [serviceName(spec, id), service(spec, id, options, without(environments.get(id) ?? {}, shared))]),
    ),
    networks: {default: options.labels ? {labels: literal(options.labels)} : {}},
    volumes: Object.fromEntries(
      ids.map(id => [serviceName(spec, id), options.labels ? {labels: literal(options.labels)} : {}]),
    ),
  }
  const file = new Document(contents)
  const config = mapAt(file, ['x-config'])
  const kafka = mapAt(file, ['x-kafka'])
  for (const id of ids) {
    const path = ['services', serviceName(spec, id)]
    mergeFirst(file, mapAt(file, path), kafka, 'kafka')
    mergeFirst(file, mapAt(file, [...path, 'environment']), config, 'config')
  }
  if (options.heading) file.commentBefore = options.heading.replace(/^(?=.)/gm, ' ')
  return file.toString({lineWidth: 0, flowCollectionPadding: false})
}

/** `compose/kafka.yml`: the cluster as a person starts it by hand, on fixed ports. */
export function standardCompose(): string {
  return renderCompose(defaultSpec, {
    project: 'kx-by-hand',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the variable is Compose's
    image: '${KX_IMAGE:-apache/kafka:4.4.0}',
    clusterId: Buffer.from('kx cluster no. 1').toString('base64url'),
    clientPorts: {1: 19092, 2: 19093, 3: 19094},
    byHand: true,
    heading: [
      'Three brokers and three isolated controllers, as in production: the cluster that `kx up --runtime docker` starts.',
      'Made by `renderCompose` (src/cluster/compose.ts); a test compares. Make it anew with `node --import tsx scripts/compose.ts`.',
      '  docker compose -f compose/kafka.yml up --wait      start; bootstrap servers: 127.0.0.1:19092,127.0.0.1:19093,127.0.0.1:19094',
      '  docker compose -f compose/kafka.yml down --volumes stop, and delete the data',
      'KX_IMAGE=kx/kafka:4.4.0 takes the image that compose/image/ builds where none can be pulled.',
    ].join('\n'),
  })
}

/** What all containers have in common, as an extension field that each service merges. */
function template(spec: ClusterSpec, options: ComposeOptions): Record<string, unknown> {
  return {
    image: options.image,
    // A broker that comes back by itself would spoil every fault.
    restart: quoted('no'),
    // A controlled shutdown moves leaders away first; Docker's own 10 s would make a kill of it.
    stop_grace_period: '60s',
    mem_limit: `${spec.heapMiB + besideHeapMiB}m`,
    // Volumes that the image declares and kx does not need: without this each container would leave anonymous ones.
    tmpfs: ['/etc/kafka/secrets', '/mnt/shared/config'],
    logging: {driver: 'json-file', options: {'max-size': '20m', 'max-file': '2'}},
    ...(options.byHand ? {healthcheck: {test: probe, interval: '2s', timeout: '5s', retries: 60}} : {}),
  }
}

function service(
  spec: ClusterSpec,
  id: number,
  options: ComposeOptions,
  own: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const isBroker = rolesOf(spec, id).includes('broker')
  const isolated = controllerIds(spec).filter(controller => !rolesOf(spec, controller).includes('broker'))
  return {
    container_name: containerName(options.project, spec, id),
    ...(options.labels ? {labels: literal({...options.labels, 'kx.node': String(id)})} : {}),
    ...(options.byHand && isBroker && isolated.length > 0
      ? {depends_on: isolated.map(controller => serviceName(spec, controller))}
      : {}),
    ...(isBroker ? {ports: [`127.0.0.1:${options.clientPorts[id]}:${ports.CLIENT}`]} : {}),
    volumes: [`${serviceName(spec, id)}:${dataFolder}`],
    ...(Object.keys(spec.features).length > 0 ? {entrypoint: ['/bin/bash', '-c', literalText(formatFirst(spec))]} : {}),
    environment: literal(own),
  }
}

/** All variables of a container: Kafka's settings, and those of the image and the JVM. */
function environment(spec: ClusterSpec, id: number, options: ComposeOptions): Record<string, string> {
  const config = brokerConfig(spec, id, placeOf(spec, id, options.clientPorts))
  const settings = Object.entries(config).map(([name, value]) => [environmentName(name), propertyValue(value)])
  return {
    CLUSTER_ID: options.clusterId,
    KAFKA_HEAP_OPTS: `-Xms${spec.heapMiB}m -Xmx${spec.heapMiB}m`,
    KAFKA_JVM_PERFORMANCE_OPTS: jvmOptions(spec).join(' '),
    // If this is empty the image opens a JMX agent, which costs time at start and a port.
    KAFKA_JMX_OPTS: '-Djava.awt.headless=true',
    ...Object.fromEntries(settings),
    ...(Object.keys(spec.features).length > 0 ? {KX_FORMAT_PROPERTIES: toProperties(config)} : {}),
  }
}

function jvmOptions(spec: ClusterSpec): string[] {
  return [
    '-XX:+UseSerialGC',
    '-XX:+ExitOnOutOfMemoryError',
    '-XX:-UsePerfData',
    // Java up to 21.0.5 dies of SIGILL in containers on Apple M4 (adoptium-support 1223); other machines lack the flag.
    '-XX:+IgnoreUnrecognizedVMOptions',
    '-XX:UseSVE=0',
    ...(spec.compiler === 'c1' ? ['-XX:TieredStopAtLevel=1'] : []),
  ]
}

/**
 * The image's own formatting knows no feature levels, but accepts a directory that is formatted already. So the
 * directory is formatted before the image's entry point runs.
 */
function formatFirst(spec: ClusterSpec): string {
  const features = Object.entries(spec.features).map(([name, level]) => `--feature ${name}=${level}`)
  return [
    'set -eu',
    `if [ ! -e ${logDir}/meta.properties ]; then`,
    `  printf '%s' "$KX_FORMAT_PROPERTIES" > /tmp/kx-format.properties`,
    `  /opt/kafka/bin/kafka-storage.sh format --cluster-id "$CLUSTER_ID" --config /tmp/kx-format.properties ${features.join(' ')}`,
    'fi',
    'exec /etc/kafka/docker/run',
    '',
  ].join('\n')
}

function placeOf(spec: ClusterSpec, id: number, clientPorts: ComposeOptions['clientPorts']): Place {
  const roles = rolesOf(spec, id)
  const broker = roles.includes('broker')
  return {
    listeners: {
      ...(broker ? {CLIENT: {host: '', port: ports.CLIENT}, REPL: {host: '', port: ports.REPL}} : {}),
      ...(roles.includes('controller') ? {CTRL: {host: '', port: ports.CTRL}} : {}),
    },
    advertised: broker
      ? {
          CLIENT: {host: '127.0.0.1', port: clientPorts[id] ?? ports.CLIENT},
          REPL: {host: serviceName(spec, id), port: ports.REPL},
        }
      : {},
    voters: controllerIds(spec).map(nodeId => ({nodeId, host: serviceName(spec, nodeId), port: ports.CTRL})),
    logDir,
  }
}

/** The image appends `name=value` to a properties file as it is, so the value must already be escaped for one. */
function propertyValue(value: string): string {
  return toProperties({v: value}).slice('v='.length, -1)
}

/** What has the same value in every map. */
function common(maps: readonly Readonly<Record<string, string>>[]): Record<string, string> {
  const [first = {}, ...rest] = maps
  const same = Object.entries(first).filter(([name, value]) => rest.every(map => map[name] === value))
  return literal(Object.fromEntries(same))
}

function without(map: Readonly<Record<string, string>>, shared: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(map).filter(([name]) => !Object.hasOwn(shared, name)))
}

/** Compose replaces `$NAME`, even in environments and labels; `$$` is a dollar sign. */
function literalText(text: string): string {
  return text.replaceAll('$', '$$$$')
}

function literal(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, literalText(value)]))
}

function mapAt(file: Document, path: readonly string[]): YAMLMap {
  const node = file.getIn(path, true)
  if (!isMap(node)) throw new TypeError(`no map at ${path.join('.')}`)
  return node
}

/** For a reader of YAML 1.1 a bare `no` is a boolean. */
function quoted(text: string): Scalar {
  const scalar = new Scalar(text)
  scalar.type = Scalar.QUOTE_DOUBLE
  return scalar
}

/** `<<: *name` as the first line of a map. */
function mergeFirst(file: Document, into: YAMLMap, from: YAMLMap, anchor: string): void {
  into.items.unshift(file.createPair('<<', file.createAlias(from, anchor)))
}
