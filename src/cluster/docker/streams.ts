/** Kind (1 stdout, 2 stderr), three zeros, length (big endian). */
const headerBytes = 8

interface Frame {
  readonly kind: 'stdout' | 'stderr'
  readonly bytes: Buffer
}

/**
 * Parts the frames in which the engine sends the output of a container without a terminal. Bytes that are no frame
 * count as stdout; a frame that is cut off counts as far as it is there.
 */
function* framesOf(output: Buffer): Generator<Frame> {
  let position = 0
  while (position < output.length) {
    const kind = output[position]
    const framed = output.length - position >= headerBytes && output.readUIntBE(position + 1, 3) === 0
    if (!framed || (kind !== 1 && kind !== 2)) {
      yield {kind: 'stdout', bytes: output.subarray(position)}
      return
    }
    const end = position + headerBytes + output.readUInt32BE(position + 4)
    yield {kind: kind === 2 ? 'stderr' : 'stdout', bytes: output.subarray(position + headerBytes, end)}
    position = end
  }
}

export function demultiplexed(output: Buffer): {readonly stdout: string; readonly stderr: string} {
  const frames = [...framesOf(output)]
  const joined = (kind: Frame['kind']) =>
    Buffer.concat(frames.filter(frame => frame.kind === kind).map(({bytes}) => bytes))
  return {stdout: joined('stdout').toString(), stderr: joined('stderr').toString()}
}

/** What was printed on stdout, which need not be text. */
export function stdoutBytes(output: Buffer): Buffer {
  return Buffer.concat([...framesOf(output)].filter(({kind}) => kind === 'stdout').map(({bytes}) => bytes))
}

/** Both outputs as lines, in the order in which they came; empty lines are left out. */
export function linesOf(output: Buffer): string[] {
  const text = Buffer.concat([...framesOf(output)].map(({bytes}) => bytes)).toString()
  return text
    .split('\n')
    .map(line => line.trimEnd())
    .filter(line => line !== '')
}
