import {existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {describe, expect, test} from 'vitest'
import {schemas} from '../src/cli/schemas.js'
import {inOwnFolder, kx, root} from './cli-harness.js'

const golden = `${root}test/golden/dump-log`
const base = `${golden}/made/base/00000000000000000000.log`
const bytes = readFileSync(base)
const name = '00000000000000000000.log'
const batchA =
  'baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 3 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1700000000005 size: 85 magic: 2 compresscodec: none crc: 4051016623 isvalid: true\n'
const batchB =
  'baseOffset: 2 lastOffset: 2 count: 1 baseSequence: 0 lastSequence: 0 producerId: 1000 producerEpoch: 1 partitionLeaderEpoch: 3 isTransactional: true isControl: false deleteHorizonMs: OptionalLong.empty position: 85 CreateTime: 1700000000010 size: 70 magic: 2 compresscodec: none crc: 2162593019 isvalid: true\n'
const batchC =
  'baseOffset: 3 lastOffset: 3 count: 1 baseSequence: -1 lastSequence: -1 producerId: 1000 producerEpoch: 1 partitionLeaderEpoch: 3 isTransactional: true isControl: true deleteHorizonMs: OptionalLong.empty position: 155 CreateTime: 1700000000020 size: 78 magic: 2 compresscodec: none crc: 2524010797 isvalid: true\n'

inOwnFolder()

/** Puts a file into the folder that the test runs in. */
function put(path: string, content: Uint8Array = bytes): string {
  writeFileSync(path, content)
  return path
}

function patched(at: number, ...values: number[]): Buffer {
  const copy = Buffer.from(bytes)
  values.forEach((value, n) => {
    copy[at + n] = value
  })
  return copy
}

const lines = (stdout: string) =>
  stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => schemas['dump-log-line'].schema.parse(JSON.parse(line)))

describe('a log as text', () => {
  test('shows its batches', async () => {
    put(name)
    expect(await kx('dump-log', name)).toEqual({
      stdout: `Dumping ${name}\nLog starting offset: 0\n${batchA}${batchB}${batchC}`,
      stderr: '',
      exit: 0,
    })
  })

  test('with keys, values and header values, quoted', async () => {
    put(name)
    const {stdout, stderr, exit} = await kx('dump-log', '--print-data-log', name)
    expect(stdout).toBe(
      `Dumping ${name}\nLog starting offset: 0\n${batchA}` +
        '| offset: 0 CreateTime: 1700000000000 keySize: 2 valueSize: 2 sequence: -1 headers: [h="x"] key: "k1" payload: "v1"\n' +
        '| offset: 1 CreateTime: 1700000000005 keySize: 2 valueSize: -1 sequence: -1 headers: [] key: "k2"\n' +
        batchB +
        '| offset: 2 CreateTime: 1700000000010 keySize: -1 valueSize: 2 sequence: 0 headers: [] payload: "tx"\n' +
        batchC +
        '| offset: 3 CreateTime: 1700000000020 keySize: 4 valueSize: 6 sequence: -1 headers: [] endTxnMarker: COMMIT coordinatorEpoch: 7\n',
    )
    expect(stderr).toBe('')
    expect(exit).toBe(0)
  })

  test.each([['--format', 'kafka'], ['-o', 'kafka'], ['-okafka']])(
    '%s %s is what Kafka’s own tool prints',
    async (...flags) => {
      process.chdir(`${golden}/made/base`)
      const said = await kx('dump-log', ...flags, '--print-data-log', '--files', name)
      expect(said).toEqual({
        stdout: readFileSync(`${golden}/made/base/original2--${name}.stdout`, 'utf8'),
        stderr: '',
        exit: 0,
      })
    },
  )

  test('of a version of Kafka that is named', async () => {
    process.chdir(`${golden}/made/kafka-codec_none_1`)
    const {stdout} = await kx('dump-log', '-o', 'kafka', '--kafka-style', '4.2', '--deep-iteration', name)
    expect(stdout).toMatch(/^\| offset: 0 .* isValid: true crc: \d+\}$/m)
    expect((await kx('dump-log', '-o', 'kafka', '--deep-iteration', name)).stdout).not.toContain('}')
  })

  test('several files and the text of Kafka’s files that its tool can’t show', async () => {
    put(name)
    put('leader-epoch-checkpoint', Buffer.from('0\n2\n0 0\n3 17\n'))
    expect(await kx('dump-log', 'leader-epoch-checkpoint', '--files', `${name},leader-epoch-checkpoint`)).toEqual({
      stdout:
        'Dumping leader-epoch-checkpoint\nversion: 0 epochs: 2\nepoch: 0 startOffset: 0\nepoch: 3 startOffset: 17\n' +
        `Dumping ${name}\nLog starting offset: 0\n${batchA}${batchB}${batchC}` +
        'Dumping leader-epoch-checkpoint\nversion: 0 epochs: 2\nepoch: 0 startOffset: 0\nepoch: 3 startOffset: 17\n',
      stderr: '',
      exit: 0,
    })
  })
})

