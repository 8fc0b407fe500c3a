import {createReadStream, createWriteStream} from 'node:fs'
import {mkdir, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {pipeline} from 'node:stream/promises'
import {createGunzip} from 'node:zlib'
import {extract} from 'tar-stream'
import {KxError, messageOf} from '../../util/errors.js'
import {interrupted} from '../../util/until.js'
import {download, downloadText, sha512Of} from './download.js'
import {TransferError} from './http.js'

export type ArchiveOutcome =
  | {readonly outcome: 'unpacked'}
  /** The server answers, and has no such archive. */
  | {readonly outcome: 'unknown-version'; readonly why: string}
  | {readonly outcome: 'failed'; readonly why: string}

export interface ArchiveRequest {
  readonly version: string
  /** Where the archive lies while it is fetched, and its part between two calls. */
  readonly folder: string
  /** Where the jars go; made if it is not there. */
  readonly libs: string
  readonly signal: AbortSignal
  readonly progress: (phase: string) => void
  readonly env: NodeJS.ProcessEnv
  readonly stallMs?: number
  readonly pauseMs?: number
}

/** `$KX_KAFKA_MIRROR` (a URL whose folders are versions), else Apache's archive of all releases. */
export function archiveUrl(version: string, env: NodeJS.ProcessEnv): URL {
  const base = env.KX_KAFKA_MIRROR || 'https://archive.apache.org/dist/kafka'
  const url = URL.canParse(base) ? new URL(base) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new KxError(
      'usage',
      'KX_KAFKA_MIRROR',
      `KX_KAFKA_MIRROR is "${base}", which is no http:// or https:// URL.`,
      {
        suggestions: ['Give the folder that holds one folder per version, e.g. https://archive.apache.org/dist/kafka'],
      },
    )
  }
  return new URL(`${url.href.replace(/\/*$/, '')}/${version}/kafka_2.13-${version}.tgz`)
}

/**
 * Fetches Kafka's release archive, verifies it with the SHA-512 file beside it, and unpacks its `libs/*.jar`.
 * @throws KxError KX_KAFKA_CHECKSUM (environment), KX_KAFKA_MIRROR (usage), KX_INTERRUPTED; system errors of the disk
 */
export async function unpackArchive(request: ArchiveRequest): Promise<ArchiveOutcome> {
  const {version, folder, libs, signal} = request
  const url = archiveUrl(version, request.env)
  const file = join(folder, `kafka_2.13-${version}.tgz`)
  try {
    await fetchVerified(request, url, file)
    await unpackLibs(file, libs, signal)
    return {outcome: 'unpacked'}
  } catch (error) {
    if (signal.aborted) throw interrupted(`the archive of Kafka ${version}`)
    if (!(error instanceof TransferError)) throw error
    return error.kind === 'missing'
      ? {outcome: 'unknown-version', why: error.message}
      : {outcome: 'failed', why: `${url.href} can't be used: ${error.message}`}
  } finally {
    await rm(file, {force: true})
  }
}

async function fetchVerified(request: ArchiveRequest, url: URL, file: string): Promise<void> {
  const {signal, progress} = request
  const checksumUrl = new URL(`${url.href}.sha512`)
  const expected = sha512In(await downloadText({...request, url: checksumUrl}), `kafka_2.13-${request.version}.tgz`)
  if (expected === undefined) throw new TransferError('refused', `${checksumUrl.href} holds no SHA-512`)
  for (;;) {
    const ofEarlierCall = await download({...request, url, to: file})
    const actual = await sha512Of(file, signal)
    if (actual === expected) return
    await rm(file, {force: true})
    // The half that an earlier run left may be at fault: it gets one chance, as a whole.
    if (ofEarlierCall) {
      progress('what an earlier run had fetched does not fit: fetching all of it again')
      continue
    }
    throw new KxError(
      'environment',
      'KX_KAFKA_CHECKSUM',
      `${url.href} is not what its checksum file says: its SHA-512 is ${actual.slice(0, 16)}…, expected ${expected.slice(0, 16)}…. It was deleted.`,
      {
        suggestions: [
          'Run it again; if it stays so, something between here and the server changes files: name another mirror in KX_KAFKA_MIRROR.',
          'Or unpack a distribution that you trust and give it with --kafka-home DIR.',
        ],
      },
    )
  }
}

/**
 * The checksum in one of the forms that Apache's releases have had: `name: AB12CD34 EF…` over several lines (gpg),
 * `SHA512 (name) = ab12…` (BSD), `ab12…  name` (coreutils) or the digits alone. Lower case; `undefined` if there is none.
 */
export function sha512In(text: string, name: string): string | undefined {
  const rest = text.replaceAll(name, ' ')
  const plain = /(?<![0-9A-Za-z])[0-9a-fA-F]{128}(?![0-9A-Za-z])/.exec(rest)?.[0]
  if (plain !== undefined) return plain.toLowerCase()
  const spaced = rest
    .slice(rest.indexOf(':') + 1)
    .replace(/SHA512/gi, ' ')
    .replace(/\s+/g, '')
  return /^[0-9a-fA-F]{128}$/.test(spaced) ? spaced.toLowerCase() : undefined
}

/** Unpacks only regular files `<folder>/libs/<name>.jar`, by their last name: nothing can land elsewhere. */
export async function unpackLibs(archive: string, libs: string, signal: AbortSignal): Promise<number> {
  await mkdir(libs, {recursive: true})
  const entries = extract()
  let count = 0
  const reading = pipeline(createReadStream(archive), createGunzip(), entries, {signal})
  const writing = (async () => {
    for await (const entry of entries) {
      const name = jarName(entry.header.name)
      if (name === undefined || entry.header.type !== 'file') {
        entry.resume()
        continue
      }
      await pipeline(entry, createWriteStream(join(libs, name)), {signal})
      count += 1
    }
  })()
  const [read, written] = await Promise.allSettled([reading, writing])
  signal.throwIfAborted()
  // A disk that is full fails the writer, and the reader only as a consequence.
  if (written.status === 'rejected' && (written.reason as {code?: unknown}).code === 'ENOSPC') throw written.reason
  const broken = [read, written].find(result => result.status === 'rejected')
  if (broken)
    throw new TransferError('refused', `the archive can't be unpacked (${messageOf(broken.reason)})`, broken.reason)
  return count
}

export function jarName(entry: string): string | undefined {
  return /^(?:\.\/)?[^/]+\/libs\/([A-Za-z0-9_][A-Za-z0-9._+-]*\.jar)$/.exec(entry)?.[1]
}
