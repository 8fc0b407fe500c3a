import {createHash} from 'node:crypto'
import {readdirSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {compareVersions} from '../../kafka/versions.js'
import type {Java} from './java.js'

/** A Java and a Kafka: all that is needed to run a class of Kafka. */
export interface KafkaJvm {
  readonly java: Java
  readonly kafkaVersion: string
  readonly libs: string
  /** The jars in a fixed order: a class archive fits only the very same class path. */
  readonly classPath: string
  /** Differs whenever the Java, the jars or their place do. */
  readonly fingerprint: string
}

export function kafkaJvm(java: Java, kafkaVersion: string, libs: string): KafkaJvm {
  const jars = jarsOf(libs)
  const hash = createHash('sha256').update(`${java.executable}\n${java.build}\n${libs}\n`)
  for (const jar of jars) {
    const {size, mtimeMs} = statSync(join(libs, jar))
    hash.update(`${jar} ${size} ${mtimeMs}\n`)
  }
  return {java, kafkaVersion, libs, classPath: classPathOf(libs), fingerprint: hash.digest('hex').slice(0, 16)}
}

export function classPathOf(libs: string): string {
  return jarsOf(libs)
    .map(jar => join(libs, jar))
    .join(':')
}

function jarsOf(libs: string): string[] {
  return readdirSync(libs)
    .filter(name => name.endsWith('.jar'))
    .sort()
}

/** The class path goes into the environment: command lines stay readable, and `ps` shows which node it is. */
export function jvmEnvironment({classPath}: Pick<KafkaJvm, 'classPath'>): NodeJS.ProcessEnv {
  return {...process.env, CLASSPATH: classPath}
}

export interface NodeJvmOptions {
  readonly heapMiB: number
  readonly compiler: 'full' | 'c1'
  /** Where native libraries are unpacked: a killed JVM leaves them behind, so not the system's temp folder. */
  readonly tmp: string
  readonly log4j: string
  readonly properties: string
  /** `-XX:SharedArchiveFile=…` or what makes one. */
  readonly archive: readonly string[]
}

const mainClass = 'kafka.Kafka'

/**
 * What the command line of a node has and no other has: not an editor or a `tail` of one of its files either. With a
 * folder that ends in `/`: of all nodes whose settings lie below it.
 */
export function nodeMark(properties: string): string {
  return `${mainClass} ${properties}`
}

/** The command line of a node, without the launcher. It ends with the path of its settings, by which it is found. */
export function nodeArguments({heapMiB, compiler, tmp, log4j, properties, archive}: NodeJvmOptions): string[] {
  return [
    `-Xms${heapMiB}m`,
    `-Xmx${heapMiB}m`,
    '-XX:+UseSerialGC',
    ...(compiler === 'c1' ? ['-XX:TieredStopAtLevel=1'] : []),
    ...archive,
    // A killed JVM leaves its performance counters behind in the temp folder.
    '-XX:-UsePerfData',
    '-Djava.awt.headless=true',
    `-Djava.io.tmpdir=${tmp}`,
    `-Dlog4j2.configurationFile=${log4j}`,
    mainClass,
    properties,
  ]
}

/** For tools that live a second. */
export const toolOptions = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'] as const

/** Kafka's dump tool moved out of the core in 4.3. */
export function dumpLogClass(kafkaVersion: string): string {
  return compareVersions(kafkaVersion, '4.3.0') < 0
    ? 'kafka.tools.DumpLogSegments'
    : 'org.apache.kafka.tools.DumpLogSegments'
}

/**
 * The log of a node: all that tells a story (elections, fencing, ISR changes, truncation) at INFO, and at most 2 × 16
 * MiB. Kafka's listing of every setting at each start is left out: settings are read back over the wire.
 */
export function log4jConfig(logFile: string): string {
  return `status=warn
appender.node.type=RollingFile
appender.node.name=node
appender.node.fileName=${logFile}
appender.node.filePattern=${logFile}.%i
appender.node.layout.type=PatternLayout
appender.node.layout.pattern=%d{yyyy-MM-dd HH:mm:ss,SSS} %p %m (%c)%n
appender.node.policies.type=Policies
appender.node.policies.size.type=SizeBasedTriggeringPolicy
appender.node.policies.size.size=16MB
appender.node.strategy.type=DefaultRolloverStrategy
appender.node.strategy.max=1
rootLogger.level=info
rootLogger.appenderRef.node.ref=node
${quiet.map((name, index) => `logger.quiet${index}.name=${name}\nlogger.quiet${index}.level=warn\n`).join('')}`
}

const quiet = [
  'org.apache.kafka.common.config.AbstractConfig',
  'kafka.server.KafkaConfig',
  'org.apache.kafka.common.utils.AppInfoParser',
  'org.apache.kafka.common.telemetry',
  'org.apache.kafka.clients.producer.ProducerConfig',
  'org.apache.kafka.coordinator.group.GroupCoordinatorConfig',
  'kafka.utils.Log4jControllerRegistration',
]
