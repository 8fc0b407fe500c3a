import fc from 'fast-check'
import {codecNames, compress, uncompressed} from '../../../../src/log/codecs.js'
import {batchesOf, fields, fixCrcs, fixSnapshotCrc, legacyFields, writeInt} from './layout.js'
import type {Seed} from './seeds.js'

/** A real file after somebody was at it. */
export interface Mutant {
  readonly seed: Seed
  readonly bytes: Buffer
  /** In words, for whoever reads a counter-example. */
  readonly wounds: readonly string[]
}

/** What is done to the bytes; numbers that are too large go round. */
interface Wound {
  readonly what: string
  readonly apply: (bytes: Buffer, seed: Seed) => Buffer
}

const nat = fc.nat(1_000_000)
const byte = fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff))
const interesting = fc.oneof(
  fc.constantFrom(0n, 1n, -1n, 2n, -2n, 13n, 14n, 48n, 49n, 61n, 127n, 128n, 255n, 32_767n, -32_768n, 65_535n),
  fc.constantFrom(2n ** 31n - 1n, -(2n ** 31n), 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 10n ** 6n, 2n ** 24n),
  fc.bigInt({min: -300n, max: 300n}),
)
/** Varints that are large, negative, of six and of eleven bytes, or have no end. */
const varints = fc.constantFrom(
  '00 01 02 7e 7f 8001 ff01 d804 feffffff0f ffffffff0f ffffffffff0f feffffffffffffffff01 ffffffffffffffffffffff01 80808080808080 ffff7f fe3f'.split(
    ' ',
  ),
)
const varint = varints.chain(list => fc.constantFrom(...list)).map(hex => Buffer.from(hex, 'hex'))
const token = fc.constantFrom(
  '-1',
  '99999999999999999999',
  '\r',
  '\n',
  '\r\n',
  ' ',
  '\t',
  '0',
  '1',
  '{',
  '"',
  '\\',
  ':',
  '=',
  '\\u',
  '#',
  '\ufeff',
  '\u2028',
)

const placed = (bytes: Buffer, where: number): number => (bytes.length === 0 ? 0 : where % bytes.length)
const joined = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts)

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes)
  change(copy)
  return copy
}

const flip = fc.tuple(nat, fc.nat(7)).map(
  ([where, bit]): Wound => ({
    what: `flip bit ${bit} of byte ${where}`,
    apply: bytes =>
      changed(bytes, copy => {
        if (copy.length > 0) copy[placed(copy, where)]! ^= 1 << bit
      }),
  }),
)
const set = fc.tuple(nat, byte).map(
  ([where, value]): Wound => ({
    what: `set byte ${where} to ${value}`,
    apply: bytes =>
      changed(bytes, copy => {
        if (copy.length > 0) copy[placed(copy, where)] = value
      }),
  }),
)
const cut = nat.map(
  (where): Wound => ({what: `cut at ${where}`, apply: bytes => bytes.subarray(0, placed(bytes, where))}),
)
const cutTail = fc.nat(100).map(
  (count): Wound => ({
    what: `drop ${count} at the end`,
    apply: bytes => bytes.subarray(0, Math.max(0, bytes.length - count)),
  }),
)
const insert = fc
  .tuple(
    nat,
    fc.oneof(
      fc.uint8Array({maxLength: 40}).map(array => Buffer.from(array)),
      varint,
    ),
  )
  .map(
    ([where, piece]): Wound => ({
      what: `insert ${piece.toString('hex')} at ${where}`,
      apply: bytes => {
        const at = placed(bytes, where)
        return joined(bytes.subarray(0, at), piece, bytes.subarray(at))
      },
    }),
  )
const remove = fc.tuple(nat, fc.integer({min: 1, max: 80})).map(
  ([where, count]): Wound => ({
    what: `remove ${count} at ${where}`,
    apply: bytes => {
      const at = placed(bytes, where)
      return joined(bytes.subarray(0, at), bytes.subarray(at + count))
    },
  }),
)
const double = fc.tuple(nat, fc.integer({min: 1, max: 400})).map(
  ([where, count]): Wound => ({
    what: `double ${count} at ${where}`,
    apply: bytes => {
      const at = placed(bytes, where)
      return joined(bytes.subarray(0, at + count), bytes.subarray(at))
    },
  }),
)
const zero = fc.tuple(nat, fc.integer({min: 1, max: 600})).map(
  ([where, count]): Wound => ({
    what: `zero ${count} at ${where}`,
    apply: bytes =>
      changed(bytes, copy => copy.fill(0, placed(copy, where), Math.min(copy.length, placed(copy, where) + count))),
  }),
)
const pad = fc.tuple(fc.integer({min: 1, max: 5_000}), fc.constantFrom(0, 0xff)).map(
  ([count, value]): Wound => ({
    what: `add ${count} × ${value}`,
    apply: bytes => joined(bytes, Buffer.alloc(count, value)),
  }),
)
const number = fc.tuple(nat, fc.constantFrom(1, 2, 4, 8), interesting).map(
  ([where, size, value]): Wound => ({
    what: `write ${value} as ${size} bytes at ${where}`,
    apply: bytes => changed(bytes, copy => writeInt(copy, placed(copy, where), size as 1 | 2 | 4 | 8, value)),
  }),
)

