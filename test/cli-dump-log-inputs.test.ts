import {execFileSync, spawn} from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  closeSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {gzipSync} from 'node:zlib'
import {describe, expect, test} from 'vitest'
import {schemas} from '../src/cli/schemas.js'
import {openFile} from '../src/inspect/files.js'
import {writeBatch} from '../src/log/write-batch.js'
import {inOwnFolder, kx, root} from './cli-harness.js'

const golden = `${root}test/golden/dump-log`
const bytes = readFileSync(`${golden}/made/base/00000000000000000000.log`)
const name = '00000000000000000000.log'

const folderOf = inOwnFolder()

const shown = async (...argv: string[]) => {
  const {stdout, exit} = await kx('dump-log', '-o', 'json', ...argv)
  return {...schemas['dump-log'].schema.parse(JSON.parse(stdout)), exit}
}
const batchesOf = async (...argv: string[]) => (await shown(...argv)).files.map(({batches}) => batches?.length)

describe('a name', () => {
  test.each([
    'abc.log',
    '1.log',
    'noext',
    'a,b.log',
    'a b.log',
    'ünï 日本.log',
    `${name}.deleted`,
    `${name}.cleaned`,
    `${name}.swap`,
    'x.checkpoint',
    '00000000000000000000-0000000000.checkpoint.part',
  ])('%s does not hinder', async path => {
    writeFileSync(path, bytes)
    expect(await batchesOf(path)).toEqual([3])
    expect((await kx('dump-log', path)).stdout).toContain('baseOffset: 3 lastOffset: 3')
  })

  test('with a dash at its beginning is given behind --, or with its folder', async () => {
    writeFileSync('-5.log', bytes)
    writeFileSync('--x.log', bytes)
    expect(await batchesOf('--', '-5.log', '--x.log')).toEqual([3, 3])
    expect(await batchesOf('./-5.log')).toEqual([3])
  })

  test('of the tiered storage’s cache says which offsets an index has', async () => {
    const index = readFileSync(`${golden}/made/base/00000000000000000000.index`)
    writeFileSync('7_RzJ5YW4TRlaWd1S5v1cOcA.index', index)
    const {files} = await shown('7_RzJ5YW4TRlaWd1S5v1cOcA.index')
    expect(files[0]).toMatchObject({type: 'offset-index', offsetInName: '7'})
    expect(files[0]?.entries?.map(({offset}) => offset)).toEqual(['9', '10'])
  })

  test('that drives a terminal is shown harmless', async () => {
    writeFileSync('\u001b[31m.log', bytes)
    const {stdout} = await kx('dump-log', '\u001b[31m.log')
    expect(stdout).not.toContain('\u001b')
  })
})

describe('an input that is no file', () => {
  test('a folder gives its overview', async () => {
    const {stdout, stderr, exit} = await kx('dump-log', `${golden}/real/plain-clean`)
    expect(stdout.split('\n')[0]).toBe(`${golden}/real/plain-clean: 1 segment, 43.8 KiB`)
    expect(stdout).toContain('Conclusions')
    expect(stderr).toBe('')
    expect(exit).toBe(0)
  })

  test('a symbolic link is followed', async () => {
    writeFileSync('target', bytes)
    symlinkSync('target', name)
    expect(await batchesOf(name)).toEqual([3])
    symlinkSync('nowhere', 'broken.log')
    symlinkSync('round.log', 'round.log')
    const {errors, exit} = await shown('broken.log', 'round.log', name)
    expect(errors.map(({code}) => code)).toEqual(['KX_FILE_MISSING', 'KX_FILE_MISSING'])
    expect(exit).toBe(5)
  })

  test('a named pipe is read to its end', async () => {
    execFileSync('mkfifo', ['pipe.log'])
    const reading = shown('pipe.log')
    createWriteStream('pipe.log').end(bytes)
    expect((await reading).files[0]).toMatchObject({path: 'pipe.log', sizeInBytes: 233, batchCount: 3})
  })

  test.each(['/dev/zero', '/dev/null'])('the device %s is refused', async path => {
    const {errors, exit} = await shown(path)
    expect(errors).toMatchObject([{code: 'KX_NO_FILE', message: `${path} can't be read: it is a device, not a file.`}])
    expect(exit).toBe(5)
  })

  test('a file without permission is told, and the rest goes on', async () => {
    writeFileSync(name, bytes)
    chmodSync(name, 0)
    writeFileSync('1.log', bytes)
    chmodSync(folderOf(), 0o755)
    // What is loaded on the way is loaded before the user changes: the repository may be root's alone.
    await shown('gone.log', '1.log')
    const {errors, files, exit} = await asNobody(() => shown(name, '1.log'))
    expect(errors).toMatchObject([{code: 'KX_NO_PERMISSION'}])
    expect(files).toHaveLength(1)
    expect(exit).toBe(5)
  })

  test('a file in the place of a folder', async () => {
    writeFileSync(name, bytes)
    expect((await shown(`${name}/x.log`)).errors).toMatchObject([{code: 'KX_FILE_MISSING'}])
  })
})