describe('the exit code', () => {
  test('is 1 for a false CRC, without --verify too, and the rest is shown', async () => {
    put(name, patched(70, bytes[70]! ^ 1))
    const {stdout, exit} = await kx('dump-log', name)
    expect(stdout).toContain('isvalid: false\n! error crc at 0, offset 0: ')
    expect(stdout).toContain(batchB + batchC)
    expect(exit).toBe(1)
    for (const output of ['kafka', 'json', 'ndjson', 'yaml', 'csv'])
      expect((await kx('dump-log', '-o', output, name)).exit, output).toBe(1)
    for (const flag of ['--verify', '--stats']) expect((await kx('dump-log', flag, name)).exit, flag).toBe(1)
  })

  test('is 1 for bytes behind the last batch', async () => {
    put(name, Buffer.concat([bytes, bytes.subarray(0, 30)]))
    const kafka = await kx('dump-log', '-o', 'kafka', name)
    expect(kafka.stdout.endsWith(`Found 30 invalid bytes at the end of ${name}\n`)).toBe(true)
    expect(kafka.exit).toBe(1)
    expect((await kx('dump-log', name)).exit).toBe(1)
  })

  test('is 0 for the zeros of a preallocated active segment, and 1 for those of any other', async () => {
    put(name, Buffer.concat([bytes, Buffer.alloc(4_096)]))
    const flags = ['-o kafka', '-o text', '-o json', '-o csv', '--stats', '--verify'].map(each => each.split(' '))
    for (const each of flags) expect((await kx('dump-log', ...each, name)).exit, each.join(' ')).toBe(0)
    expect((await kx('dump-log', name)).stdout).toBe(
      `Dumping ${name}\nLog starting offset: 0\n${batchA}${batchB}${batchC}! info preallocated at 233: 4,096 zero bytes up to the end: space that the broker has preallocated.\n`,
    )
    put('00000000000000000004.log', bytes)
    for (const each of flags.slice(0, -1)) expect((await kx('dump-log', ...each, name)).exit, each.join(' ')).toBe(1)
    expect((await kx('dump-log', '--verify', '.')).exit).toBe(1)
  })

  test('is 0 for a batch that --max-bytes cuts off', async () => {
    put(name)
    for (const each of [['-o', 'kafka'], ['-o', 'text'], ['-o', 'json'], ['-o', 'csv'], ['--stats']]) {
      const {stdout, exit} = await kx('dump-log', ...each, '--max-bytes', '100', name)
      expect(exit, each.join(' ')).toBe(0)
      expect(stdout, each.join(' ')).not.toMatch(/\b1000\b|! error|invalid/)
    }
  })

  test('is 5 for a file that can’t be read, and the others are still shown', async () => {
    put(name, patched(70, bytes[70]! ^ 1))
    const {stdout, stderr, exit} = await kx('dump-log', 'gone.log', name)
    expect(stdout).toContain(batchB)
    expect(stderr).toBe(
      "Error: gone.log can't be read: there is no such file.\nTry:   Check the path; a broker deletes and renames segments.\n",
    )
    expect(exit).toBe(5)
  })

  test('is 5 for files that nobody knows', async () => {
    put('notes.txt', Buffer.from('hello'))
    const {stderr, exit} = await kx('dump-log', 'notes.txt')
    expect(stderr).toContain("notes.txt is no file of Kafka's that kx knows")
    expect(exit).toBe(5)
  })

  test('is 0 for an empty log, as of a new active segment', async () => {
    put(name, Buffer.alloc(0))
    expect(await kx('dump-log', name)).toEqual({
      stdout: `Dumping ${name}\nLog starting offset: 0\n`,
      stderr: '',
      exit: 0,
    })
  })
})

