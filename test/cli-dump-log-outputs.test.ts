import {execFileSync, spawn} from 'node:child_process'
import {mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {crc32c} from '../src/log/crc32c.js'
import {writeBatch} from '../src/log/write-batch.js'
import {until} from '../src/util/until.js'
import {inOwnFolder, kx, root} from './cli-harness.js'

const bytes = readFileSync(`${root}test/golden/dump-log/made/base/00000000000000000000.log`)
const name = '00000000000000000000.log'
const index = '00000000000000000000.index'

const folderOf = inOwnFolder()

describe('rows of CSV', () => {
  const cellsOf = async (...flags: string[]) => {
    const {stdout, ...said} = await kx('dump-log', '-o', 'csv', ...flags, name)
    const [columns = [], ...rows] = stdout.split('\n').map(line => line.split(','))
    const cell = (row: number, column: string) => rows[row]?.[columns.indexOf(column)]
    return {cell, ...said}
  }

  test('have numbers as they are, negative ones too', async () => {
    writeFileSync(name, writeBatch({baseOffset: -5n, records: [{timestamp: -7n, key: null, value: null}]}))
    const {cell} = await cellsOf()
    const numbers = ['offset', 'batchOffset', 'timestamp', 'sequence', 'producerId', 'producerEpoch', 'keySize']
    expect(numbers.map(column => cell(0, column))).toEqual(['-5', '-5', '-7', '-1', '-1', '-1', '-1'])
  })

  test('have no formulas, no control characters and no text that turns around in their keys and values', async () => {
    const key = Buffer.from('=1+1')
    const records = ['\u001b[2J', '\u009b1m', 'a\u0000', '\u202eabc', 'ok é'].map(text => ({
      timestamp: 0n,
      key,
      value: Buffer.from(text),
    }))
    writeFileSync(name, writeBatch({records}))
    const {cell} = await cellsOf()
    expect(cell(0, 'key')).toBe("'=1+1")
    expect(records.map((_, n) => cell(n, 'valueEncoding'))).toEqual(['base64', 'base64', 'base64', 'base64', 'utf8'])
    const raw = await cellsOf('--raw')
    expect(raw.cell(0, 'key')).toBe('=1+1')
    expect(raw.cell(0, 'value')).toBe('\u001b[2J')
  })

  test('tell a record that cannot be understood, and end with 1 as all formats do', async () => {
    writeFileSync(
      name,
      writeBatch({isControl: true, records: [{timestamp: 0n, key: Buffer.from([0, 0, 0, 77]), value: null}]}),
    )
    for (const output of ['text', 'kafka', 'json', 'ndjson', 'yaml', 'csv']) {
      const flags = output === 'text' || output === 'kafka' ? ['--deep-iteration'] : []
      expect((await kx('dump-log', '-o', output, ...flags, name)).exit, output).toBe(1)
    }
    expect((await cellsOf()).stderr).toContain('control type 77 is not known')
  })
})

describe("Kafka's format", () => {
  test.each([
    ['a batch of a length that is impossible', name, (log: Buffer) => log.writeInt32BE(13, 8), 'no batch'],
    ['an unknown magic', name, (log: Buffer) => log.writeInt8(7, 16), 'magic 7'],
    ['an unknown codec', name, (log: Buffer) => log.writeInt8(5, 22), 'no codec has the number 5'],
    ['records that cannot be read', name, (log: Buffer) => log.writeInt8(1, 22), 'gzip'],
  ])('tells %s on stderr, for which the tool has no line', async (_, path, damage, told) => {
    const log = Buffer.from(bytes)
    damage(log)
    writeFileSync(path, log)
    const {stdout, stderr, exit} = await kx('dump-log', '-o', 'kafka', '--deep-iteration', path)
    expect(stdout).not.toContain('! ')
    expect(stderr).toContain(`${path} at 0: `)
    expect(stderr).toContain(told)
    expect(exit).toBe(1)
  })

  test('tells an unknown magic of the last batch, too', async () => {
    const log = Buffer.from(bytes)
    log.writeInt8(3, 155 + 16)
    writeFileSync(name, log)
    const {stdout, stderr} = await kx('dump-log', '-o', 'kafka', name)
    expect(stdout).toContain('Found 78 invalid bytes')
    expect(stderr).toBe(`${name} at 155: 78 bytes are no batch: magic 3 is not known\n`)
  })

  test('tells an index of an odd size on stderr', async () => {
    writeFileSync(name, bytes)
    writeFileSync(index, Buffer.from('000000020000005500000003', 'hex'))
    const {stdout, stderr, exit} = await kx('dump-log', '-o', 'kafka', index)
    expect(stdout).toBe(`Dumping ${index}\noffset: 2 position: 85\n`)
    expect(stderr).toBe(`${index} at 8: the size 12 is not a multiple of 8: 4 bytes at the end are no entry\n`)
    expect(exit).toBe(1)
  })

  test('says nothing twice: what stands in a line of the tool is not told again', async () => {
    const log = Buffer.concat([bytes, Buffer.from('garbage')])
    log[70]! ^= 1
    writeFileSync(name, log)
    const {stdout, stderr, exit} = await kx('dump-log', '-o', 'kafka', name)
    expect(stdout).toContain('isvalid: false')
    expect(stdout).toContain('Found 7 invalid bytes')
    expect({stderr, exit}).toEqual({stderr: '', exit: 1})
  })
})

test('--explain --redact hides what is left over behind the records', async () => {
  const secret = Buffer.from('SECRET-SECRET')
  const batch = writeBatch({records: [{timestamp: 0n, key: null, value: null}]})
  const log = Buffer.concat([batch, secret])
  log.writeInt32BE(log.length - 12, 8)
  writeFileSync(name, log)
  for (const output of ['text', 'json']) {
    const {stdout} = await kx('dump-log', '-o', output, '--explain', '--at', '0', '--redact', name)
    expect(stdout).toContain('<redacted, 13 bytes>')
    expect(stdout.replaceAll(' ', '')).not.toContain(secret.subarray(0, 4).toString('hex'))
  }
})

test('--explain --redact shows nothing of bytes that are no batch', async () => {
  writeFileSync(name, Buffer.concat([bytes, Buffer.from('SECRET-SECRET-SECRET')]))
  for (const output of ['text', 'json']) {
    const {stdout} = await kx('dump-log', '-o', output, '--explain', '--at', String(bytes.length), '--redact', name)
    expect(stdout.replaceAll(' ', '')).not.toContain(Buffer.from('SECR').toString('hex'))
    expect(stdout).not.toContain(String(Buffer.from('SECRET-S').readBigInt64BE()))
  }
})

test('a cut batch is told with its place, its offset and its sizes', async () => {
  writeFileSync(name, bytes.subarray(0, bytes.length - 10))
  expect((await kx('dump-log', name)).stdout).toContain(
    '! error cut-batch at 155, offset 3: 68 bytes are no batch: the batch has 78 bytes, and 68 are left\n',
  )
})

describe('a number of records that is wrong', () => {
  const withCount = (count: number, codec: 'none' | 'gzip', tail = Buffer.alloc(0)): Buffer => {
    const records = [1, 2].map(n => ({timestamp: 0n, key: null, value: Buffer.from(`v${n}`)}))
    const batch = Buffer.concat([writeBatch({codec, records}), tail])
    batch.writeInt32BE(batch.length - 12, 8)
    batch.writeInt32BE(count, 57)
    batch.writeUInt32BE(crc32c(batch.subarray(21)), 17)
    return batch
  }
  const valuesOf = async (...flags: string[]) => {
    const {stdout, exit} = await kx('dump-log', '-o', 'json', ...flags, name)
    const batch = JSON.parse(stdout).files[0].batches[0]
    expect(exit).toBe(1)
    return {
      values: batch.records.map(({value}: {value: {text: string}}) => value.text),
      problem: batch.problem,
    }
  }

  test.each([
    [-1, 'none'],
    [0, 'none'],
    [1, 'none'],
    [-2_147_483_648, 'gzip'],
    [0, 'gzip'],
    [1, 'gzip'],
  ] as const)('%d, %s: the records that are there are shown, and the number is told', async (count, codec) => {
    writeFileSync(name, withCount(count, codec))
    expect(await valuesOf()).toEqual({
      values: ['v1', 'v2'],
      problem: `the header says ${count} records, and 2 are there`,
    })
    const {stdout, exit} = await kx('dump-log', '--print-data-log', name)
    expect(stdout).toContain(`! error record-count at 0, offset 0: the header says ${count} records, and 2 are there\n`)
    expect(exit).toBe(1)
  })

  test("is taken at its word in Kafka's format", async () => {
    writeFileSync(name, withCount(0, 'none'))
    const {stdout, exit} = await kx('dump-log', '-o', 'kafka', '--print-data-log', name)
    expect(stdout).not.toContain('| offset')
    expect(exit).toBe(1)
  })

  test('is right where what is left over is no record', async () => {
    writeFileSync(name, withCount(2, 'none', Buffer.from([10, 0, 0])))
    expect(await valuesOf()).toEqual({values: ['v1', 'v2'], problem: '3 bytes behind the last of 2 records'})
    writeFileSync(name, withCount(-1, 'none', Buffer.from('xyz')))
    expect(await valuesOf()).toEqual({values: [], problem: 'record count -1'})
  })
})

test('zeros at the end are preallocated space however few they are, in all views', async () => {
  writeFileSync(name, Buffer.concat([bytes, Buffer.alloc(17)]))
  for (const flags of [[], ['-o', 'kafka'], ['-o', 'json'], ['-o', 'csv'], ['--stats'], ['--verify']]) {
    expect((await kx('dump-log', ...flags, name)).exit, flags.join(' ')).toBe(0)
  }
})

test('a log that begins behind its name is told as it is', async () => {
  const log = writeBatch({baseOffset: 10n, records: [{timestamp: 0n, key: null, value: null}]})
  writeFileSync('00000000000000000007.log', log)
  const {stdout} = await kx('dump-log', '--verify', '00000000000000000007.log')
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'the segment begins with offset 7 by its name, and its first batch with 10: 3 offsets are missing',
  )
})

