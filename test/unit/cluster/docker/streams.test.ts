import {describe, expect, it} from 'vitest'
import {demultiplexed, linesOf} from '../../../../src/cluster/docker/streams.js'

function frame(kind: 1 | 2, text: string): Buffer {
  const header = Buffer.alloc(8)
  header[0] = kind
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

describe('demultiplexed', () => {
  it('parts standard output from errors', () => {
    const output = Buffer.concat([frame(1, 'a\n'), frame(2, 'oops\n'), frame(1, 'b\n')])
    expect(demultiplexed(output)).toEqual({stdout: 'a\nb\n', stderr: 'oops\n'})
  })

  it('joins a character whose bytes came in two frames', () => {
    const [first, second] = [Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1)]
    const frames = [first, second].map(bytes => Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 1]), bytes]))
    expect(demultiplexed(Buffer.concat(frames)).stdout).toBe('ü')
  })

  it('keeps what is there of a frame that is cut off', () => {
    expect(demultiplexed(frame(1, 'whole line').subarray(0, 13)).stdout).toBe('whole')
  })

  it('takes the output of a container with a terminal as it is', () => {
    expect(demultiplexed(Buffer.from('plain text\n')).stdout).toBe('plain text\n')
  })
})

describe('linesOf', () => {
  it('gives both outputs in the order in which they came', () => {
    const output = Buffer.concat([frame(1, 'one\ntw'), frame(1, 'o\r\n'), frame(2, 'three\n\n')])
    expect(linesOf(output)).toEqual(['one', 'two', 'three'])
  })
})
