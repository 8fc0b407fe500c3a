import {spawnSync} from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {dirname, join} from 'node:path'
import {fileURLToPath} from 'node:url'

const project = fileURLToPath(new URL('../../../', import.meta.url))

/** The tools of a minimal Debian that setup may use; whatever else it calls is not there. */
const tools = [
  ...[
    'awk',
    'bash',
    'cat',
    'cksum',
    'cp',
    'cut',
    'dirname',
    'env',
    'find',
    'grep',
    'head',
    'mkdir',
    'mktemp',
    'rm',
    'sed',
  ],
  ...['seq', 'sort', 'tail', 'tee', 'timeout', 'touch', 'tr', 'uname', 'xargs'],
]

export interface Answer {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A machine that exists only as a PATH: real base tools, the stubs that a test adds, and a small project beside them. */
export class BareMachine {
  readonly root = mkdtempSync(join(tmpdir(), 'kx-machine-'))
  readonly #bin = join(this.root, 'bin')
  readonly #project = join(this.root, 'project')
  readonly #calls = join(this.root, 'calls')
  readonly #home = join(this.root, 'home')

  constructor() {
    for (const folder of [this.#bin, this.#home, join(this.#project, 'scripts')]) mkdirSync(folder, {recursive: true})
    for (const tool of tools) symlinkSync(whereIs(tool), join(this.#bin, tool))
    symlinkSync(process.execPath, join(this.#bin, 'node'))
    this.stub('id', 'echo 0')
    this.stub('npm', 'exit 0')
    this.osRelease('ID=debian\nVERSION_CODENAME=bookworm\n')
    for (const path of ['setup', 'scripts/setup', 'compose/image'])
      cpSync(join(project, path), join(this.#project, path), {recursive: true})
    this.#prepareProject()
  }

  /** A project whose packages are installed and which is built. */
  #prepareProject(): void {
    const entry = {version: '1.0.0', integrity: 'sha512-a'}
    this.file('package.json', '{}')
    this.file('package-lock.json', JSON.stringify({packages: {'': {}, 'node_modules/a': entry}}))
    this.file('node_modules/.package-lock.json', JSON.stringify({packages: {'node_modules/a': entry}}))
    this.file('node_modules/a/package.json', '{}')
    for (const path of [
      'src/a.ts',
      'commands/b.ts',
      'experiments/c.ts',
      'scripts/build.mjs',
      'scripts/bundle.mjs',
      'tsconfig.json',
    ])
      this.file(path, '')
    this.file('dist/.built', '')
    // A file that a test makes now is newer than the build, which is newer than the sources.
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    for (const path of readdirSync(this.#project, {recursive: true, encoding: 'utf8'})) {
      utimesSync(join(this.#project, path), minutesAgo(2), minutesAgo(2))
    }
    utimesSync(join(this.#project, 'dist/.built'), minutesAgo(1), minutesAgo(1))
  }

  file(path: string, content: string): void {
    const target = join(this.#project, path)
    mkdirSync(dirname(target), {recursive: true})
    writeFileSync(target, content)
  }

  osRelease(content: string): void {
    writeFileSync(join(this.root, 'os-release'), content)
  }

  /** A command of this machine; each call is noted. `$bin` is the folder of the commands. */
  stub(name: string, body: string): this {
    const path = join(this.#bin, name)
    rmSync(path, {force: true})
    writeFileSync(path, `#!${whereIs('bash')}\nbin='${this.#bin}'\necho "${name} $*" >>'${this.#calls}'\n${body}\n`)
    chmodSync(path, 0o755)
    return this
  }

  java(version: string): this {
    return this.stub('java', javaBody(version))
  }

  /** apt-get whose `install` brings a Java of that version, or fails. */
  apt(brings: {readonly java: string} | 'failure' = {java: '17.0.15'}): this {
    this.stub('apt-cache', 'case "$*" in *openjdk-17*) echo "Package: openjdk-17-jre-headless" ;; esac')
    if (brings === 'failure')
      return this.stub('apt-get', '[[ "$*" == *install* ]] && { echo "E: No space left"; exit 100; }; exit 0')
    const java = `#!${whereIs('bash')}\n${javaBody(brings.java)}\n`
    return this.stub(
      'apt-get',
      `[[ "$*" == *install* ]] || exit 0\ncat >"$bin/java" <<'X'\n${java}X\nchmod=1; ${whereIs('chmod')} +x "$bin/java"`,
    )
  }

  docker(engine: string | undefined, compose: string | undefined): this {
    const answer = engine ? `echo ${engine}` : 'echo "Cannot connect to the Docker daemon" >&2; exit 1'
    return this.stub(
      'docker',
      `case "$*" in version*) ${answer} ;; "compose version"*) ${compose ? `echo ${compose}` : 'exit 1'} ;; *) exit 1 ;; esac`,
    )
  }

  setup(args: readonly string[], env: Readonly<Record<string, string>> = {}): Answer {
    const {status, stdout, stderr} = spawnSync(whereIs('bash'), [join(this.#project, 'setup'), ...args], {
      encoding: 'utf8',
      timeout: 20_000,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: this.#bin,
        HOME: this.#home,
        KX_OS_RELEASE: join(this.root, 'os-release'),
        KX_SBIN: this.#bin,
        KX_APT_ETC: join(this.root, 'apt'),
        ...env,
      },
    })
    return {status, stdout, stderr}
  }

  /** What was called so far, one line per call. */
  calls(name: string): readonly string[] {
    const lines = existsSync(this.#calls) ? readFileSync(this.#calls, 'utf8').split('\n') : []
    return lines.filter(line => line.startsWith(`${name} `))
  }

  remove(): void {
    rmSync(this.root, {recursive: true, force: true})
  }
}

function javaBody(version: string): string {
  return `echo 'openjdk version "${version}" 2025-04-15' >&2`
}

function whereIs(tool: string): string {
  const folders = ['/bin', '/usr/bin', ...(process.env.PATH ?? '').split(':')]
  const found = folders.map(folder => join(folder, tool)).find(path => existsSync(path))
  if (!found) throw new Error(`${tool} is not on this machine`)
  return found
}