/** Something inside the n-th batch; other files are left as they are. */
function inBatch(
  n: number,
  what: string,
  change: (copy: Buffer, start: number, size: number, magic: number) => Buffer | undefined,
): Wound {
  return {
    what: `batch ${n}: ${what}`,
    apply: bytes => {
      const places = batchesOf(bytes)
      const place = places[n % Math.max(1, places.length)]
      if (!place) return bytes
      const copy = Buffer.from(bytes)
      return change(copy, place.position, place.sizeInBytes, place.magic) ?? copy
    },
  }
}

const field = fc.tuple(nat, nat, interesting).map(([n, which, value]) =>
  inBatch(n, `field ${which} = ${value}`, (copy, start, _, magic) => {
    const list = magic < 2 ? legacyFields : fields
    const [at, size] = list[which % list.length] as (typeof fields)[number]
    writeInt(copy, start + at, size, value)
    return undefined
  }),
)
const recordByte = fc.tuple(nat, nat, varint).map(([n, where, value]) =>
  inBatch(n, `varint ${value.toString('hex')} at ${where}`, (copy, start, size, magic) => {
    const head = magic < 2 ? 18 : 61
    if (size > head) value.copy(copy, start + head + (where % (size - head)), 0)
    return undefined
  }),
)
const codec = fc.tuple(nat, fc.nat(7)).map(([n, value]) =>
  inBatch(n, `codec ${value}`, (copy, start, _, magic) => {
    const at = start + (magic < 2 ? 17 : 22)
    copy[at] = ((copy[at] as number) & 0xf8) | value
    return undefined
  }),
)
const attribute = fc.tuple(nat, fc.constantFrom(0x08, 0x10, 0x20, 0x40, 0x80)).map(([n, bit]) =>
  inBatch(n, `attribute ${bit}`, (copy, start, _, magic) => {
    copy[start + (magic < 2 ? 17 : 22)]! ^= bit
    return undefined
  }),
)
const again = nat.map(n =>
  inBatch(n, 'again', (copy, start, size) => joined(copy.subarray(0, start + size), copy.subarray(start))),
)
const gone = nat.map(n =>
  inBatch(n, 'gone', (copy, start, size) => joined(copy.subarray(0, start), copy.subarray(start + size))),
)
const last = nat.map(n =>
  inBatch(n, 'moved to the end', (copy, start, size) =>
    joined(copy.subarray(0, start), copy.subarray(start + size), copy.subarray(start, start + size)),
  ),
)

/** Wounds the plain records of a batch of magic 2 and puts them back, compressed as they were or otherwise. */
const inner = fc
  .tuple(
    nat,
    fc.array(
      fc.tuple(
        nat,
        fc.oneof(
          varint,
          byte.map(value => Buffer.from([value])),
        ),
      ),
      {minLength: 1, maxLength: 3},
    ),
    fc.option(fc.nat(4)),
  )
  .map(([n, wounds, other]) =>
    inBatch(
      n,
      `records ${wounds.map(([where, value]) => `${value.toString('hex')} at ${where}`).join(', ')} as ${other}`,
      (copy, start, size, magic) => {
        if (magic !== 2 || size < 61) return undefined
        const stored = copy.subarray(start + 61, start + size)
        const name = codecNames[(copy[start + 22] as number) & 7]
        const content = uncompressed(name ?? 'none', stored, {atMost: 1_000_000})
        const plain = Buffer.from(content.unreadable === undefined ? content.bytes : stored)
        for (const [where, value] of wounds) if (plain.length > 0) value.copy(plain, placed(plain, where))
        const target = other ?? (copy[start + 22] as number) & 7
        const blob = compress(codecNames[target] ?? 'none', plain)
        const head = Buffer.from(copy.subarray(start, start + 61))
        head.writeInt32BE(49 + blob.length, 8)
        head[22] = ((head[22] as number) & 0xf8) | target
        return joined(copy.subarray(0, start), head, blob, copy.subarray(start + size))
      },
    ),
  )

