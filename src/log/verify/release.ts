import type {Folder, OpenFile} from '../folder.js'

/** Gives a file back before its folder is, or a folder before the one around it: a log dir holds thousands of them. */
export async function release(file: OpenFile | Folder | undefined): Promise<void> {
  await (file as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.()
}
