import type {DecoderName} from '../log/decode/decoder.js'
import type {KafkaStyle} from '../log/decode/style.js'
import type {Classified} from '../log/files/kinds.js'
import type {FolderName} from '../log/files/names.js'
import type {FieldFormat} from '../log/text/field-text.js'
import type {FilterOptions} from '../log/filter.js'
import type {Finding} from '../log/finding.js'
import type {OpenFile} from '../log/folder.js'
import type {LogVisitor} from '../log/read-log.js'
import type {FolderTree} from '../log/verify/report.js'
import type {KxError} from '../util/errors.js'

/** What a run of `kx dump-log` is to do; the flags, checked. */
export interface DumpOptions {
  readonly deep: boolean
  readonly printData: boolean
  readonly skipRecordMetadata: boolean
  readonly indexSanityCheck: boolean
  readonly verifyIndexOnly: boolean
  readonly maxBytes: number | undefined
  readonly maxMessageSize: number
  readonly maxDecompressedBytes: number | undefined
  /** `auto`: by the folder's name. */
  readonly decoder: DecoderName | 'auto' | 'none'
  readonly keyFormat: FieldFormat | undefined
  readonly valueFormat: FieldFormat | undefined
  readonly style: KafkaStyle
  readonly bugCompatible: boolean
  readonly redact: boolean
  readonly raw: boolean
  /** Records (batches where no records are shown, entries of other files). */
  readonly limit: number
  readonly filter: FilterOptions
  readonly signal: AbortSignal
  /** Bytes of the file that were read, and all of them; `undefined`: nobody looks. */
  readonly progress: ((path: string, done: number, total: number) => void) | undefined
  readonly warning: (text: string) => void
  /** A line for stderr, as it is. */
  readonly complain: (line: string) => void
  /** Tells on stderr that an input can't be read. */
  readonly failed: (error: KxError) => void
}

/** A file that is to be shown, with what is known before it is read. */
export interface DumpInput {
  readonly file: OpenFile
  readonly classified: Classified
  /** Where its companions are; `undefined` for stdin. */
  readonly folder: FolderTree | undefined
  /** Topic and partition, as the folder's name says. */
  readonly place: FolderName | undefined
  /** The decoder for its records, if there is one. */
  readonly decoder: DecoderName | undefined
}

export interface DumpFolder {
  readonly path: string
  readonly folder: FolderTree
  /** Of a live partition, as its leader said before the files were listed; `undefined`: nobody knows it. */
  readonly highWatermark?: bigint | undefined
}

/** One output format. Files come one after another. */
export interface DumpWriter {
  /** Gives what was found in the file: the first findings of each kind. */
  file(input: DumpInput): Promise<readonly Finding[]>
  folder(input: DumpFolder): Promise<readonly Finding[]>
  /** An input that can't be read; the others go on. */
  failed(path: string, error: KxError): Promise<void>
  /** After all inputs. */
  end(): Promise<void>
  /** The limit is reached. */
  readonly enough: boolean
  /** Each file is read once from front to back, so that what one read gave may be gone with the next. */
  readonly readsOnce: boolean
  /** Files of no known kind are its own matter; else they can't be read. */
  readonly ignoresUnknown?: boolean
  /** Begins a log that goes on and on; a format that needs an end has none of this. */
  follow?(log: FollowedLog): Promise<Following>
}

/** A log whose segments come one after another. */
export interface FollowedLog {
  /** Of the folder. */
  readonly path: string
  readonly decoder: DecoderName | undefined
}

export interface Following {
  /** Has nothing left to write after each `drain`. */
  readonly visitor: LogVisitor
  /** The batches of this file come next. */
  segment(name: string): void
  findings(): readonly Finding[]
}
