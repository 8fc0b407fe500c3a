import {expect, test} from 'vitest'
import {repeatCommand} from '../../../src/report/repeat.js'
import {dataLoss} from './samples.js'

test('the command that repeats a run has every flag that made the plan or the cluster another one', () => {
  const {run} = dataLoss()
  const asked = {trials: 5, heapMiB: 512, image: 'registry.example/own kafka:1', kafkaHome: '/opt/kafka'}
  const plain = repeatCommand(run)
  for (const flag of ['--trials', '--heap', '--image', '--kafka-home']) expect(plain).not.toContain(flag)
  expect(repeatCommand({...run, asked: {}})).toBe(plain)
  expect(repeatCommand({...run, asked})).toContain(
    "--profile default --trials 5 --heap 512m --image 'registry.example/own kafka:1' --kafka-home /opt/kafka",
  )
})
