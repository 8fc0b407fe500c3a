import {grouped, list, plural} from '../../util/format.js'
import {bytesTold} from './bytes.js'
import type {Facts, Noticed} from './conclusions.js'
import type {OddBatch} from './evidence.js'
import {offsets} from './ranges.js'
import type {ByteDifference, Conclusion, Corruption, ReplicaDamage} from './types.js'

const toldOneByOne = 10

/** What is wrong with bytes themselves: false CRCs, bytes that are no batch, header bytes that no CRC covers. */
export function bytesConclusions(facts: Facts, {headers, odd, oddLeftOut}: Noticed): Conclusion[] {
  const {replicas, corruptions, corruptionsLeftOut, damages} = facts
  const name = (index: number) => replicas[index]?.name ?? ''
  const all = corruptions.slice(0, toldOneByOne).map(one => corruption(one, name))
  const more = corruptions.length - all.length + corruptionsLeftOut
  if (more > 0) {
    all.push({
      code: 'corruption',
      severity: 'error',
      replicas: [],
      text: `${plural(more, 'more batch', 'more batches')} with false CRCs.`,
    })
  }
  all.push(...damages.slice(0, toldOneByOne).map(one => damaged(one, name)))
  all.push(...odd.slice(0, toldOneByOne).map(one => oddBatch(one, name)))
  const moreOdd = odd.length - toldOneByOne + oddLeftOut
  if (moreOdd > 0) {
    const text = `${plural(moreOdd, 'more batch', 'more batches')} that can't be read or repeat offsets, with right CRCs.`
    all.push({code: 'damage', severity: 'error', replicas: [], text})
  }
  for (const {replica, field, count, first, is, shouldBe} of headers) {
    const times = count === 1 ? '' : ` (and ${plural(count - 1, 'more batch', 'more batches')})`
    const consequence =
      field === 'baseOffset'
        ? 'Readers of this replica get other offsets than those of the others'
        : 'Kafka decides by it what a replica truncates'
    all.push({
      code: field === 'baseOffset' ? 'base-offset-bytes' : 'epoch-bytes',
      severity: 'error',
      replicas: [name(replica)],
      from: shouldBe >= 0n && field === 'baseOffset' ? shouldBe : first.baseOffset,
      text: `${name(replica)}: the batch at position ${grouped(first.position)} of ${first.segment} has the ${field} ${is}, on the others it is ${shouldBe}${times}; all that the CRC covers is the same. ${consequence}, and no CRC covers these bytes.`,
    })
  }
  return all
}

function corruption(
  {replica, batch, bytes, differingBytes, against}: Corruption,
  name: (index: number) => string,
): Conclusion {
  const where = `${name(replica)}: the batch at offset ${batch.baseOffset} (${batch.segment}, position ${grouped(batch.position)}, ${plural(batch.sizeInBytes, 'byte')}) has a false CRC`
  const what =
    bytes === null || against === undefined
      ? 'No other replica has the same batch whole to lay beside it, so which bytes are wrong is not known'
      : `${plural(differingBytes, 'byte')} of it ${differingBytes === 1 ? 'differs' : 'differ'} from ${name(against)}'s: ${byteText(bytes, differingBytes)}`
  return {
    code: 'corruption',
    severity: 'error',
    replicas: [name(replica)],
    from: batch.baseOffset,
    text: `${where}. ${what}. This is corruption, no divergence: consumers stop here if ${name(replica)} leads, and a restart after a crash cuts its log here.`,
  }
}

function oddBatch(
  {replica, what, batch, reason, count, lastOffset}: OddBatch,
  name: (index: number) => string,
): Conclusion {
  const {segment, position, sizeInBytes, baseOffset} = batch
  const where = `the batch at offset ${baseOffset} (${segment}, position ${grouped(position)}, ${plural(sizeInBytes, 'byte')})`
  const base = {code: 'damage' as const, severity: 'error' as const, replicas: [name(replica)], from: baseOffset}
  if (what === 'unreadable') {
    const text = `${name(replica)}: ${where} has a right CRC, and yet its records are wrong: ${reason}. Kafka does not notice when it recovers the log: it was written so, or changed by somebody who made the CRC right.`
    return {...base, to: lastOffset + 1n, text}
  }
  const more = count === 1 ? 'has' : `and ${plural(count - 1, 'more batch', 'more batches')} behind it have`
  const text = `${name(replica)}: ${where} ${more} ${offsets(baseOffset, lastOffset + 1n)}, and ${reason}. What is there twice or too late is compared with nothing; consumers skip what lies below their position.`
  return {...base, to: lastOffset + 1n, text}
}

function damaged(
  {replica, segment, position, sizeInBytes, kind, reason, from, to, bytes, differingBytes, against}: ReplicaDamage,
  name: (index: number) => string,
): Conclusion {
  const what = `${name(replica)}: ${plural(sizeInBytes, 'byte')} at position ${grouped(position)} of ${segment} are no batch (${reason})`
  const base = {severity: 'error' as const, replicas: [name(replica)], from, ...(to !== null && {to})}
  if (against !== undefined && bytes !== null && differingBytes > 0) {
    const flipped = `${name(against)} has a batch there that differs in ${plural(differingBytes, 'byte')}: ${byteText(bytes, differingBytes)}`
    const text = `${what}. ${flipped}. This is corruption: the batch was whole once.`
    return {code: 'damage', ...base, text}
  }
  if (kind === 'cut' || kind === 'cut-header') {
    const torn = against === undefined ? '' : `, the beginning of what ${name(against)} has there`
    const text = `${what}${torn}: a batch that was not written whole, as a crash leaves it. Kafka cuts it off when the broker starts, and fetches it anew.`
    return {code: 'cut-batch', ...base, severity: 'warning', text}
  }
  const lost =
    to === null
      ? `nothing is readable from ${from} on`
      : to <= from
        ? `no offset is missing behind them, the next is ${to}`
        : `${offsets(from, to)} can't be read`
  return {
    code: 'damage',
    ...base,
    text: `${what}: ${lost}. Kafka cuts the log here if the broker starts after a crash.`,
  }
}

function byteText(bytes: readonly ByteDifference[], all: number): string {
  const told = bytes.slice(0, 3).map(({position, field, is, shouldBe, bits, offset}) => {
    const which = bits.length === 1 ? `bit ${bits[0]}` : `bits ${list(bits)}`
    const record = offset === undefined ? '' : `, in the record at offset ${offset}`
    return `byte ${grouped(position)} is ${hex(is)} and should be ${hex(shouldBe)} (${which} of ${field}${record})`
  })
  const rest = all - told.length
  return `${told.join('; ')}${rest > 0 ? `; ${grouped(rest)} more${all > bytesTold ? '' : ' in the data'}` : ''}`
}

function hex(byte: number): string {
  return `0x${byte.toString(16).padStart(2, '0')}`
}