const splice = (seeds: readonly Seed[]) =>
  fc.tuple(fc.nat(seeds.length - 1), nat, nat).map(
    ([other, where, whereOther]): Wound => ({
      what: `goes on at ${where} with ${(seeds[other] as Seed).path} from ${whereOther}`,
      apply: bytes => {
        const tail = (seeds[other] as Seed).bytes
        return joined(bytes.subarray(0, placed(bytes, where)), tail.subarray(placed(tail, whereOther)))
      },
    }),
  )
const append = (seeds: readonly Seed[]) =>
  fc.nat(seeds.length - 1).map(
    (other): Wound => ({
      what: `followed by ${(seeds[other] as Seed).path}`,
      apply: bytes => joined(bytes, (seeds[other] as Seed).bytes),
    }),
  )
const words = fc.tuple(nat, token).map(
  ([where, text]): Wound => ({
    what: `insert ${JSON.stringify(text)} at ${where}`,
    apply: bytes => {
      const at = placed(bytes, where)
      return joined(bytes.subarray(0, at), Buffer.from(text), bytes.subarray(at))
    },
  }),
)

const isText = ({kind}: Seed): boolean => !/log|index|snapshot/.test(kind)

function mutants(
  seeds: readonly Seed[],
  wound: fc.Arbitrary<Wound>,
  repair: (bytes: Buffer, seed: Seed) => Buffer,
): fc.Arbitrary<Mutant> {
  return fc
    .tuple(fc.nat(seeds.length - 1), fc.array(wound, {minLength: 1, maxLength: 4}), fc.boolean())
    .map(([n, wounds, isRepaired]) => {
      const seed = seeds[n] as Seed
      let bytes = seed.bytes
      for (const {apply} of wounds) bytes = apply(bytes, seed)
      if (isRepaired) bytes = repair(Buffer.from(bytes), seed)
      return {
        seed,
        bytes,
        wounds: [...wounds.map(({what}) => what), ...(isRepaired ? ['CRCs set right'] : [])],
        [fc.toStringMethod]: () =>
          `${seed.path}: ${wounds.map(({what}) => what).join('; ')} (${bytes.toString('hex')})`,
      }
    })
}

/** A wounded log; half of them with right CRCs, so that the damage reaches what lies behind that check. */
export function logMutants(seeds: readonly Seed[]): fc.Arbitrary<Mutant> {
  const wound = fc.oneof(
    {weight: 2, arbitrary: flip},
    {weight: 2, arbitrary: set},
    {weight: 1, arbitrary: cut},
    {weight: 1, arbitrary: cutTail},
    {weight: 1, arbitrary: insert},
    {weight: 1, arbitrary: remove},
    {weight: 1, arbitrary: double},
    {weight: 1, arbitrary: zero},
    {weight: 1, arbitrary: pad},
    {weight: 1, arbitrary: number},
    {weight: 4, arbitrary: field},
    {weight: 4, arbitrary: recordByte},
    {weight: 1, arbitrary: codec},
    {weight: 1, arbitrary: attribute},
    {weight: 1, arbitrary: again},
    {weight: 1, arbitrary: gone},
    {weight: 1, arbitrary: last},
    {weight: 5, arbitrary: inner},
    {weight: 1, arbitrary: splice(seeds)},
    {weight: 1, arbitrary: append(seeds)},
  )
  return mutants(seeds, wound, bytes => {
    fixCrcs(bytes)
    return bytes
  })
}

/** A wounded index, snapshot or text file. */
export function fileMutants(seeds: readonly Seed[]): fc.Arbitrary<Mutant> {
  const binary = fc.oneof(
    flip,
    set,
    cut,
    cutTail,
    insert,
    remove,
    double,
    zero,
    pad,
    number,
    number,
    splice(seeds),
    append(seeds),
  )
  const text = fc.oneof(flip, cut, cutTail, remove, double, words, words, words, words, splice(seeds), append(seeds))
  const repair = (bytes: Buffer, {kind}: Seed): Buffer => {
    if (kind === 'producer-snapshot') fixSnapshotCrc(bytes)
    return bytes
  }
  const [texts, others] = [seeds.filter(isText), seeds.filter(seed => !isText(seed))]
  return fc.oneof(
    {weight: 1, arbitrary: mutants(texts, text, repair)},
    {weight: 3, arbitrary: mutants(others, binary, repair)},
  )
}
