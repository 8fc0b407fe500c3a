import {createRequire} from 'node:module'
import {messageOf} from '../util/errors.js'

// CRC-32C (Castagnoli, polynomial 0x1EDC6F41), which covers a record batch from its attributes to its end. The native
// addon does 5.6 GB/s; where its binary is missing (another platform, optional dependencies left out) the tables do
// 0.8 GB/s and all results are the same.

type Crc = (bytes: Uint8Array, seed?: number) => number

interface Implementation {
  readonly compute: Crc
  readonly name: 'native' | 'javascript'
  /** Why it is not the native one, with the cure; for `kx doctor` and for whoever wonders why it is slow. */
  readonly obstacle?: string
}

/** The one in use. */
export const implementation: Implementation = choose(() => createRequire(import.meta.url)('@node-rs/crc32'))

/** CRC-32C as an unsigned 32-bit number. `seed`: the CRC of what went before. */
export function crc32c(bytes: Uint8Array, seed = 0): number {
  return implementation.compute(bytes, seed)
}

/** The addon, if it can be loaded and computes the check value; else JavaScript, with the reason. */
export function choose(load: () => unknown): Implementation {
  try {
    const addon = load() as {crc32c: Crc}
    if (addon.crc32c(Buffer.from('123456789')) !== 0xe306_9283) throw new Error('it gives false results')
    return {compute: (bytes, seed) => addon.crc32c(bytes, seed), name: 'native'}
  } catch (error) {
    const obstacle =
      `The native CRC-32C of @node-rs/crc32 can't be used (${messageOf(error).split('\n')[0]}): ` +
      'checksums are computed in JavaScript, seven times slower. `npm install` without `--omit=optional` brings it.'
    return {compute: crc32cInJavaScript, name: 'javascript', obstacle}
  }
}

let tables: Tables | undefined

/** Slicing-by-8 (Kounavis and Berry, 2005): eight bytes a step through eight tables. */
export function crc32cInJavaScript(bytes: Uint8Array, seed = 0): number {
  tables ??= makeTables()
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables
  let crc = ~seed
  let at = 0
  for (const end = bytes.length - 7; at < end; at += 8) {
    crc ^= byte(bytes, at) | (byte(bytes, at + 1) << 8) | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24)
    crc =
      entry(t7, crc & 0xff) ^
      entry(t6, (crc >>> 8) & 0xff) ^
      entry(t5, (crc >>> 16) & 0xff) ^
      entry(t4, crc >>> 24) ^
      entry(t3, byte(bytes, at + 4)) ^
      entry(t2, byte(bytes, at + 5)) ^
      entry(t1, byte(bytes, at + 6)) ^
      entry(t0, byte(bytes, at + 7))
  }
  for (; at < bytes.length; at++) crc = entry(t0, (crc ^ byte(bytes, at)) & 0xff) ^ (crc >>> 8)
  return ~crc >>> 0
}

type Table = Int32Array
type Tables = readonly [Table, Table, Table, Table, Table, Table, Table, Table]

function makeTables(): Tables {
  const made = Array.from({length: 8}, () => new Int32Array(256)) as unknown as Tables
  for (let n = 0; n < 256; n++) {
    let crc = n
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f6_3b78 : crc >>> 1
    made[0][n] = crc
  }
  for (let n = 0; n < 256; n++) {
    let crc = entry(made[0], n)
    for (const table of made.slice(1)) {
      crc = entry(made[0], crc & 0xff) ^ (crc >>> 8)
      table[n] = crc
    }
  }
  return made
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] as number
}

function entry(table: Table, at: number): number {
  return table[at] as number
}
