import {beforeAll, describe, test} from 'vitest'
import {prepareCodec, prepareCompression} from '../../../src/log/codecs.js'
import {fileFolderTargets, logFolderTargets} from './fuzz/folder-targets.js'
import {fileMutants, logMutants} from './fuzz/mutate.js'
import {fuzz, fuzzSeed, inputsOf} from './fuzz/runner.js'
import {fileSeeds, logSeeds} from './fuzz/seeds.js'

// The second half of the fuzzer (fuzz.property.test.ts has the first): what looks at a file among the others of its
// folder. It costs more for each input, and gets fewer.

const minutes = 60_000

beforeAll(async () => {
  await prepareCodec('zstd')
  await prepareCompression()
})

describe('whatever is done to a file, no check of its folder throws, hangs or takes memory that is not there', () => {
  test(
    'logs and snapshots',
    async () => {
      await fuzz(logMutants(logSeeds), logFolderTargets, {inputs: inputsOf(0.15), seed: fuzzSeed})
    },
    60 * minutes,
  )

  test(
    'indexes, producer snapshots and text files',
    async () => {
      await fuzz(fileMutants(fileSeeds), fileFolderTargets, {inputs: inputsOf(0.05), seed: fuzzSeed})
    },
    20 * minutes,
  )
})
