import {Readable} from 'node:stream'
import tar from 'tar-stream'
import {describe, expect, it} from 'vitest'
import {archiveOf, filesInArchive} from '../../../../src/cluster/docker/files.js'

async function archive(entries: readonly [name: string, content: string | null][]): Promise<Buffer> {
  const pack = tar.pack()
  for (const [name, content] of entries) {
    if (content === null) pack.entry({name, type: 'directory'})
    else pack.entry({name}, content)
  }
  pack.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of pack) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** In small pieces, as a socket may bring it. */
function streamed(bytes: Buffer, piece = 700): Readable {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += piece) pieces.push(bytes.subarray(at, at + piece))
  return Readable.from(pieces)
}

const partition = [
  ['orders-0/', null],
  ['orders-0/leader-epoch-checkpoint', '0\n0\n'],
  ['orders-0/00000000000000000000.log', 'x'.repeat(5_000)],
  ['orders-0/00000000000000000000.index', ''],
  ['orders-0/nested/', null],
  ['orders-0/nested/00000000000000000000.log', 'not of this partition'],
] as const satisfies readonly [string, string | null][]

describe('filesInArchive', () => {
  it('gives the files of the folder by name, with their sizes and bytes', async () => {
    const files = await filesInArchive(streamed(await archive(partition)))
    expect(files.map(({name, size}) => [name, size])).toEqual([
      ['00000000000000000000.index', 0],
      ['00000000000000000000.log', 5_000],
      ['leader-epoch-checkpoint', 4],
    ])
    const source = files[1]?.open()
    expect(source?.size).toBe(5_000)
    expect((await source?.read(4_990, 100))?.toString()).toBe('x'.repeat(10))
  })

  it('gives nothing for an empty folder', async () => {
    expect(await filesInArchive(streamed(await archive([['orders-0/', null]])))).toEqual([])
  })

  it('refuses more than the limit before it has read it', async () => {
    const bytes = await archive(partition)
    await expect(filesInArchive(streamed(bytes), 5_003)).rejects.toThrow('The files of orders-0 are over 4.9 KiB')
    await expect(filesInArchive(streamed(bytes), 5_004)).resolves.toHaveLength(3)
  })

  it('throws if the archive is cut off, and never gives half a file', async () => {
    const bytes = await archive(partition)
    for (const length of [600, 1_700, 3_000]) {
      await expect(filesInArchive(streamed(bytes.subarray(0, length)))).rejects.toThrow(/unexpected end/i)
    }
  })

  it('throws if the archive is damaged', async () => {
    const bytes = Buffer.from(await archive(partition))
    bytes.write('garbage', 512 + 148)
    await expect(filesInArchive(streamed(bytes))).rejects.toThrow(/header/i)
  })

  it('passes on an error of the connection', async () => {
    const broken = new Readable({
      read() {
        this.destroy(new Error('socket hang up'))
      },
    })
    await expect(filesInArchive(broken)).rejects.toThrow('socket hang up')
  })
})

describe('archiveOf', () => {
  it('is read back by filesInArchive', async () => {
    const bytes = await archiveOf([{name: '0.log', bytes: Buffer.from([1, 2, 3])}], 'kx-dump')
    const [file] = await filesInArchive(streamed(bytes))
    expect(file?.name).toBe('0.log')
    expect(await file?.open().read(0, 9)).toEqual(Buffer.from([1, 2, 3]))
  })
})
