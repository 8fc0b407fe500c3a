import fc from 'fast-check'
import {expect, it} from 'vitest'
import {ProtocolError} from '../../../src/protocol/errors.js'
import {Frames} from '../../../src/wire/frames.js'
import {lengthOf} from './scripted-broker.js'

const bytes = fc.uint8Array({maxLength: 60}).map(value => Buffer.from(value))

it('gives the same frames however the stream is cut', () => {
  const law = fc.property(
    fc.array(bytes, {maxLength: 8}),
    fc.array(fc.nat(20), {minLength: 1, maxLength: 20}),
    (frames, steps) => {
      const stream = Buffer.concat(frames.flatMap(frame => [lengthOf(frame), frame]))
      const cutter = new Frames()
      const got: Buffer[] = []
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const step = 1 + (steps[turn % steps.length] as number)
        got.push(...cutter.push(stream.subarray(at, at + step)))
        at += step
      }
      expect(got.map(String)).toEqual(frames.map(String))
    },
  )
  fc.assert(law, {numRuns: 300})
})

it('throws nothing but a ProtocolError on any bytes, and gives no frame longer than what came', () => {
  const law = fc.property(fc.array(bytes, {maxLength: 8}), chunks => {
    const cutter = new Frames()
    let [came, given] = [0, 0]
    try {
      for (const chunk of chunks) {
        came += chunk.length
        for (const frame of cutter.push(chunk)) given += 4 + frame.length
        expect(given).toBeLessThanOrEqual(came)
      }
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError)
    }
  })
  fc.assert(law, {numRuns: 500})
})