describe('wrong use exits 2 and says what to type', () => {
  test.each([
    ['nothing is named', [], 'No file is named.'],
    [
      'two decoders',
      ['--offsets-decoder', '--transaction-log-decoder', name],
      'Records have one decoder, and 2 are named: offsets, transaction-log.',
    ],
    [
      'a decoder class',
      ['--value-decoder-class', 'org.X', name],
      'kx runs no Java, so it has no --value-decoder-class.',
    ],
    ['an offset that is none', ['--offset', 'x', name], '--offset "x" is no 64-bit integer.'],
    [
      'an offset beyond 64 bits',
      ['--offset', '9223372036854775808', name],
      '--offset "9223372036854775808" is no 64-bit integer.',
    ],
    [
      'a range that ends before it begins',
      ['--offset', '5..2', name],
      '--offset "5..2" is empty: it ends before it begins.',
    ],
    ['a time that is none', ['--time', 'yesterday', name], '--time "yesterday" is no time.'],
    ['a regular expression that is none', ['--key', '/(/', name], '--key: Invalid regular expression'],
    ['hex that is none', ['--key', 'hex:0', name], '--key "hex:0" is no hex text.'],
    [
      'a size that is none',
      ['--max-decompressed', 'big', name],
      '--max-decompressed: "big" is no size; write 65536, 64k, 16m or 2g.',
    ],
    ['files and a cluster', ['--topic', 'orders', name], 'Files are named, and --topic asks for a running cluster.'],
    ['a partition of nothing', ['--partition', '0'], '--partition needs a --topic.'],
    [
      'a partition of a group',
      ['--group', 'billing', '--partition', '3'],
      'Who is looked for says which partition it is: leave --partition out.',
    ],
    ['two files to follow', ['--follow', name, name], '--follow takes one file, and 2 are named.'],
    ['a position that is none', ['--explain', '--at', 'x', name], '--at "x" is no position'],
    ['a folder as rows', ['-o', 'csv', '.'], '. is a folder: rows are made of the records of logs.'],
  ])('%s', async (_, argv, message) => {
    put(name)
    const {stdout, stderr, exit} = await kx('dump-log', ...argv)
    expect(stderr.replaceAll('\n', ' ')).toContain(message)
    expect(stdout).toBe('')
    expect(exit).toBe(2)
  })

  test('but in Kafka’s format its tool decides which of two decoders it is', async () => {
    process.chdir(`${golden}/real/consumer-offsets-0`)
    const both = await kx('dump-log', '-o', 'kafka', '--transaction-log-decoder', '--offsets-decoder', name)
    expect(both).toEqual(await kx('dump-log', '-o', 'kafka', '--offsets-decoder', name))
  })
})

