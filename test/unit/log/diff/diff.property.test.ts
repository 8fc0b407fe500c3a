import fc from 'fast-check'
import {expect, test} from 'vitest'
import {batch, compare, first, flipped, log, real} from './replicas.js'

const whole = Buffer.concat([
  batch(0, 3),
  batch(3, 2, {leaderEpoch: 1}),
  batch(5, 30, {codec: 'gzip', leaderEpoch: 1}),
  batch(35, 1, {leaderEpoch: 2}),
])

/** Where the batches of `whole` begin. */
const starts: number[] = []
for (let position = 0; position < whole.length; position += whole.readInt32BE(position + 8) + 12) starts.push(position)

test('any flipped bit in one of three replicas is found, on the right replica, and where bytes can be laid side by side named', async () => {
  expect(starts).toHaveLength(4)
  await fc.assert(
    fc.asyncProperty(
      fc.nat({max: whole.length - 1}),
      fc.nat({max: 7}),
      fc.nat({max: 2}),
      async (index, bit, replica) => {
        const replicas = [0, 1, 2].map(n => (n === replica ? {[first]: flipped(whole, index, bit)} : {[first]: whole}))
        const diff = await compare(replicas)
        const name = 'abc'[replica]
        expect(diff.equal).toBe(false)
        const grave = diff.conclusions.filter(({severity}) => severity !== 'info')
        expect(new Set(grave.flatMap(one => one.replicas))).toEqual(new Set([name]))
        const inBatch = index - (starts.findLast(start => start <= index) ?? 0)
        const [found] = [...diff.corruptions, ...diff.damages]
        if (inBatch < 8 || (inBatch >= 12 && inBatch < 16)) {
          // Neither CRC nor length: the batch is whole, and its header has another base offset or epoch.
          expect(grave.map(({code}) => code)).toEqual([inBatch < 8 ? 'base-offset-bytes' : 'epoch-bytes'])
        } else {
          expect(found?.bytes, grave.map(({text}) => text).join('\n')).toMatchObject([
            {position: index, index: inBatch, bits: [bit]},
          ])
          expect(found?.differingBytes).toBe(1)
        }
      },
    ),
    {numRuns: 400},
  )
}, 60_000)

test('the order of the replicas changes nothing but the order', async () => {
  const pool = [
    real('epochs-diverged-leader'),
    real('epochs-replica1'),
    real('epochs-replica2'),
    {[first]: flipped(real('epochs-replica3')[first] as Buffer, 1_000, 4)},
    {[first]: (real('epochs-replica3')[first] as Buffer).subarray(0, 900)},
  ]
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([0, 1, 2, 3, 4], {minLength: 2}), async chosen => {
      const sorted = [...chosen].sort()
      const [a, b] = [await compare(chosen.map(n => pool[n] ?? {})), await compare(sorted.map(n => pool[n] ?? {}))]
      expect(a.equal).toBe(b.equal)
      expect(a.equalUpTo).toBe(b.equalUpTo)
      expect(a.divergence?.offset).toBe(b.divergence?.offset)
      expect(a.conclusions.map(({code}) => code).sort()).toEqual(b.conclusions.map(({code}) => code).sort())
      expect(a.ranges.map(({from, to}) => `${from}-${to}`)).toEqual(b.ranges.map(({from, to}) => `${from}-${to}`))
    }),
    {numRuns: 60},
  )
})

test('a log beside itself is equal, and beside its beginning it has a tail and nothing else', async () => {
  const batches = fc
    .array(fc.record({count: fc.integer({min: 1, max: 5}), epoch: fc.nat({max: 1})}), {minLength: 1, maxLength: 8})
    .map(parts => {
      let [next, epoch] = [0, 0]
      return parts.map(part => {
        epoch += part.epoch
        next += part.count
        return {bytes: batch(next - part.count, part.count, {leaderEpoch: epoch}), end: next}
      })
    })
  await fc.assert(
    fc.asyncProperty(batches, fc.nat(), async (all, cut) => {
      const full = log(...all.map(({bytes}) => bytes))
      expect(await compare([full, full])).toMatchObject({equal: true, comparedBy: 'bytes'})
      const kept = all.slice(0, cut % all.length)
      const diff = await compare([full, log(...kept.map(({bytes}) => bytes))])
      const end = BigInt(kept.at(-1)?.end ?? 0)
      const to = BigInt(all.at(-1)?.end ?? 0)
      expect(diff.conclusions).toMatchObject([
        {code: 'tail', replicas: ['b'], from: end, to, records: Number(to - end)},
      ])
    }),
    {numRuns: 100},
  )
})

test('whatever the bytes are, it ends without an exception', async () => {
  const mutated = fc
    .tuple(
      fc.constantFrom('epochs-replica1', 'compacted-replica1', 'txn-clean', 'mixed', 'headers'),
      fc.array(fc.tuple(fc.nat(), fc.nat({max: 255})), {maxLength: 12}),
      fc.nat(),
    )
    .map(([folder, changes, cut]) => {
      const files = real(folder)
      const name = Object.keys(files).find(one => one.endsWith('.log')) as string
      const bytes = Buffer.from(files[name] as Buffer)
      for (const [index, value] of changes) bytes[index % bytes.length] = value
      return {...files, [name]: cut % 3 === 0 ? bytes.subarray(0, cut % bytes.length) : bytes}
    })
  await fc.assert(
    fc.asyncProperty(fc.array(mutated, {minLength: 2, maxLength: 4}), async replicas => {
      const diff = await compare(replicas)
      expect(diff.conclusions.length).toBeGreaterThan(0)
      for (const {from, to} of diff.ranges) expect(from < to).toBe(true)
    }),
    {numRuns: 200},
  )
}, 60_000)