describe('compressed evidence', () => {
  test('is unpacked, and goes by its plain name', async () => {
    writeFileSync(`${name}.gz`, gzipSync(bytes))
    const {files, exit} = await shown(`${name}.gz`)
    expect(files[0]).toMatchObject({path: `${name}.gz`, type: 'log', offsetInName: '0', sizeInBytes: 233})
    expect(exit).toBe(0)
  })

  test('in a folder stands for the files themselves', async () => {
    mkdirSync('t-0')
    for (const file of readdirSync(`${golden}/real/plain-clean`).filter(each => !each.startsWith('original'))) {
      writeFileSync(`t-0/${file}.gz`, gzipSync(readFileSync(`${golden}/real/plain-clean/${file}`)))
    }
    const {stdout, exit} = await kx('dump-log', '--verify', '-o', 'json', 't-0')
    const [report] = schemas.verify.schema.parse(JSON.parse(stdout)).reports
    expect(report).toMatchObject({kind: 'partition', segments: [{name, records: 800}], findings: []})
    expect(exit).toBe(0)
  })

  test('that is damaged is told', async () => {
    writeFileSync(`${name}.gz`, gzipSync(bytes).subarray(0, 60))
    const {errors, exit} = await shown(`${name}.gz`)
    expect(errors).toMatchObject([{code: 'KX_READ_FAILED'}])
    expect(errors[0]?.message).toContain('its compression is damaged')
    expect(exit).toBe(5)
  })

  test('that unpacks to more than allowed is told, and nothing stays behind', async () => {
    const before = readdirSync(tmpdir()).filter(each => each.startsWith('kx-spool'))
    writeFileSync(`${name}.gz`, gzipSync(Buffer.alloc(20_000_000)))
    const {errors} = await shown('--max-decompressed', '16m', `${name}.gz`)
    expect(errors).toMatchObject([{code: 'KX_TOO_LARGE'}])
    expect(readdirSync(tmpdir()).filter(each => each.startsWith('kx-spool'))).toEqual(before)
  })

  test('that is larger than memory should be is read from a temporary file', async () => {
    const batch = writeBatch({records: [{timestamp: 0n, key: null, value: Buffer.alloc(1_000_000)}]})
    writeFileSync(`${name}.gz`, gzipSync(Buffer.concat(Array.from({length: 12}, () => batch))))
    await using file = await openFile(`${name}.gz`)
    expect(file.size).toBe(12 * batch.length)
    expect((await file.read(11 * batch.length, batch.length)).equals(batch)).toBe(true)
    expect(await file.read(file.size - 5, 100)).toHaveLength(5)
  })
})

describe('a file that changes while it is read', () => {
  test('is shown as it was when it was opened', async () => {
    writeFileSync(name, bytes)
    await using file = await openFile(name)
    appendFileSync(name, bytes)
    expect(file.size).toBe(233)
    expect(await file.read(200, 100)).toHaveLength(33)
    expect(await file.change()).toBe('grew')
  })

  test('and shrinks gives what is left', async () => {
    writeFileSync(name, bytes)
    await using file = await openFile(name)
    truncateSync(name, 100)
    expect(await file.read(0, 233)).toHaveLength(100)
    expect(await file.change()).toBe('shrank')
  })

  test('and is rolled or deleted goes on', async () => {
    writeFileSync(name, bytes)
    await using file = await openFile(name)
    renameSync(name, `${name}.deleted`)
    expect(await file.change()).toBeUndefined()
    unlinkSync(`${name}.deleted`)
    expect((await file.read(0, 233)).equals(bytes)).toBe(true)
    expect(await file.change()).toBe('was deleted')
  })
})

