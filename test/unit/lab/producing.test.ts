import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, expect, test} from 'vitest'
import type {AnyExperiment} from '../../../src/experiment/experiment.js'
import {loadExperiment} from '../../../src/lab/experiments.js'
import {obstaclesOf} from '../../../src/lab/producing.js'

const before = process.env.XDG_CACHE_HOME
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, {recursive: true, force: true})
  if (before === undefined) delete process.env.XDG_CACHE_HOME
  else process.env.XDG_CACHE_HOME = before
})

test('a client that is not installed is an obstacle to its conditions, named with its cure; the others are none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kx-cache-'))
  folders.push(folder)
  process.env.XDG_CACHE_HOME = folder
  expect(await obstaclesOf(await loadExperiment('segments'))).toEqual({
    librdkafka: 'The second client, librdkafka, is not installed (kx doctor --fix librdkafka)',
  })
})

test('conditions without a client have no obstacle', async () => {
  expect(await obstaclesOf({conditions: {killed: {label: 'killed'}}} as unknown as AnyExperiment)).toEqual({})
})
