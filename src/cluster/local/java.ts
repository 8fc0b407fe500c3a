import {access, constants, readFile, realpath} from 'node:fs/promises'
import {delimiter, dirname, join} from 'node:path'
import {execa} from 'execa'
import {KxError} from '../../util/errors.js'

export interface Java {
  /** The launcher, all symbolic links resolved. */
  readonly executable: string
  /** e.g. `17.0.15`. */
  readonly version: string
  /** Text that differs between any two builds: class archives of one do not fit another. */
  readonly build: string
}

/** Brokers of Kafka 4 are compiled for it (KIP-1013). */
const oldest = 17

const cure = {
  suggestions: [
    'Install a Java runtime of version 17 or later (Debian, Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install openjdk).',
    'If there is one already, say where: export JAVA_HOME=/path/to/it',
  ],
}

/**
 * The first Java ≥ 17 of `JAVA_HOME`, the `PATH` and, on macOS, `/usr/libexec/java_home`.
 * @throws KxError KX_NO_JAVA, KX_OLD_JAVA (environment)
 */
export async function findJava(env: NodeJS.ProcessEnv = process.env): Promise<Java> {
  const tooOld: string[] = []
  let stub = false
  for (const path of await candidates(env)) {
    const java = await inspect(path)
    if (java === 'stub') stub = true
    else if (java && major(java.version) >= oldest) return java
    else if (java) tooOld.push(`${path} is version ${java.version}`)
  }
  if (tooOld.length > 0) {
    throw new KxError(
      'environment',
      'KX_OLD_JAVA',
      `Kafka 4 needs Java ${oldest} or later, but ${tooOld.join(' and ')}.`,
      cure,
    )
  }
  const why = stub
    ? "/usr/bin/java is only macOS's stub, with no Java runtime behind it"
    : 'there is no java in JAVA_HOME or the PATH'
  throw new KxError('environment', 'KX_NO_JAVA', `Kafka needs a Java runtime, and ${why}.`, cure)
}

/** `17.0.15` → 17, `1.8.0_402` → 8, `25-ea` → 25. */
export function major(version: string): number {
  const [, first, second] = /^(\d+)(?:\.(\d+))?/.exec(version) ?? []
  return first === '1' ? Number(second) : Number(first ?? Number.NaN)
}

/** The quoted version in what `java -version` prints. */
export function parseVersion(text: string): string | undefined {
  return /version "([^"]+)"/.exec(text)?.[1]
}

async function candidates(env: NodeJS.ProcessEnv): Promise<string[]> {
  const folders = [
    ...(env.JAVA_HOME ? [join(env.JAVA_HOME, 'bin')] : []),
    ...(env.PATH ?? '').split(delimiter).filter(Boolean),
  ]
  const found: string[] = []
  for (const path of folders.map(folder => join(folder, 'java'))) if (await isExecutable(path)) found.push(path)
  if (process.platform !== 'darwin') return found
  const {stdout, failed} = await execa('/usr/libexec/java_home', ['-v', `${oldest}+`], {reject: false, timeout: 10_000})
  return failed ? found : [...found, join(stdout.trim(), 'bin', 'java')]
}

async function inspect(path: string): Promise<Java | 'stub' | undefined> {
  const executable = await realpath(path)
  // Every JDK says its version in a file beside it: reading that spares a JVM.
  const release = await readFile(join(dirname(dirname(executable)), 'release'), 'utf8').catch(() => '')
  const noted = /^JAVA_VERSION="([^"]+)"/m.exec(release)?.[1]
  if (noted) return {executable, version: noted, build: release}
  const {stdout, stderr} = await execa(executable, ['-version'], {reject: false, timeout: 20_000, stdin: 'ignore'})
  const text = `${stderr ?? ''}${stdout ?? ''}`
  if (/Unable to locate a Java Runtime|No Java runtime present/i.test(text)) return 'stub'
  const version = parseVersion(text)
  return version ? {executable, version, build: text} : undefined
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
