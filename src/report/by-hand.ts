import type {ReportInput, RunRecord} from '../experiment/run.js'
import {compareVersions} from '../kafka/versions.js'
import {plural} from '../util/format.js'
import {timeLabel} from './scale.js'
import {shellWord} from './repeat.js'

/** One step of a recipe: a sentence, and the commands that a person types. */
export interface Step {
  readonly text: string
  readonly commands: readonly string[]
}

const topic = 'by-hand'

/**
 * How to see the same with nothing but Kafka's own tools and `kill`. It follows from the run alone: its cluster, and
 * the faults of its first trial that had any.
 */
export function byHand({run, faults}: ReportInput): Step[] {
  // Without a fault it is about what lies in the files, and not about what was lost.
  const last = faults.length > 0 ? [writing(run), ...blows(run, faults), looking(run)] : [codecs(run), dumping()]
  return [cluster(run, faults), topicStep(run), ...last]
}

function cluster({cluster: {spec}, environment}: RunRecord, faults: ReportInput['faults']): Step {
  const victims = [...new Set(faults.map(({nodeId}) => nodeId))].sort((a, b) => a - b)
  const handles = victims.map(node =>
    environment.runtime === 'docker'
      ? `NODE_${node}=<container of node ${node}>`
      : `NODE_${node}=$(pgrep -f node-${node}.properties)`,
  )
  const nodes =
    spec.controllers === 0 ? 'combined nodes' : `brokers and ${plural(spec.controllers, 'isolated controller')}`
  const start =
    environment.runtime === 'docker'
      ? ['docker compose -f compose/kafka.yml up --wait']
      : [
          'CLUSTER=$(bin/kafka-storage.sh random-uuid)',
          'bin/kafka-storage.sh format --cluster-id "$CLUSTER" --config node-1.properties   # and each other node',
          'bin/kafka-server-start.sh -daemon node-1.properties                              # and each other node',
        ]
  return {
    text: `A cluster of Kafka ${environment.kafka}: ${spec.brokers} ${nodes}, with the settings listed under “Environment”.`,
    commands: [...start, 'BOOTSTRAP=<host:port of each broker, with commas>', ...handles],
  }
}

function topicStep({cluster: {spec}}: RunRecord): Step {
  const replicas = Math.min(3, spec.brokers)
  const config = replicas > 1 ? ` --config min.insync.replicas=${replicas - 1}` : ''
  const tool = 'bin/kafka-topics.sh --bootstrap-server "$BOOTSTRAP"'
  return {
    text: 'A topic of one partition. The second command says who leads it and who is in its ISR; use it after each of the next steps.',
    commands: [
      `${tool} --create --topic ${topic} --partitions 1 --replication-factor ${replicas}${config}`,
      `${tool} --describe --topic ${topic}`,
    ],
  }
}

/** KIP-1147 (4.2) renamed `--producer-property` to `--command-property`. */
function propertyFlag(kafka: string, old: string): string {
  return compareVersions(kafka, '4.2.0') >= 0 ? '--command-property' : old
}

function writing({environment: {kafka}}: RunRecord): Step {
  const property = propertyFlag(kafka, '--producer-property')
  const write = (acks: string, values: string) =>
    `seq -f '${values}-%g' 1 500 | bin/kafka-console-producer.sh --bootstrap-server "$BOOTSTRAP" --topic ${topic} ${property} acks=${acks}`
  return {
    text: 'Records whose values say how they were written, before and between the faults. The verifiable producer prints a line for each acknowledgement.',
    commands: [
      write('1', 'acks1'),
      write('all', 'acksall'),
      `bin/kafka-verifiable-producer.sh --bootstrap-server "$BOOTSTRAP" --topic ${topic} --acks -1 --max-messages 500`,
    ],
  }
}

/** A producer of each codec, and one with a transaction: what a segment can tell of its writers. */
function codecs({environment: {kafka}}: RunRecord): Step {
  const property = propertyFlag(kafka, '--producer-property')
  const commands = ['none', 'gzip', 'snappy', 'lz4', 'zstd'].map(
    codec =>
      `seq -f '${codec}-%g' 1 20 | bin/kafka-console-producer.sh --bootstrap-server "$BOOTSTRAP" --topic ${topic} ${property} compression.type=${codec}`,
  )
  const bootstrap =
    compareVersions(kafka, '4.2.0') >= 0
      ? '--bootstrap-server "$BOOTSTRAP"'
      : '--producer-props bootstrap.servers="$BOOTSTRAP"'
  return {
    text: 'Records in each codec, and in a transaction. Each command is a producer of its own, with an id of its own.',
    commands: [
      ...commands,
      `bin/kafka-producer-perf-test.sh ${bootstrap} --topic ${topic} --num-records 20 --record-size 60 --throughput -1 --transactional-id ${topic} --transaction-duration-ms 1000`,
    ],
  }
}

function dumping(): Step {
  const file = `${topic}-0/00000000000000000000.log`
  return {
    text: 'What lies in each replica’s file: the same batches with the same CRCs. In a copy in which one byte was overwritten, that batch has isvalid: false.',
    commands: [
      `bin/kafka-dump-log.sh --deep-iteration --print-data-log --files <log.dirs of each broker>/${file}`,
      `cp <log.dirs of a broker>/${file} . && printf '\\377' | dd of=00000000000000000000.log bs=1 seek=100 conv=notrunc`,
      'bin/kafka-dump-log.sh --files 00000000000000000000.log',
    ],
  }
}

function blows({environment: {runtime}}: RunRecord, faults: ReportInput['faults']): Step[] {
  const first = faults.filter(({trial}) => trial === Math.min(...faults.map(each => each.trial)))
  if (first.length === 0) return []
  const signals: Readonly<Record<string, string>> = {
    pause: 'kill -STOP',
    resume: 'kill -CONT',
    kill: 'kill -9',
    stop: 'kill -TERM',
  }
  const engine: Readonly<Record<string, string>> = {
    pause: 'docker pause',
    resume: 'docker unpause',
    kill: 'docker kill',
    stop: 'docker stop',
  }
  const commands = first.map(({fault, nodeId, startMs}) => {
    const verb = (runtime === 'docker' ? engine : signals)[fault]
    const start =
      runtime === 'docker'
        ? `docker start "$NODE_${nodeId}"`
        : `bin/kafka-server-start.sh -daemon node-${nodeId}.properties`
    const command = verb
      ? `${verb} "$NODE_${nodeId}"`
      : fault === 'start'
        ? start
        : `# ${shellWord(fault)} node ${nodeId}`
    return `${command.padEnd(52)}  # after ${timeLabel(Math.round(startMs))}`
  })
  return [
    {
      text: `The faults of trial ${first[0]?.trial}, in their order. A paused node must be resumed within its session (9 s by default) or it is fenced.`,
      commands,
    },
  ]
}

function looking({environment: {kafka}}: RunRecord): Step {
  const property = propertyFlag(kafka, '--consumer-property')
  return {
    text: 'What a reader gets, and what lies in each replica’s own file: the same offset with another epoch or value is the proof of a truncation.',
    commands: [
      `bin/kafka-console-consumer.sh --bootstrap-server "$BOOTSTRAP" --topic ${topic} --from-beginning --timeout-ms 10000 ${property} isolation.level=read_committed`,
      `bin/kafka-dump-log.sh --print-data-log --files <log.dirs of each broker>/${topic}-0/00000000000000000000.log`,
    ],
  }
}
