import type {EntriesLayout} from '../log/files/fixed-entries.js'
import {textFileData, textFileLines} from '../log/files/file-text.js'
import {openOffsetIndex} from '../log/files/offset-index.js'
import {openProducerSnapshot} from '../log/files/producer-snapshot.js'
import {isTextFileKind, readTextFile, textFindings} from '../log/files/text-files.js'
import {openTimeIndex} from '../log/files/time-index.js'
import {openTransactionIndex} from '../log/files/transaction-index.js'
import type {Finding} from '../log/finding.js'
import type {DumpInput} from './job.js'

/** What a file that is no log holds, one object each, and what is wrong with it. Buffers and bigints are in them as such. */
export async function* entriesOfFile(input: DumpInput, tell: (finding: Finding) => void): AsyncGenerator<object> {
  const {file, classified} = input
  const baseOffset = classified.name.offset ?? 0n
  switch (classified.kind) {
    case 'offset-index': {
      const index = await openOffsetIndex(file, baseOffset)
      for await (const entries of index.entries()) yield* entries
      return leftover(input, index, tell)
    }
    case 'time-index': {
      const index = await openTimeIndex(file, baseOffset)
      for await (const entries of index.entries()) yield* entries
      return leftover(input, index, tell)
    }
    case 'transaction-index': {
      const index = await openTransactionIndex(file)
      for await (const entries of index.entries()) yield* entries
      return leftover(input, index, tell)
    }
    case 'producer-snapshot': {
      const snapshot = await openProducerSnapshot(file)
      for await (const entries of snapshot.entries()) yield* entries
      for (const {kind, reason} of snapshot.problems) {
        tell({code: `snapshot-${kind}`, severity: 'error', file: file.path, explanation: `${reason}.`})
      }
      return
    }
    default: {
      if (!isTextFileKind(classified.kind)) return
      const text = await readTextFile(classified.kind, file)
      yield textFileData(text)
      for (const finding of textFindings(text, file.path)) tell(finding)
    }
  }
}

/** The same as lines, in the style of Kafka's own tool. */
export async function* entryLines(input: DumpInput, tell: (finding: Finding) => void): AsyncGenerator<string> {
  const {file, classified} = input
  if (isTextFileKind(classified.kind)) {
    const text = await readTextFile(classified.kind, file)
    yield* textFileLines(text, classified.name)
    for (const finding of textFindings(text, file.path)) tell(finding)
    return
  }
  for await (const entry of entriesOfFile(input, tell)) {
    yield Object.entries(entry)
      .filter(([name]) => name !== 'index')
      .map(([name, value]) => `${name}: ${value}`)
      .join(' ')
  }
}

function leftover(
  {file}: DumpInput,
  {leftoverBytes, bytesPerEntry}: EntriesLayout,
  tell: (finding: Finding) => void,
): void {
  if (leftoverBytes === 0) return
  tell({
    code: 'index-size',
    severity: 'error',
    file: file.path,
    position: file.size - leftoverBytes,
    explanation: `The size of ${file.size} bytes is not a multiple of ${bytesPerEntry}: ${leftoverBytes} bytes are left over.`,
  })
}
