import {randomUUID} from 'node:crypto'
import {createWriteStream} from 'node:fs'
import {mkdir, rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {Readable} from 'node:stream'
import {pipeline} from 'node:stream/promises'
import type Docker from 'dockerode'
import tar from 'tar-stream'
import type {ByteSource} from '../../log/byte-source.js'
import {KxError} from '../../util/errors.js'
import type {PartitionFolder} from '../cluster.js'
import {fileSource} from '../local/log-files.js'
import {type Engine, isEngineGone, statusOf} from './engine.js'
import {stdoutBytes} from './streams.js'

/** An engine that sends nothing for so long hangs; a large file as a whole may take longer. */
const stallMs = 60_000
/** A running broker may truncate or delete a file while the engine copies it, and the archive then ends early. */
const attempts = 3

export interface FolderPlace {
  readonly engine: Engine
  /** For messages and for `docker cp`. */
  readonly container: string
  /** Checked to be kx's own; asked anew at each use, because a container may have been made anew. */
  readonly found: () => Promise<{readonly id: string; readonly isRunning: boolean}>
  /** Removes what `found` had to make. */
  readonly release?: () => Promise<void>
  /** In the container. */
  readonly path: string
  /** Where copies go, below a folder of their own. */
  readonly copies: string
}

/**
 * A folder in a container. Whole files come through the archive API, which works whatever state the container is in,
 * and go to the disk. The end of a file that grows is read inside the container, which a paused one refuses: nothing
 * grows there, and a copy does.
 */
export class DockerFolder implements PartitionFolder {
  readonly path: string
  readonly #folder: string
  #copies = 0
  /** The newest copy of each file, for reads in a container that does not run. */
  readonly #copied = new Map<string, {readonly size: number; readonly source: ByteSource}>()

  constructor(private readonly place: FolderPlace) {
    this.path = `${place.container}:${place.path}`
    this.#folder = join(place.copies, `copy-${randomUUID()}`)
  }

  async list(): Promise<{readonly name: string; readonly size: number}[]> {
    const script =
      'cd "$1" 2>/dev/null || exit 3; for file in *; do [ -f "$file" ] && stat -c "%s %n" "$file"; done; exit 0'
    const said = await this.#inside(['sh', '-c', script, 'sh', this.place.path])
    if (said) {
      return said
        .toString()
        .split('\n')
        .flatMap(line => {
          const [, size, name] = /^(\d+) (.+)$/.exec(line) ?? []
          return name === undefined ? [] : [{name, size: Number(size)}]
        })
    }
    const files: {name: string; size: number}[] = []
    await this.#fromArchive(this.place.path, async (entry, name, size) => {
      files.push({name, size})
      entry.resume()
    })
    return files
  }

  async sizeOf(name: string): Promise<number | undefined> {
    const {id} = await this.place.found()
    try {
      const answer = await this.place.engine.call(`look at ${this.path}/${name}`, docker =>
        docker.getContainer(id).infoArchive({path: `${this.place.path}/${name}`}),
      )
      ;(answer as Readable).resume()
      return sizeIn((answer as {headers: Record<string, string>}).headers['x-docker-container-path-stat'])
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }

  async open(name: string): Promise<ByteSource | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#copy(name)
      } catch (error) {
        if (error instanceof KxError || attempt >= attempts) throw error
      }
    }
  }

  async read(name: string, position: number, length: number): Promise<Buffer> {
    const file = `${this.place.path}/${name}`
    const script = 'tail -c +"$2" "$1" | head -c "$3"'
    const said = await this.#inside(['sh', '-c', script, 'sh', file, String(position + 1), String(length)])
    if (said) return said
    const size = await this.sizeOf(name)
    if (size === undefined) return Buffer.alloc(0)
    const known = this.#copied.get(name)
    const source = known?.size === size ? known.source : await this.open(name)
    return source && position < source.size ? source.read(position, length) : Buffer.alloc(0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await rm(this.#folder, {recursive: true, force: true})
    } finally {
      await this.place.release?.()
    }
  }

  async #copy(name: string): Promise<ByteSource | undefined> {
    let source: ByteSource | undefined
    await this.#fromArchive(`${this.place.path}/${name}`, async (entry, _, size) => {
      await mkdir(this.#folder, {recursive: true})
      const path = join(this.#folder, String(this.#copies++))
      await pipeline(entry, createWriteStream(path))
      source = fileSource(path, size)
      this.#copied.set(name, {size, source})
    })
    return source
  }

  /** Every file of the archive of a file or of the files directly in a folder; none if it is not there. */
  async #fromArchive(
    path: string,
    take: (entry: Readable & {resume(): void}, name: string, size: number) => Promise<void>,
  ): Promise<void> {
    const {id} = await this.place.found()
    let archive: Readable
    try {
      archive = (await this.place.engine.call(`copy ${path} from ${this.place.container}`, docker =>
        docker.getContainer(id).getArchive({path}),
      )) as Readable
    } catch (error) {
      if (statusOf(error) === 404) return
      throw error
    }
    const extract = tar.extract()
    archive.on('error', error => extract.destroy(error))
    const late = () => archive.destroy(new Error(`copying ${path} stood still for ${stallMs / 1_000} s`))
    let timer = setTimeout(late, stallMs)
    archive.on('data', () => {
      clearTimeout(timer)
      timer = setTimeout(late, stallMs)
    })
    archive.pipe(extract)
    try {
      for await (const entry of extract) {
        const parts = entry.header.name.split('/').filter(part => part !== '')
        if (entry.header.type !== 'file' || parts.length > 2) entry.resume()
        else await take(entry as unknown as Readable, parts.at(-1) ?? '', entry.header.size ?? 0)
      }
    } finally {
      clearTimeout(timer)
      archive.destroy()
    }
  }

  /** What a command in the container prints; `undefined` if none can run there now, or it failed. */
  async #inside(command: readonly string[]): Promise<Buffer | undefined> {
    const {id, isRunning} = await this.place.found()
    if (!isRunning) return undefined
    try {
      return await this.place.engine.call(`read ${this.path}`, async docker => outputOf(docker, id, command))
    } catch (error) {
      // Paused or stopped since, or an image without these tools: the archive works everywhere.
      if (error instanceof KxError && !isEngineGone(error)) return undefined
      throw error
    }
  }
}

async function outputOf(docker: Docker, id: string, command: readonly string[]): Promise<Buffer | undefined> {
  const exec = await docker.getContainer(id).exec({Cmd: [...command], AttachStdout: true, AttachStderr: true})
  const stream = await exec.start({Detach: false, Tty: false})
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  const {ExitCode} = await exec.inspect()
  return ExitCode === 0 ? stdoutBytes(Buffer.concat(chunks)) : undefined
}

function sizeIn(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const {size} = JSON.parse(Buffer.from(header, 'base64').toString()) as {size?: unknown}
  return typeof size === 'number' ? size : undefined
}
