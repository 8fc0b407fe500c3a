import {delimiter, join} from 'node:path'
import {execa} from 'execa'
import {KxError, messageOf} from '../../util/errors.js'
import {findJava} from '../local/java.js'
import {type JarsOutlook, jarsOutlook} from '../local/jars.js'
import {type Finding, ok, warning} from './finding.js'
import {type Host, install, onPath} from './host.js'

export interface JavaFacts {
  readonly host: Host
  /** What kx would run, or its error's code and sentence. */
  readonly found:
    | {readonly version: string; readonly executable: string}
    | {readonly code: string; readonly message: string}
  readonly javaHome?: {readonly path: string; readonly hasJava: boolean}
  /** macOS: the only java is /usr/bin/java, and nothing is behind it. */
  readonly onlyStub: boolean
}

const affectsLocal = {affects: '--runtime local', blocks: 'local'} as const

export function javaFindings({host, found, javaHome, onlyStub}: JavaFacts): Finding[] {
  const findings: Finding[] = []
  if (javaHome && !javaHome.hasJava) {
    const instead = 'executable' in found ? `; kx takes ${found.executable}` : ''
    findings.push(
      warning('java-home', `JAVA_HOME is ${javaHome.path}, where there is no bin/java${instead}.`, {
        cure: 'unset JAVA_HOME, or let it name a Java runtime',
        affects: 'Maven does not start with it',
      }),
    )
  }
  if ('executable' in found) return [...findings, ok('java', `Java is ${found.version} (${found.executable}).`)]
  if (onlyStub) {
    const what = "/usr/bin/java is only macOS's stub: it opens a dialog, and there is no Java runtime behind it."
    return [
      ...findings,
      warning('java', what, {
        cure: `${install('java', host)}; export JAVA_HOME="$(brew --prefix openjdk)"`,
        ...affectsLocal,
      }),
    ]
  }
  return [...findings, warning('java', found.message, {cure: install('java', host), ...affectsLocal})]
}

export async function javaFacts(env: NodeJS.ProcessEnv, host: Host): Promise<JavaFacts> {
  const {JAVA_HOME: home} = env
  const hasJava = home ? (await onPath('java', {PATH: join(home, 'bin')})) !== undefined : false
  const stub = host.system === 'macos' && (await isStub(env))
  // The stub is not even asked for its version: that opens a dialog.
  const safe = stub
    ? {
        ...env,
        PATH: (env.PATH ?? '')
          .split(delimiter)
          .filter(folder => folder !== '/usr/bin')
          .join(delimiter),
      }
    : env
  const found = await findJava(safe).catch((error: unknown) => {
    return {code: error instanceof KxError ? error.code : 'KX_NO_JAVA', message: messageOf(error)}
  })
  return {
    host,
    found,
    onlyStub: stub && 'code' in found && found.code === 'KX_NO_JAVA',
    ...(home ? {javaHome: {path: home, hasJava}} : {}),
  }
}

/** `/usr/libexec/java_home` knows every Java that is installed for the whole machine, and opens no dialog. */
async function isStub(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (!(await onPath('java', {PATH: '/usr/bin'}))) return false
  const {exitCode} = await execa('/usr/libexec/java_home', ['-F', '-v', '1.8+'], {
    reject: false,
    timeout: 10_000,
    stdin: 'ignore',
    env,
  })
  return exitCode !== 0
}

export interface JarsFacts {
  readonly host: Host
  readonly version: string
  readonly outlook: JarsOutlook
}

/** Where Kafka's jars are, or would come from at the first start. */
export function jarsFinding({host, version, outlook}: JarsFacts): Finding {
  switch (outlook.from) {
    case 'home':
      return ok('jars', `Kafka ${version} is in ${outlook.place}.`)
    case 'cache':
      return ok('jars', `The jars of Kafka ${version} are in kx's cache.`)
    case 'maven':
      return ok('jars', `The jars of Kafka ${version} come from Maven at the first start (54 MB).`)
    case 'archive':
      return warning(
        'jars',
        `There is no Maven: the jars of Kafka ${version} come from ${outlook.place} at the first start (135 MB).`,
        {
          cure: `${install('maven', host)}  (fetches less)`,
          affects: 'where that host is out of reach: --runtime local',
        },
      )
    case 'nowhere':
      return warning('jars', outlook.obstacle, {
        cure: 'Give an unpacked Kafka distribution: --kafka-home DIR, or KX_KAFKA_HOME',
        ...affectsLocal,
      })
  }
}

export async function jarsFacts(
  env: NodeJS.ProcessEnv,
  host: Host,
  version: string,
  kafkaHome?: string,
): Promise<JarsFacts> {
  return {host, version, outlook: await jarsOutlook({version, env, ...(kafkaHome ? {kafkaHome} : {})})}
}
