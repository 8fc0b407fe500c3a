import {KxError, messageOf} from '../../util/errors.js'

let library: {compress(bytes: Uint8Array, level?: number): Uint8Array} | undefined
let loading: Promise<void> | undefined

/** @throws KxError */
export function loadZstdWriter(): Promise<void> {
  loading ??= load()
  return loading
}

async function load(): Promise<void> {
  try {
    const {compress, init} = await import('@bokuweb/zstd-wasm')
    await init()
    library = {compress}
  } catch (error) {
    throw new KxError(
      'environment',
      'KX_ZSTD_MISSING',
      `zstd can't be written: ${messageOf(error)}. \`npm install\` brings @bokuweb/zstd-wasm.`,
    )
  }
}

/** @param level 1 to 22; default 3, as Kafka's */
export function writeZstd(bytes: Buffer, level?: number): Buffer {
  if (!library) throw new Error('loadZstdWriter comes first')
  return Buffer.from(library.compress(bytes, level))
}