describe('what is chosen', () => {
  const offsets = async (...argv: string[]) => {
    const {stdout} = await kx('dump-log', '-o', 'ndjson', ...argv, name)
    return lines(stdout).flatMap(line => (line.kind === 'record' ? [line.offset] : []))
  }

  test.each([
    [
      ['--offset', '1..2'],
      ['1', '2'],
    ],
    [
      ['--offset', '2..'],
      ['2', '3'],
    ],
    [
      ['--offset', '..1'],
      ['0', '1'],
    ],
    [['--offset', '3'], ['3']],
    [
      ['--from-offset', '1', '--to-offset', '2'],
      ['1', '2'],
    ],
    [
      ['--time', '1700000000005..1700000000010'],
      ['1', '2'],
    ],
    [
      ['--time', '2023-11-14T22:13:20.010Z..'],
      ['2', '3'],
    ],
    [['--time', '2023-11-14T22:13:20.010..2023-11-14T22:13:20.010'], ['2']],
    [['--key', 'k1'], ['0']],
    [['--key', 'hex:6b32'], ['1']],
    [
      ['--key', '/^K/i'],
      ['0', '1'],
    ],
    [
      ['--producer-id', '1000'],
      ['2', '3'],
    ],
    [
      ['--producer-id', '1', '--producer-id', '-1'],
      ['0', '1'],
    ],
    [
      ['--producer-epoch', '1'],
      ['2', '3'],
    ],
    [
      ['--leader-epoch', '3'],
      ['0', '1', '2', '3'],
    ],
    [['--leader-epoch', '4'], []],
    [
      ['--codec', 'none'],
      ['0', '1', '2', '3'],
    ],
    [['--codec', 'gzip'], []],
    [['--only', 'control'], ['3']],
    [
      ['--only', 'transactional'],
      ['2', '3'],
    ],
    [['--only', 'transactional', '--only', 'data'], ['2']],
    [['--only', 'tombstones'], ['1']],
    [['--only', 'invalid'], []],
    [
      ['--limit', '3'],
      ['0', '1', '2'],
    ],
    [['--limit', '1', '--offset', '1..'], ['1']],
  ] as const)('%j: offsets %j', async (flags, expected) => {
    put(name)
    expect(await offsets(...flags)).toEqual(expected)
  })

  test('a batch without a record that matches is not shown, in no format', async () => {
    put(name)
    expect((await kx('dump-log', '--key', 'k2', '--print-data-log', name)).stdout).toBe(
      `Dumping ${name}\nLog starting offset: 0\n${batchA}| offset: 1 CreateTime: 1700000000005 keySize: 2 valueSize: -1 sequence: -1 headers: [] key: "k2"\n`,
    )
    expect((await kx('dump-log', '--key', 'nobody', name)).stdout).toBe(`Dumping ${name}\nLog starting offset: 0\n`)
    expect((await kx('dump-log', '--only', 'invalid', name)).stdout).toBe(`Dumping ${name}\nLog starting offset: 0\n`)
  })

  test('a log is read from where its index says, if the index is right, and not to its end', async () => {
    const place = `${golden}/real/plain-clean`
    const whole = await kx('dump-log', '-o', 'ndjson', `${place}/${name}`)
    const last = lines(whole.stdout)
      .flatMap(line => (line.kind === 'batch' ? [line] : []))
      .at(-3)
    const range = `${last?.baseOffset}..${last?.lastOffset}`
    put(name, readFileSync(`${place}/${name}`))
    const index = readFileSync(`${place}/00000000000000000000.index`)
    const wrong = Buffer.from(index)
    for (let at = 4; at < wrong.length; at += 8) wrong.writeInt32BE(wrong.readInt32BE(at) + 3, at)
    const answers = []
    for (const content of [index, wrong, undefined]) {
      if (content) put('00000000000000000000.index', content)
      else rmSync('00000000000000000000.index')
      const [text, kafka, data] = [
        await kx('dump-log', '--deep-iteration', '--offset', range, name),
        await kx('dump-log', '--deep-iteration', '-o', 'kafka', '--offset', range, name),
        await kx('dump-log', '-o', 'ndjson', '--offset', range, name),
      ]
      answers.push({text: text.stdout, kafka: kafka.stdout, records: data.stdout.match(/"kind":"record".*/g)})
    }
    expect(answers[0]?.records).toHaveLength(last?.recordsCount ?? 0)
    expect(answers[0]?.text).toContain(`baseOffset: ${last?.baseOffset} `)
    expect(answers[1]).toEqual(answers[0])
    expect(answers[2]).toEqual(answers[0])
    const {stdout} = await kx('dump-log', '-o', 'ndjson', '--offset', range, `${place}/${name}`)
    const end = lines(stdout).find(line => line.kind === 'end')
    expect(end?.kind === 'end' && end.batchCount).toBeLessThan(8)
  })

  test('--redact hides keys and values in every output', async () => {
    put(name)
    for (const output of ['text', 'kafka', 'json', 'ndjson', 'yaml', 'csv']) {
      const {stdout} = await kx('dump-log', '-o', output, '--redact', '--print-data-log', name)
      expect(stdout.replaceAll('crc', ''), output).not.toMatch(/k1|k2|v1|"tx"|: tx/)
    }
    const explained = await kx('dump-log', '--redact', '--explain', '--at', '0', name)
    expect(explained.stdout).not.toMatch(/k1|v1|6b 31/)
    expect((await kx('dump-log', '--redact', '--stats', name)).stdout).not.toMatch(/k1/)
  })
})

