import {setFlagsFromString} from 'node:v8'
import {runInNewContext} from 'node:vm'
import fc from 'fast-check'
import {cpuMs, Meter, watchAllocations} from './bounds.js'
import type {Mutant} from './mutate.js'
import {maxDecompressedBytes, type Target} from './targets.js'

/** CPU time of one reader with one input of some kB; most take less than one millisecond. */
const cpuMsAtMost = 2_000
/** Most that is decompressed at once, and as much again for what is grown by doubling. */
const allocationAtMost = 4 * maxDecompressedBytes
/** How often a byte may be read: once, again after damage, once per index entry, … */
const readsAtMost = 64
const megabyte = 1_048_576
/** Of what is still held after a collection: readers keep nothing of what they have read. */
const heldAtMost = 32 * megabyte
/** Of the process; buffers are freed late. */
const growthAtMost = 400 * megabyte
const inputsPerCollection = 500
const inputsToWarmUp = 2_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** A turn of the event loop: only then native memory of what was collected is freed. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
const inputsPerTurn = 20

async function memory(): Promise<{readonly held: number; readonly process: number}> {
  const {rss: before} = process.memoryUsage()
  for (let n = 0; n < 2; n++) {
    collect()
    await turn()
  }
  const {heapUsed, arrayBuffers} = process.memoryUsage()
  return {held: heapUsed + arrayBuffers, process: before}
}

export interface FuzzOptions {
  readonly inputs: number
  readonly seed: number
}

/** How many inputs: `KX_FUZZ_RUNS` for the sum of all kinds, else the share of `npm test` or, with it, of `--full`. */
export function inputsOf(share: number): number {
  const asked = Number(process.env.KX_FUZZ_RUNS)
  const all = asked > 0 ? asked : process.env.KX_TEST_FULL ? 240_000 : 60_000
  return Math.round(all * share)
}

/**
 * `KX_FUZZ_SEED` repeats a run. `npm test` always has the same inputs, so that it never fails for what nobody has changed;
 * the full run has others each time.
 */
export const fuzzSeed =
  Number(process.env.KX_FUZZ_SEED) || (process.env.KX_TEST_FULL ? Date.now() & 0x7fff_ffff : 20_261_129)

/**
 * Gives every mutant to every target. Fails with the smallest mutant that makes a reader throw, take too long, read or
 * allocate too much, or that makes the process grow.
 */
export async function fuzz(
  mutants: fc.Arbitrary<Mutant>,
  targets: readonly Target[],
  options: FuzzOptions,
): Promise<void> {
  const {inputs, seed} = options
  process.stdout.write(`KX_FUZZ_SEED=${seed} KX_FUZZ_RUNS=${process.env.KX_FUZZ_RUNS ?? ''}: ${inputs} inputs\n`)
  const before = await memory()
  let highest = before
  // What is loaded and allocated once: codecs, tables, buffers.
  let warm: number | undefined
  let count = 0
  const output = new Map(targets.map(({name}) => [name, 0]))
  const property = fc.asyncProperty(mutants, fc.nat(1_000_000), async (mutant, chance) => {
    for (const target of targets) {
      const {outputBytes} = await one(target, mutant, chance)
      output.set(target.name, (output.get(target.name) ?? 0) + outputBytes)
    }
    if (++count % inputsPerTurn === 0) await turn()
    if (count % inputsPerCollection === 0) {
      const {held, process: size} = await memory()
      highest = {held: Math.max(highest.held, held), process: Math.max(highest.process, size)}
      if (count === inputsToWarmUp) warm = highest.held
    }
  })
  await fc.assert(property, {numRuns: inputs, seed, endOnFailure: false})
  const silent = [...output].filter(([, bytes]) => bytes === 0).map(([name]) => name)
  if (silent.length > 0) throw new Error(`nothing came out of ${silent.join(', ')}: it was not tested`)
  const [held, grown] = [highest.held - (warm ?? highest.held), highest.process - before.process]
  process.stdout.write(
    `held at most ${Math.round(held / megabyte)} MB more, grown by ${Math.round(grown / megabyte)} MB\n`,
  )
  if (held > heldAtMost) throw new Error(`${held} bytes were held that nobody needs`)
  if (grown > growthAtMost) throw new Error(`the process has grown by ${grown} bytes`)
}

async function one(target: Target, mutant: Mutant, chance: number): Promise<Meter> {
  const meter = new Meter()
  const started = cpuMs()
  const largest = await watchAllocations(() => target.run(mutant, meter, chance)).catch((error: unknown) => {
    throw new Error(`${target.name}: ${error instanceof Error ? error.stack : String(error)}`)
  })
  const took = cpuMs() - started
  const say = (what: string) => {
    throw new Error(`${target.name}: ${what}`)
  }
  if (took > cpuMsAtMost) say(`took ${Math.round(took)} ms of CPU time`)
  if (largest > allocationAtMost) say(`allocated ${largest} bytes at once`)
  if (meter.bytesRead > readsAtMost * mutant.bytes.length + 65_536) say(`read ${meter.bytesRead} bytes`)
  return meter
}
