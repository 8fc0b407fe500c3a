import {readdir, readFile, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'

/** `libs/.contents.json`: what lies in a folder of jars that kx filled, so that a later loss of files is seen. */
export interface Contents {
  readonly schema: 'kx/libs/1'
  readonly version: string
  readonly origin: string
  /** File name → size in bytes. */
  readonly files: Readonly<Record<string, number>>
}

const note = '.contents.json'

/** Which of Kafka's own jars, without which no node starts and no tool runs, a folder lacks. */
export async function missingIn(libs: string, version: string): Promise<string[]> {
  const names = await readdir(libs).catch(() => [] as string[])
  return essential(version).filter(name => !names.includes(name))
}

/** Writes down what is in a folder that is complete now. */
export async function seal(libs: string, version: string, origin: string): Promise<void> {
  const names = (await readdir(libs)).filter(name => name.endsWith('.jar')).sort()
  const sizes = await Promise.all(names.map(async name => [name, (await stat(join(libs, name))).size] as const))
  const contents: Contents = {schema: 'kx/libs/1', version, origin, files: Object.fromEntries(sizes)}
  await writeFile(join(libs, note), `${JSON.stringify(contents, undefined, 2)}\n`)
}

export async function contentsOf(libs: string): Promise<Contents | undefined> {
  try {
    const read = JSON.parse(await readFile(join(libs, note), 'utf8')) as Contents
    return read.schema === 'kx/libs/1' && typeof read.files === 'object' && read.files !== null ? read : undefined
  } catch {
    return undefined
  }
}

/** Are all jars there, in the sizes noted? A folder that somebody else filled has no note: then Kafka's own must be there. */
export async function isComplete(libs: string, version: string): Promise<boolean> {
  const contents = await contentsOf(libs)
  const files = Object.entries(contents?.files ?? {})
  const wanted: (readonly [string, number | undefined])[] = contents
    ? files
    : essential(version).map(name => [name, undefined] as const)
  if (contents && contents.version !== version) return false
  const found = await Promise.all(
    wanted.map(([name, size]) =>
      stat(join(libs, name)).then(
        file => file.isFile() && (size === undefined || file.size === size),
        () => false,
      ),
    ),
  )
  return wanted.length > 0 && found.every(Boolean)
}

function essential(version: string): string[] {
  return [
    `kafka_2.13-${version}.jar`,
    `kafka-clients-${version}.jar`,
    `kafka-server-common-${version}.jar`,
    `kafka-tools-${version}.jar`,
  ]
}