describe('data', () => {
  test('one JSON value: files, batches, records', async () => {
    put(name)
    const {stdout, stderr, exit} = await kx('dump-log', '-o', 'json', name)
    const {files, errors, limitReached} = schemas['dump-log'].schema.parse(JSON.parse(stdout))
    expect(
      files[0]?.batches?.map(({records, ...batch}) => [batch.baseOffset, records.map(({offset}) => offset)]),
    ).toEqual([
      ['0', ['0', '1']],
      ['2', ['2']],
      ['3', ['3']],
    ])
    expect(files[0]?.batches?.[0]?.records[0]).toEqual({
      offset: '0',
      timestamp: '1700000000000',
      sequence: -1,
      key: {text: 'k1'},
      value: {text: 'v1'},
      headers: [{key: 'h', value: {text: 'x'}}],
    })
    expect(files[0]?.batches?.[2]?.records[0]?.control).toEqual({
      type: 1,
      name: 'COMMIT',
      version: 0,
      data: {coordinatorEpoch: 7},
      problems: [],
    })
    expect({errors, limitReached, stderr, exit}).toEqual({errors: [], limitReached: false, stderr: '', exit: 0})
  })

  test('what can’t be read is in it, and the exit code is 5', async () => {
    put(name)
    const {stdout, stderr, exit} = await kx('dump-log', '-o', 'json', 'gone', name)
    const value = schemas['dump-log'].schema.parse(JSON.parse(stdout))
    expect(value.errors).toMatchObject([{path: 'gone', code: 'KX_FILE_MISSING'}])
    expect(value.files).toHaveLength(1)
    expect(stderr).toBe('')
    expect(exit).toBe(5)
  })

  test('CSV has a row per record, and no cell is a formula', async () => {
    process.chdir(`${golden}/real/headers`)
    const {stdout} = await kx('dump-log', '-o', 'csv', name)
    expect(stdout.split('\n')[0]).toBe(
      'file,batchPosition,batchOffset,offset,timestamp,timestampType,sequence,leaderEpoch,producerId,producerEpoch,isTransactional,isControl,codec,crcIsRight,keySize,keyEncoding,key,valueSize,valueEncoding,value,headers',
    )
    expect(stdout).not.toMatch(/(^|,)[=+@]/m)
  })

  const inputs = ['made', 'real'].flatMap(kind =>
    readdirSync(`${golden}/${kind}`, {withFileTypes: true})
      .filter(entry => entry.isDirectory())
      .map(entry => `${kind}/${entry.name}`),
  )
  test.each(inputs)('%s fits the schemas, in all forms of JSON', async place => {
    const files = readdirSync(`${golden}/${place}`)
      .filter(file => !file.startsWith('original'))
      .map(file => `${golden}/${place}/${file}`)
    const value = JSON.parse((await kx('dump-log', '-o', 'json', ...files)).stdout)
    const {files: shown, errors} = schemas['dump-log'].schema.parse(value)
    expect(shown.length + errors.length).toBe(files.length)
    const inLines = lines((await kx('dump-log', '-o', 'ndjson', ...files)).stdout)
    const count = (kind: string) => inLines.filter(line => line.kind === kind).length
    expect(count('batch')).toBe(shown.flatMap(({batches}) => batches ?? []).length)
    expect(count('record')).toBe(shown.flatMap(({batches}) => (batches ?? []).flatMap(({records}) => records)).length)
    expect(count('entry')).toBe(shown.flatMap(({entries}) => entries ?? []).length)
    const {stdout} = await kx('dump-log', '-o', 'json', `${golden}/${place}`, '--verify')
    expect(schemas.verify.schema.parse(JSON.parse(stdout)).reports).toHaveLength(1)
  })

  test('YAML is the same value', async () => {
    const {parse} = await import('yaml')
    for (const place of ['made/base', 'real/headers', 'real/nulls'].filter(place => existsSync(`${golden}/${place}`))) {
      const files = readdirSync(`${golden}/${place}`)
        .filter(file => !file.startsWith('original'))
        .map(file => `${golden}/${place}/${file}`)
      const json = JSON.parse((await kx('dump-log', '-o', 'json', ...files, 'gone')).stdout)
      expect(parse((await kx('dump-log', '-o', 'yaml', ...files, 'gone')).stdout), place).toEqual(json)
    }
  })
})
