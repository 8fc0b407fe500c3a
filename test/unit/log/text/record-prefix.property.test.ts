import fc from 'fast-check'
import {expect, test} from 'vitest'
import {timeLabel} from '../../../../src/log/text/batch-line.js'
import {LineWriter} from '../../../../src/log/text/line-writer.js'
import {RecordPrefix} from '../../../../src/log/text/record-prefix.js'

/** Numbers that mostly go on by a little, and sometimes jump: what a template must not get wrong. */
const steps = fc.oneof(
  {weight: 6, arbitrary: fc.constantFrom(1, 1, 1, 0, 2, 9, 10, 89, 99, 100)},
  {weight: 2, arbitrary: fc.integer({min: -2_000_000, max: 2_000_000})},
  {weight: 1, arbitrary: fc.maxSafeInteger()},
)
const starts = fc.constantFrom(
  -3,
  0,
  7,
  95,
  999_990,
  9_999_999,
  1_699_999_999_998,
  1_700_000_000_000,
  999_999_999_999_990,
)
const walk = fc.tuple(starts, fc.array(steps, {minLength: 30, maxLength: 30})).map(([start, list]) => {
  let value: number = start
  return list.map(step => {
    value = Number.isSafeInteger(value + step) ? value + step : step
    return value
  })
})

test('a line made of the one before is the line', () => {
  fc.assert(
    fc.property(
      fc.tuple(walk, walk, walk, walk, walk),
      fc.array(fc.boolean(), {minLength: 30, maxLength: 30}),
      (fields, kinds) => {
        const prefix = new RecordPrefix()
        const writer = new LineWriter(() => {}, 16)
        kinds.forEach((isLegacy, n) => {
          const [offset, timestamp, keySize, valueSize, sequence] = fields.map(field => field[n] as number) as [
            number,
            number,
            number,
            number,
            number,
          ]
          const type = n % 7 === 6 ? 'LogAppendTime' : 'CreateTime'
          writer.at = 0
          prefix.write(writer, timeLabel(type), offset, timestamp, keySize, valueSize, isLegacy ? Number.NaN : sequence)
          const line = `| offset: ${offset} ${type}: ${timestamp} keySize: ${keySize} valueSize: ${valueSize}`
          expect(writer.bytes.toString('latin1', 0, writer.at)).toBe(isLegacy ? line : `${line} sequence: ${sequence}`)
        })
      },
    ),
    {numRuns: 500},
  )
})
