import {beforeAll, describe, expect, test} from 'vitest'
import {prepareCodec, prepareCompression} from '../../../src/log/codecs.js'
import {fileMutants, logMutants} from './fuzz/mutate.js'
import {fuzz, fuzzSeed, inputsOf} from './fuzz/runner.js'
import {fileSeeds, logSeeds} from './fuzz/seeds.js'
import {fileTargets, knowLogs, logTargets} from './fuzz/targets.js'

// The fuzzer: real segments and files of every kind, wounded, for every reader. `KX_FUZZ_SEED` repeats a run,
// `KX_FUZZ_RUNS` sets the number of inputs; `npm run test:full` takes four times as many.

const minutes = 60_000

beforeAll(async () => {
  await prepareCodec('zstd')
  await prepareCompression()
  knowLogs(logSeeds)
})

describe('whatever is done to real files, no reader throws, hangs or takes memory that is not there', () => {
  test('there are seeds of every codec, magic and kind', () => {
    expect(logSeeds.length).toBeGreaterThan(100)
    const kinds = [...new Set([...logSeeds, ...fileSeeds].map(({kind}) => kind))].sort()
    expect(kinds).toEqual([
      'clean-shutdown',
      'leader-epoch-checkpoint',
      'log',
      'meta-properties',
      'offset-checkpoint',
      'offset-index',
      'partition-metadata',
      'producer-snapshot',
      'quorum-state',
      'snapshot-log',
      'time-index',
      'transaction-index',
    ])
    const magics = new Set(logSeeds.map(({bytes}) => bytes[16]))
    for (const magic of [0, 1, 2]) expect(magics).toContain(magic)
    const codecs = new Set(logSeeds.filter(({bytes}) => bytes[16] === 2).map(({bytes}) => (bytes[22] as number) & 7))
    for (const codec of [0, 1, 2, 3, 4]) expect(codecs).toContain(codec)
  })

  test(
    'logs and snapshots',
    async () => {
      await fuzz(logMutants(logSeeds), logTargets, {inputs: inputsOf(0.85), seed: fuzzSeed})
    },
    60 * minutes,
  )

  test(
    'indexes, producer snapshots and text files',
    async () => {
      await fuzz(fileMutants(fileSeeds), fileTargets, {inputs: inputsOf(0.15), seed: fuzzSeed})
    },
    20 * minutes,
  )
})
