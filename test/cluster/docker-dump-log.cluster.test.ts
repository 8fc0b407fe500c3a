import {afterAll, beforeAll} from 'vitest'
import {Rig, runtime} from './docker-rig.js'
import {partitionsOf} from './partitions.js'

let rig: Rig | undefined
beforeAll(async () => {
  rig = await Rig.open()
})
afterAll(async () => {
  await rig?.[Symbol.asyncDispose]()
})

partitionsOf(() => runtime)