test('a sparse file above 2 GiB is read to its end', {timeout: 300_000}, async () => {
  writeFileSync(name, bytes)
  const end = 2_200_000_000
  truncateSync(name, end)
  appendFileSync(name, bytes.subarray(155))
  const {files, exit} = await shown(name)
  expect(files[0]?.batches?.map(({position}) => position)).toEqual([0, 85, 155, end])
  expect(files[0]).toMatchObject({sizeInBytes: end + 78, validBytes: 311, skippedBytes: end - 233})
  expect(exit).toBe(1)
  truncateSync(name, 5 * 2 ** 30)
  appendFileSync(name, bytes)
  await using file = await openFile(name)
  expect((await file.read(5 * 2 ** 30, 1_000)).equals(bytes)).toBe(true)
})

describe('--follow', () => {
  test('shows what is appended, as soon as it is whole', async () => {
    mkdirSync('t-0')
    writeFileSync(`t-0/${name}`, bytes.subarray(0, 85))
    const child = spawn('node', [`${root}bin/dev.js`, 'dump-log', '-o', 'ndjson', '--follow', 't-0'], {env: childEnv()})
    const seen: string[] = []
    const until = (what: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => seen.join('').includes(what) && resolve()
        child.stdout.on('data', look)
        child.once('close', () => reject(new Error(`it ended without ${what}: ${seen.join('')}`)))
        look()
      })
    child.stdout.on('data', chunk => seen.push(String(chunk)))
    await until('"offset":"1"')
    const file = openSync(`t-0/${name}`, 'a')
    writeSync(file, bytes.subarray(85, 120))
    writeSync(file, bytes.subarray(120))
    closeSync(file)
    await until('"offset":"3"')
    child.kill('SIGINT')
    expect(await new Promise(resolve => child.once('close', resolve))).toBe(130)
  })
})

describe('--salvage', () => {
  const damaged = () => {
    const copy = Buffer.from(bytes)
    copy[130]! ^= 1
    return Buffer.concat([copy, Buffer.from('garbage')])
  }

  test('writes the batches that are whole, and says what it left out', async () => {
    writeFileSync(name, damaged())
    const {stdout, stderr, exit} = await kx('dump-log', '--salvage', 'saved.log', name)
    expect(stdout).toBe(
      `saved.log: 2 batches with 3 records in 163 B, offsets 0 to 3.\nLeft out of ${name}: 77 bytes, with 1 damaged batch and 0 misplaced ones in them.\n`,
    )
    expect({stderr, exit}).toEqual({stderr: '', exit: 1})
    expect(readFileSync('saved.log').equals(Buffer.concat([bytes.subarray(0, 85), bytes.subarray(155)]))).toBe(true)
    expect(readdirSync('.').sort()).toEqual([name, 'saved.log'])
    expect(readFileSync(name).equals(damaged())).toBe(true)
  })

  test('never writes over anything, least of all its source', async () => {
    writeFileSync(name, damaged())
    writeFileSync('there', 'x')
    for (const out of ['there', name, `./${name}`, '.']) {
      const {stdout, exit} = await kx('dump-log', '-o', 'json', '--salvage', out, name)
      expect(JSON.parse(stdout).error, out).toMatchObject({code: 'KX_FILE_EXISTS', exit: 2})
      expect(exit).toBe(2)
    }
    expect(readFileSync('there', 'utf8')).toBe('x')
    expect(readFileSync(name).equals(damaged())).toBe(true)
  })

  test('into a folder that is not there', async () => {
    writeFileSync(name, bytes)
    const {stdout, exit} = await kx('dump-log', '-o', 'json', '--salvage', 'no/saved.log', name)
    expect(JSON.parse(stdout).error).toMatchObject({kind: 'environment', code: 'KX_NOT_WRITTEN'})
    expect(exit).toBe(4)
  })

  test('where there is no room leaves nothing behind', async () => {
    const batch = writeBatch({records: [{timestamp: 0n, key: null, value: Buffer.alloc(1_000_000)}]})
    writeFileSync(name, batch)
    // The shell's limit of file sizes, in blocks of 1 KiB, is the one full disk that anybody may have.
    const {stdout, stderr, exit} = await started('bash', [
      '-c',
      `trap '' XFSZ; ulimit -f 100; exec node ${root}bin/dev.js dump-log -o json --salvage saved.log ${name}`,
    ])
    expect(JSON.parse(stdout).error, stderr).toMatchObject({kind: 'environment', code: 'KX_DISK_FULL'})
    expect(exit).toBe(4)
    expect(readdirSync('.').sort()).toEqual([name])
  })
})

