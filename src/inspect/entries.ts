import {textFileData} from '../log/files/file-text.js'
import {openOffsetIndex} from '../log/files/offset-index.js'
import {openProducerSnapshot} from '../log/files/producer-snapshot.js'
import {isTextFileKind, readTextFile} from '../log/files/text-files.js'
import {openTimeIndex} from '../log/files/time-index.js'
import {openTransactionIndex} from '../log/files/transaction-index.js'
import type {DumpInput} from './job.js'

/** What an index or producer snapshot holds, one object each, with bigints as such. Other files give nothing. */
export async function* entriesOfFile({file, classified}: DumpInput): AsyncGenerator<object> {
  const baseOffset = classified.name.offset ?? 0n
  const entries = {
    'offset-index': async () => (await openOffsetIndex(file, baseOffset)).entries(),
    'time-index': async () => (await openTimeIndex(file, baseOffset)).entries(),
    'transaction-index': async () => (await openTransactionIndex(file)).entries(),
    'producer-snapshot': async () => (await openProducerSnapshot(file)).entries(),
  }
  const {kind} = classified
  if (!Object.hasOwn(entries, kind)) return
  for await (const some of await entries[kind as keyof typeof entries]()) yield* some
}

/** What a text file says, as a whole; `undefined`: it is none. */
export async function contentOfFile({file, classified: {kind}}: DumpInput): Promise<object | undefined> {
  if (!isTextFileKind(kind)) return undefined
  const {kind: _, ...content} = textFileData(await readTextFile(kind, file))
  return content
}
