import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {hasFindings} from '../../../../src/log/verify/report.js'
import {goldenFiles, stem, told, verified, verifiedFile} from './folders.js'

const names = [
  'plain-clean',
  'txn-killed',
  'compacted-replica1',
  'mixed',
  'epochs-replica2',
  'retention-deleted',
  'metadata-controller',
  'consumer-offsets-0',
  'logdir-clean',
] as const
const folders = new Map(names.map(name => [name, goldenFiles('real', name)]))

const change = fc.record({at: fc.nat(), value: fc.nat(255)})
const damage = fc.record({
  name: fc.constantFrom(...names),
  file: fc.nat(),
  changes: fc.array(change, {maxLength: 6}),
  cut: fc.option(fc.nat(), {freq: 3}),
  more: fc.uint8Array({maxLength: 50}),
})

test('no damage of any file makes the checks throw, and reports stay plain', async () => {
  await fc.assert(
    fc.asyncProperty(damage, async ({name, file, changes, cut, more}) => {
      const files = {...folders.get(name)}
      const chosen = Object.keys(files)[file % Object.keys(files).length] as string
      const bytes = Buffer.from(files[chosen] as Buffer)
      for (const {at, value} of changes) if (bytes.length > 0) bytes[at % bytes.length] = value
      const end = cut === null ? bytes.length : cut % (bytes.length + 1)
      files[chosen] = Buffer.concat([bytes.subarray(0, end), more])
      const reports = [
        await verified(files, {now: 1_800_000_000_000n}, '__consumer_offsets-0'),
        await verifiedFile(files, chosen),
      ]
      for (const report of reports) {
        for (const {explanation, code} of report.findings) {
          expect(explanation).not.toMatch(/undefined|NaN|\[object/)
          expect(code).toMatch(/^[a-z0-9-]+$/)
        }
        expect(report.conclusions.join(' ')).not.toMatch(/undefined|NaN|\[object/)
        const counted = report.findingCounts.reduce((sum, {count}) => sum + count, 0)
        expect(counted).toBeGreaterThanOrEqual(report.findings.length)
      }
    }),
    {numRuns: 400},
  )
})

describe('any byte that is changed is told', () => {
  const files = goldenFiles('real', 'plain-clean')
  /**
   * The low byte of an offset in an index may become that of a later batch, as a follower of an old broker wrote it; the
   * start offset of the first epoch may have been moved to the log start.
   */
  const mayBeLegal = (name: string, at: number): boolean =>
    (name.endsWith('.index') && at % 8 === 3) || (name === 'leader-epoch-checkpoint' && at === 6)

  test.each([
    [`${stem}.log`, 200],
    [`${stem}.index`, 80],
    [`${stem}.timeindex`, 80],
    ['00000000000000000800.snapshot', 10],
    ['leader-epoch-checkpoint', 8],
  ])('of %s', async (name, numRuns) => {
    const whole = files[name] as Buffer
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({min: 1, max: 255}), async (at, flip) => {
        fc.pre(!mayBeLegal(name, at))
        const bytes = Buffer.from(whole)
        bytes[at] = (bytes[at] as number) ^ flip
        // Java takes a carriage return for the end of a line, too; that is worth an info.
        fc.pre(whole[at] !== 0x0a || bytes[at] !== 0x0d)
        const report = await verified({...files, [name]: bytes})
        expect(told(report.findings), `byte ${at} xor ${flip}`).not.toEqual([])
        expect(hasFindings(report)).toBe(true)
      }),
      {numRuns},
    )
  })

  test('of the transaction index', async () => {
    const transactional = goldenFiles('real', 'txn-clean')
    const name = '00000000000000000003.txnindex'
    const whole = transactional[name] as Buffer
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({min: 1, max: 255}), async (at, flip) => {
        // The low byte of the last stable offset: a follower may legally have taken a later transaction for open.
        fc.pre(at % 34 !== 33)
        const bytes = Buffer.from(whole)
        bytes[at] = (bytes[at] as number) ^ flip
        expect(
          told((await verified({...transactional, [name]: bytes})).findings),
          `byte ${at} xor ${flip}`,
        ).not.toEqual([])
      }),
      {numRuns: 80},
    )
  })
})

test('a log that is cut anywhere is cut, and what is before it is read', async () => {
  const log = goldenFiles('real', 'plain-clean')[`${stem}.log`] as Buffer
  await fc.assert(
    fc.asyncProperty(fc.nat(log.length), async size => {
      const report = await verifiedFile({[`${stem}.log`]: log.subarray(0, size)}, `${stem}.log`)
      const {log: summary} = report
      expect((summary?.damagedBytes ?? 0) > 0).toBe(hasFindings(report))
      expect(report.findings.length).toBeLessThanOrEqual(1)
    }),
    {numRuns: 100},
  )
})
