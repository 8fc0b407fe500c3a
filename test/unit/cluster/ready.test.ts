import {type AddressInfo, createServer, type Server} from 'node:net'
import {afterEach, describe, expect, it} from 'vitest'
import type {Cluster, ClusterNode, NodeState} from '../../../src/cluster/cluster.js'
import {readiness, untilReady} from '../../../src/cluster/ready.js'
import {defaultSpec} from '../../../src/cluster/spec.js'

const servers: Server[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => new Promise(resolve => server.close(resolve))))
})

/** A port that accepts and never says a word, as Docker's proxy does for a container that is paused. */
async function openPort(): Promise<number> {
  const server = createServer(socket => void socket.on('error', () => {}).resume())
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** The parts of a cluster that readiness looks at, without any broker behind them. */
function clusterAt(port: number, state: NodeState, log: readonly string[] = []): Cluster {
  const broker = {
    nodeId: 1,
    roles: ['broker', 'controller'],
    address: `127.0.0.1:${port}`,
    state: async () => state,
    logTail: async (lines: number) => log.slice(-lines),
  } as unknown as ClusterNode
  const spec = {...defaultSpec, brokers: 1, controllers: 0}
  return {name: 'none', clusterId: 'id', spec, nodes: [broker], brokers: [broker]} as unknown as Cluster
}

const quietly = {signal: new AbortController().signal, progress: () => {}}

describe('an open port', () => {
  it('says nothing: the cluster is not ready, and the broker that is silent is named', async () => {
    const port = await openPort()
    const {ready, missing, controllerId} = await readiness(clusterAt(port, 'running'), 300)
    expect({ready, controllerId}).toEqual({ready: false, controllerId: undefined})
    expect(missing).toMatch(new RegExp(`^Broker 1 \\(127\\.0\\.0\\.1:${port}\\) does not answer: `))
  })
})

describe('waiting for a cluster', () => {
  it('ends with what was missing and the last lines of the log, when the time is over', async () => {
    const cluster = clusterAt(1, 'running', ['INFO [BrokerLifecycleManager id=1] Unable to register the broker'])
    await expect(untilReady(cluster, {...quietly, timeoutMs: 400})).rejects.toMatchObject({
      code: 'KX_TIMEOUT',
      exit: 4,
      message: expect.stringMatching(
        /^Waited 1 s for cluster "none" to be ready, in vain\. Broker 1 \(127\.0\.0\.1:1\) does not answer: [^\n]+ The last lines of the log of node 1:\n {2}INFO \[Broker/,
      ),
    })
  })

  it('ends at once when a node has ended, with its last words and without the frames of stack traces', async () => {
    const log = [
      'ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)',
      'java.lang.RuntimeException: a wrapper',
      '\tat kafka.Kafka$.main(Kafka.scala:97)',
      '\t... 16 more',
      'Caused by: java.net.BindException: Address already in use',
      '\tat java.base/sun.nio.ch.Net.bind0(Native Method)',
    ]
    const begun = performance.now()
    await expect(untilReady(clusterAt(1, 'killed', log), {...quietly, timeoutMs: 60_000})).rejects.toMatchObject({
      code: 'KX_NODE_DIED',
      exit: 4,
      message: [
        'Node 1 of cluster "none" ended while it started. The last lines of the log of node 1:',
        '  ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)',
        '  java.lang.RuntimeException: a wrapper',
        '  Caused by: java.net.BindException: Address already in use',
      ].join('\n'),
    })
    expect(performance.now() - begun).toBeLessThan(5_000)
  })

  it('names a paused node instead of asking it', async () => {
    await expect(untilReady(clusterAt(1, 'paused'), {...quietly, timeoutMs: 400})).rejects.toMatchObject({
      code: 'KX_TIMEOUT',
      message: expect.stringContaining('Node 1 is paused.'),
    })
  })

  it('ends when the user interrupts', async () => {
    const signal = AbortSignal.timeout(200)
    await expect(untilReady(clusterAt(1, 'running'), {...quietly, signal, timeoutMs: 60_000})).rejects.toMatchObject({
      code: 'KX_INTERRUPTED',
      exit: 130,
    })
  })
})
