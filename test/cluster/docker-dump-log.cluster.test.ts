import {afterAll, beforeAll, expect, test} from 'vitest'
import {ownerLabel} from '../../src/cluster/docker/labels.js'
import {docker, Rig, runtime} from './docker-rig.js'
import {partitionsOf} from './partitions.js'

let rig: Rig | undefined
beforeAll(async () => {
  rig = await Rig.open()
})
afterAll(async () => {
  await rig?.[Symbol.asyncDispose]()
})

partitionsOf(() => runtime)

test('reading the volumes of a cluster that is down leaves no container', async () => {
  expect(await docker('ps', '--all', '--quiet', '--filter', `label=kx.owner=${ownerLabel()}`)).toBe('')
})
