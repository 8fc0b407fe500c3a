import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {crc32c} from '../../../../src/log/crc32c.js'
import type {Finding} from '../../../../src/log/finding.js'
import type {OpenFile} from '../../../../src/log/folder.js'
import type {FileReport, FolderReport, FolderTree, VerifyOptions} from '../../../../src/log/verify/report.js'
import {verifyFile} from '../../../../src/log/verify/verify-file.js'
import {verifyFolder} from '../../../../src/log/verify/verify-folder.js'
import {vectors} from '../vectors.js'

export const goldens = new URL('../../../golden/dump-log/', import.meta.url).pathname
export const stem = '00000000000000000000'
/** A, B and C of the golden vectors: 85, 70 and 78 bytes; offsets 0-1, 2 and 3. */
export const [a, b, c] = [vectors.plain, vectors.transactional, vectors.commitMarker]
export const abc = Buffer.concat([a, b, c])

export type Files = {readonly [name: string]: Buffer | Files}

/** A folder in memory; buffers are files, objects are folders. */
export function folder(files: Files, path = 'orders-0'): FolderTree {
  return {
    path,
    list: async () => Object.keys(files),
    open: async name => {
      const bytes = Object.hasOwn(files, name) ? files[name] : undefined
      return Buffer.isBuffer(bytes) ? file(bytes, name, path) : undefined
    },
    folder: async name => {
      const sub = Object.hasOwn(files, name) ? files[name] : undefined
      return sub && !Buffer.isBuffer(sub) ? folder(sub, `${path}/${name}`) : undefined
    },
  }
}

export function file(bytes: Buffer, name: string, path = 'orders-0'): OpenFile & AsyncDisposable {
  let isOpen = true
  return {
    path: `${path}/${name}`,
    name,
    size: bytes.length,
    read: async (position, length) => {
      if (!isOpen) throw new Error(`${name} was given back`)
      return bytes.subarray(position, Math.min(position + length, bytes.length))
    },
    [Symbol.asyncDispose]: async () => {
      isOpen = false
    },
  }
}

/** A folder of `test/golden/dump-log`, without the recorded outputs. */
export function goldenFiles(part: 'made' | 'real', name: string): Record<string, Buffer> {
  const path = join(goldens, part, name)
  const names = readdirSync(path).filter(one => !one.startsWith('original') && statSync(join(path, one)).isFile())
  return Object.fromEntries(names.map(one => [one, readFileSync(join(path, one))]))
}

export async function verified(files: Files, options: VerifyOptions = {}, path?: string): Promise<FolderReport> {
  return verifyFolder(folder(files, path), options)
}

export async function verifiedFile(files: Files, name: string, options: VerifyOptions = {}): Promise<FileReport> {
  const own = folder(files)
  const opened = await own.open(name)
  if (!opened) throw new Error(`no file ${name}`)
  const report = await verifyFile(opened, own, options)
  // It is the caller's: still open.
  await opened.read(0, 0)
  return report
}

/** "error crc 0 o0": severity, code, byte, offset. */
export function told(findings: readonly Finding[], {infos = false} = {}): string[] {
  return findings
    .filter(({severity}) => infos || severity !== 'info')
    .map(({severity, code, position, offset}) =>
      [
        severity,
        code,
        ...(position === undefined ? [] : [position]),
        ...(offset === undefined ? [] : [`o${offset}`]),
      ].join(' '),
    )
}

/** A copy with other bytes at a place. */
export function patched(bytes: Buffer, at: number, ...values: readonly number[]): Buffer {
  const copy = Buffer.from(bytes)
  copy.set(values, at)
  return copy
}

/** The CRC of a batch of magic 2 made right. */
export function withCrc(batch: Buffer): Buffer {
  const copy = Buffer.from(batch)
  copy.writeUInt32BE(crc32c(copy.subarray(21)), 17)
  return copy
}
