import {spawnSync} from 'node:child_process'
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterEach, beforeEach, expect, it} from 'vitest'

const script = fileURLToPath(new URL('../../../compose/image/debian-mirror', import.meta.url))
let etc: string
beforeEach(() => {
  etc = mkdtempSync(join(tmpdir(), 'kx-apt-'))
  mkdirSync(join(etc, 'sources.list.d'))
})
afterEach(() => rmSync(etc, {recursive: true, force: true}))

function mirror() {
  const {status, stdout} = spawnSync(script, {
    encoding: 'utf8',
    env: {...process.env, KX_APT_ETC: etc},
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return {status, stdout}
}

it('takes the archive of a deb822 source, not that of the security updates', () => {
  const security = 'Types: deb\nURIs: http://mirror.test/debian-security\nSuites: bookworm-security\nComponents: main\n'
  const main =
    '# a comment\nTypes: deb\nURIs: http://mirror.test/debian/\nSuites: bookworm bookworm-updates\nComponents: main\n'
  writeFileSync(join(etc, 'sources.list.d/debian.sources'), `${security}\n${main}`)
  expect(mirror()).toEqual({status: 0, stdout: 'http://mirror.test/debian\n'})
})

it('takes the archive of a one-line source', () => {
  const source =
    '# deb http://old.test/debian bookworm main\ndeb [signed-by=/k.gpg] http://one.test/debian bookworm main contrib\n'
  writeFileSync(join(etc, 'sources.list'), source)
  expect(mirror()).toEqual({status: 0, stdout: 'http://one.test/debian\n'})
})

it('does not take the source that setup itself has added', () => {
  writeFileSync(
    join(etc, 'sources.list.d/kx-trixie.sources'),
    'Types: deb\nURIs: http://own.test/debian\nSuites: trixie\nComponents: main\n',
  )
  expect(mirror()).toEqual({status: 1, stdout: ''})
})

it('finds nothing in the sources of another distribution', () => {
  writeFileSync(join(etc, 'sources.list'), 'deb http://ubuntu.test/ubuntu noble main\n')
  expect(mirror()).toEqual({status: 1, stdout: ''})
})