describe('flags that do not go together', () => {
  test.each([
    ['--stats -o csv', '--stats has no -o csv.'],
    ['--stats -o kafka', '--stats has no -o kafka.'],
    ['--stats -o ndjson', '--stats has no -o ndjson.'],
    ['--explain --at 0 -o yaml', '--explain has no -o yaml.'],
    ['--salvage out.log -o ndjson', '--salvage has no -o ndjson.'],
    ['--verify --offset 1..2', '--verify looks at everything, and --offset asks for a part.'],
    ['--verify --key k1 --limit 3', '--verify looks at everything, and --limit, --key ask for a part.'],
    ['--verify --max-bytes 100', '--verify looks at everything, and --max-bytes asks for a part.'],
    ['--salvage out.log --only data', '--salvage looks at everything, and --only asks for a part.'],
    ['--at 5', '--at says where --explain begins.'],
    ['--salvage -', '--salvage writes a file, and - is none.'],
  ])('%s', async (flags, message) => {
    writeFileSync(name, bytes)
    const {stdout, stderr, exit} = await kx('dump-log', ...flags.split(' '), name)
    expect(`${stdout}${stderr}`.replace(/\s+/g, ' ')).toContain(message)
    expect(`${stdout}${stderr}`).toMatch(/Try:|suggestions:/)
    expect(exit).toBe(2)
    expect(readdirSync('.').sort()).toEqual([name])
  })

  test('are told without the values of switches', async () => {
    const {stderr, exit} = await kx('dump-log', '--verify', '--stats', name)
    expect(stderr).toContain('--stats cannot also be provided when using --verify.')
    expect(exit).toBe(2)
  })
})

