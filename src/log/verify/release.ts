import type {OpenFile} from '../folder.js'

/** Gives a file back before its folder is: a log dir holds thousands of them. */
export async function release(file: OpenFile | undefined): Promise<void> {
  await (file as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.()
}