describe('a process of its own', () => {
  test('reads stdin, plain and compressed', async () => {
    for (const [input, size] of [
      [bytes, 233],
      [gzipSync(bytes), 233],
      [Buffer.alloc(0), 0],
    ] as const) {
      const {stdout, exit} = await started('node', [`${root}bin/dev.js`, 'dump-log', '-o', 'json', '-'], input)
      expect(JSON.parse(stdout).files[0]).toMatchObject({path: '-', type: 'log', sizeInBytes: size})
      expect(exit).toBe(0)
    }
  })

  test('ends at once and quietly when nobody reads on', async () => {
    const batch = writeBatch({
      records: Array.from({length: 100}, () => ({timestamp: 0n, key: null, value: Buffer.alloc(10_000)})),
    })
    writeFileSync(name, Buffer.concat(Array.from({length: 40}, () => batch)))
    for (const flags of ['', '-o kafka', '-o ndjson', '-o json', '-o csv', '-o yaml']) {
      const {stdout, stderr} = await started('bash', [
        '-c',
        `set -o pipefail; node ${root}bin/dev.js dump-log ${flags} --print-data-log ${name} | head -c 5; echo " $?"`,
      ])
      expect(stdout, flags).toMatch(/^.{5} 0\n$/s)
      expect(stderr, flags).toBe('')
    }
  })

  test.runIf(existsSync('/dev/full'))('says so when stdout is full, and stops', async () => {
    writeFileSync(name, bytes)
    const {stderr, exit} = await started('bash', ['-c', `node ${root}bin/dev.js dump-log ${name} > /dev/full`])
    expect(stderr).toContain("the answer can't be written to stdout")
    expect(exit).toBe(4)
  })

  test('leaves files and folders as they are, also those that nobody may write', async () => {
    mkdirSync('t-0')
    for (const file of readdirSync(`${golden}/real/plain-clean`).filter(each => !each.startsWith('original'))) {
      writeFileSync(`t-0/${file}`, readFileSync(`${golden}/real/plain-clean/${file}`))
      chmodSync(`t-0/${file}`, 0o400)
    }
    chmodSync('t-0', 0o500)
    const before = readdirSync('t-0').map(file => [file, statSync(`t-0/${file}`).mtimeMs])
    const files = readdirSync('t-0').map(file => `t-0/${file}`)
    expect((await kx('dump-log', ...files)).exit).toBe(0)
    expect((await kx('dump-log', '--verify', 't-0')).exit).toBe(0)
    expect(readdirSync('t-0').map(file => [file, statSync(`t-0/${file}`).mtimeMs])).toEqual(before)
    chmodSync('t-0', 0o700)
  })
})

/** Permissions don't bind root: it reads as a user who owns nothing. */
async function asNobody<Value>(run: () => Promise<Value>): Promise<Value> {
  const {geteuid, seteuid} = process
  if (geteuid?.() !== 0 || seteuid === undefined) return run()
  seteuid(65_534)
  try {
    return await run()
  } finally {
    seteuid(0)
  }
}

function childEnv(): NodeJS.ProcessEnv {
  return {...process.env, NODE_ENV: undefined, VITEST: undefined}
}

async function started(command: string, args: readonly string[], input?: Buffer) {
  const child = spawn(command, args, {cwd: folderOf(), stdio: ['pipe', 'pipe', 'pipe'], env: childEnv()})
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', chunk => out.push(chunk))
  child.stderr.on('data', chunk => err.push(chunk))
  child.stdin.end(input)
  const exit = await new Promise<number | null>(resolve => child.once('close', resolve))
  return {stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), exit}
}