describe('a file in a folder', () => {
  test('that cannot be read makes the exit code 5, and the others are done', async () => {
    mkdirSync('t-0')
    writeFileSync(`t-0/${name}`, bytes)
    execFileSync('mkfifo', ['t-0/00000000000000000009.log'])
    for (const flags of [['--verify'], ['-o', 'json'], ['--stats', '-o', 'json'], ['--verify', '-o', 'ndjson'], []]) {
      const {stdout, stderr, exit} = await kx('dump-log', ...flags, 't-0')
      expect(stdout + stderr, flags.join(' ')).toContain('pipe')
      expect(exit, flags.join(' ')).toBe(5)
      expect(openHere(), flags.join(' ')).toEqual([])
    }
  })
})

/** What this process has open in the test's folder. */
function openHere(): readonly string[] {
  const paths = readdirSync('/proc/self/fd').map(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
  return paths.filter(path => path.startsWith(folderOf()))
}

test('a signal ends the wait for the writer of a pipe', async () => {
  execFileSync('mkfifo', ['pipe.log'])
  const child = spawn('node', [`${root}bin/dev.js`, 'dump-log', 'pipe.log'], {
    cwd: folderOf(),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {...process.env, NODE_ENV: undefined, VITEST: undefined},
  })
  const closed = new Promise(resolve => child.once('close', resolve))
  // Until its handlers are there, a signal ends the process in Node's own way; and once they are gone again: one is sent.
  await until('the pipe to be open', () => isOpen('pipe.log', `/proc/${child.pid}/fd`) || undefined, {
    timeoutMs: 25_000,
  })
  child.kill('SIGINT')
  expect(await closed).toBe(130)
})

function isOpen(file: string, descriptors: string): boolean {
  return readdirSync(descriptors).some(fd => {
    try {
      return readlinkSync(`${descriptors}/${fd}`).includes(file)
    } catch {
      return false
    }
  })
}

test('a name that is empty is told as such', async () => {
  symlinkSync(name, 'link')
  const {stderr, exit} = await kx('dump-log', '')
  expect(stderr).toContain('"" can\'t be read')
  expect(exit).toBe(5)
})

describe('a topic instead of a file', () => {
  test('is looked for in a running cluster', async () => {
    for (const argv of [['orders:0'], ['orders', '--partition', '0'], ['orders', '--broker', '2']]) {
      const {stderr, exit} = await kx('dump-log', ...argv)
      expect(stderr.replace(/\s+/g, ' '), argv.join(' ')).toContain(
        'No cluster runs here, so there is no topic to read.',
      )
      expect(exit).toBe(2)
    }
  })

  test('gives way to a file of that name', async () => {
    writeFileSync('orders:0', bytes)
    expect((await kx('dump-log', 'orders:0')).exit).toBe(0)
  })
})

test('nothing is loaded from the home folder, in whatever state it is', async () => {
  mkdirSync('.local/share/kx', {recursive: true})
  writeFileSync('.local/share/kx/package.json', '{')
  writeFileSync(name, bytes)
  const child = spawn('node', [`${root}bin/dev.js`, 'dump-log', name], {
    cwd: folderOf(),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {...process.env, XDG_DATA_HOME: join(folderOf(), '.local/share'), NODE_ENV: undefined, VITEST: undefined},
  })
  const told: Buffer[] = []
  child.stderr.on('data', chunk => told.push(chunk))
  expect(await new Promise(resolve => child.once('close', resolve))).toBe(0)
  expect(Buffer.concat(told).toString()).toBe('')
})
