import {chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, it} from 'vitest'
import {findJava, major, parseVersion} from '../../../../src/cluster/local/java.js'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'kx-java-')))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

/** A launcher that says a version as Java does, without being one. */
function launcher(name: string, version: string, release?: string): string {
  const home = join(folder, name)
  mkdirSync(join(home, 'bin'), {recursive: true})
  writeFileSync(join(home, 'bin', 'java'), `#!/bin/sh\necho 'openjdk version "${version}" 2025-04-15' >&2\n`)
  chmodSync(join(home, 'bin', 'java'), 0o755)
  if (release !== undefined) writeFileSync(join(home, 'release'), `IMPLEMENTOR="x"\nJAVA_VERSION="${release}"\n`)
  return home
}

const path = (...homes: string[]) => homes.map(home => join(home, 'bin')).join(':')

describe('the Java that brokers run on', () => {
  it('is that of JAVA_HOME before that of the PATH', async () => {
    const [a, b] = [launcher('a', '21.0.1'), launcher('b', '17.0.2')]
    expect(await findJava({JAVA_HOME: a, PATH: path(b)})).toMatchObject({
      version: '21.0.1',
      executable: join(a, 'bin', 'java'),
    })
    expect(await findJava({PATH: path(b)})).toMatchObject({version: '17.0.2'})
  })

  it('is read from the release file beside it, which spares a JVM', async () => {
    const home = launcher('a', 'never asked', '17.0.15')
    expect(await findJava({PATH: path(home)})).toMatchObject({
      version: '17.0.15',
      build: expect.stringContaining('IMPLEMENTOR'),
    })
  })

  it('is found through symbolic links, as distributions make them', async () => {
    const home = launcher('jdk', '17.0.2', '17.0.2')
    mkdirSync(join(folder, 'usr', 'bin'), {recursive: true})
    symlinkSync(join(home, 'bin', 'java'), join(folder, 'usr', 'bin', 'java'))
    expect(await findJava({PATH: join(folder, 'usr', 'bin')})).toMatchObject({executable: join(home, 'bin', 'java')})
  })

  it('is a later one in the PATH if the first is too old', async () => {
    const [old, good] = [launcher('old', '11.0.2'), launcher('good', '17.0.2')]
    expect(await findJava({PATH: path(old, good)})).toMatchObject({version: '17.0.2'})
  })

  it('can not be Java 11: the error names version, path and cure', async () => {
    const home = launcher('old', '11.0.2')
    await expect(findJava({PATH: path(home)})).rejects.toMatchObject({
      code: 'KX_OLD_JAVA',
      exit: 4,
      message: `Kafka 4 needs Java 17 or later, but ${join(home, 'bin', 'java')} is version 11.0.2.`,
      suggestions: [expect.stringContaining('apt install'), expect.stringContaining('JAVA_HOME')],
    })
  })

  it('can not be missing', async () => {
    await expect(findJava({PATH: join(folder, 'empty')})).rejects.toMatchObject({
      code: 'KX_NO_JAVA',
      exit: 4,
      message: expect.stringContaining('there is no java in JAVA_HOME or the PATH'),
    })
  })

  it('can not be the stub that macOS has in its place', async () => {
    const home = join(folder, 'usr')
    mkdirSync(join(home, 'bin'), {recursive: true})
    const words = 'The operation couldn’t be completed. Unable to locate a Java Runtime.'
    writeFileSync(join(home, 'bin', 'java'), `#!/bin/sh\necho '${words}' >&2\nexit 1\n`)
    chmodSync(join(home, 'bin', 'java'), 0o755)
    await expect(findJava({PATH: path(home)})).rejects.toMatchObject({
      code: 'KX_NO_JAVA',
      message: expect.stringContaining('stub'),
    })
  })
})

describe('a Java version', () => {
  it.each([
    ['17.0.15', 17],
    ['25', 25],
    ['25-ea', 25],
    ['1.8.0_402', 8],
  ])('%s is of the line %d', (version, line) => {
    expect(major(version)).toBe(line)
  })

  it('stands in quotes in the first line of java -version', () => {
    expect(parseVersion('Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.5" 2024-10-15 LTS\n')).toBe(
      '21.0.5',
    )
    expect(parseVersion('sh: java: not found')).toBeUndefined()
  })
})
