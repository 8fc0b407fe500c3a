import {type AddressInfo, createServer, type Server, type Socket} from 'node:net'
import {afterEach, beforeEach, expect, test} from 'vitest'
import type {Job} from '../../../src/clients/job.js'
import {produceWithKafkajs} from '../../../src/clients/kafkajs-producer.js'

// A broker that takes connections and says nothing: kafkajs waits for it half a minute and more.

let server: Server
const sockets: Socket[] = []
let asked: Promise<void>

beforeEach(async () => {
  asked = new Promise(resolve => {
    server = createServer(socket => {
      sockets.push(socket)
      socket.once('data', () => resolve())
      socket.on('error', () => undefined)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await new Promise(resolve => server.close(resolve))
})

const job = (): Job => ({
  brokers: [`127.0.0.1:${(server.address() as AddressInfo).port}`],
  topic: 'silent',
  codec: 'none',
  idempotent: false,
  rounds: [{records: [{key: 'k', value: 'v'}]}],
})

test('a job that is interrupted ends at once, whatever it waits for', async () => {
  const interruption = new AbortController()
  const writing = produceWithKafkajs(job(), interruption.signal)
  writing.catch(() => undefined)
  await asked
  const since = performance.now()
  interruption.abort()
  await expect(writing).rejects.toMatchObject({code: 'KX_INTERRUPTED', kind: 'interrupted'})
  expect(performance.now() - since).toBeLessThan(2_000)
})

test('a job that is interrupted before it begins does not connect', async () => {
  await expect(produceWithKafkajs(job(), AbortSignal.abort())).rejects.toMatchObject({code: 'KX_INTERRUPTED'})
  expect(sockets).toEqual([])
})
