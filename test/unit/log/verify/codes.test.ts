import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {WatchingVisitor} from '../../../../src/inspect/watch.js'
import type {Finding} from '../../../../src/log/finding.js'
import {findingFields} from '../../../../src/log/json.js'
import {readLog} from '../../../../src/log/read-log.js'
import {prepareCompression} from '../../../../src/log/codecs.js'
import {dumpText, kafkaKind} from '../../../../src/log/text/dump-kafka.js'
import {FinalReport} from '../../../../src/log/text/final-report.js'
import {LineWriter} from '../../../../src/log/text/line-writer.js'
import {findingCodes, type FindingCode, type FindingKind} from '../../../../src/log/verify/codes.js'
import {a, abc, b, c, file, folder, goldenFiles, goldens, patched, stem, verifiedFile, withCrc} from './folders.js'

const root = new URL('../../../../', import.meta.url).pathname
/** Its problems have kinds of their own: findings say `snapshot-corrupt` of them. */
const others = ['src/log/files/producer-snapshot.ts']
const tables = ['src/log/verify/codes.ts', 'src/log/verify/text-file-codes.ts']

/** Sources that may give a finding: `diff` has codes of its own, which say how replicas differ. */
const sources = ['src/log', 'src/inspect', 'commands']
  .flatMap(part => readdirSync(join(root, part), {recursive: true, encoding: 'utf8'}).map(name => `${part}/${name}`))
  .filter(
    name =>
      name.endsWith('.ts') && !name.startsWith('src/log/diff/') && !others.includes(name) && !tables.includes(name),
  )
  .map(name => ({name, text: readFileSync(join(root, name), 'utf8')}))

describe('the table of finding codes', () => {
  test('has no code that nothing gives', () => {
    const words = new Set(
      sources.flatMap(({text}) => [...text.matchAll(/'([a-z][a-z0-9-]*)'/g)].map(([, word]) => word)),
    )
    expect(Object.keys(findingCodes).filter(code => !words.has(code))).toEqual([])
  })

  test('has every code that a source gives', () => {
    const given =
      /(?:\bcode: |\bcode = |\.add\(|\badd\(|findingOf\()(?:[\w. ]+ \? )?'([a-z][a-z0-9-]*)'(?: : '([a-z][a-z0-9-]*)')?/g
    const codes = sources.flatMap(({name, text}) =>
      [...text.matchAll(given)].flatMap(([, ...found]) => found.filter(Boolean).map(code => `${name}: ${code}`)),
    )
    expect(codes.length).toBeGreaterThan(80)
    expect(codes.filter(code => !Object.hasOwn(findingCodes, code.split(': ')[1] ?? ''))).toEqual([])
  })
})

/** Errors and warnings, as `error crc`. */
type Told = readonly string[]

function told(findings: readonly Finding[]): Told {
  const worse = findings.filter(({severity}) => severity !== 'info')
  return [...new Set(worse.map(({severity, code}) => `${severity} ${code}`))].sort()
}

/** What -o ndjson, json, yaml, csv and --stats watch out for. */
async function watched(bytes: Buffer, name: string, preallocated = false): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const shown = {batch: () => true, record: () => {}}
  const visitor = new WatchingVisitor(shown, {path: name, preallocated, maxBytes: undefined}, finding =>
    findings.push(finding),
  )
  await readLog(file(bytes, name), visitor)
  return findings
}

/** The lines of kx, with their findings. */
async function printed(files: Record<string, Buffer>, name: string): Promise<readonly Finding[]> {
  const out = {
    writer: new LineWriter(() => {}),
    report: new FinalReport('4.4'),
    complain: () => {},
    absolutePath: name,
  }
  const options = {style: '4.4', dialect: 'kx', deepIteration: true} as const
  const {findings} = await dumpText(kafkaKind(name), file(files[name] as Buffer, name), folder(files), options, out)
  return findings
}

/** Every word for what is wrong, by `--verify` and by each output. */
async function compared(files: Record<string, Buffer>, name: string) {
  const {findings} = await verifiedFile(files, name)
  const bytes = files[name] as Buffer
  const preallocated = findings.some(({code}) => code === 'preallocated')
  const outputs = [await printed(files, name)]
  if (name.endsWith('.log')) outputs.push(await watched(bytes, name, preallocated))
  const isLess = ({code, position}: Finding): boolean =>
    // The text writer keeps such zeros away from the lines.
    (preallocated && code === 'zero-fill') ||
    // --verify does not look into a batch whose CRC is false, and tells of an index entry the gravest fault only.
    (code === 'records' && findings.some(finding => finding.code === 'crc' && finding.position === position)) ||
    (code === 'index-order' && findings.some(finding => /^index-(position|offset)$/.test(finding.code)))
  return {checked: told(findings), outputs: outputs.map(output => told(output.filter(finding => !isLess(finding))))}
}

describe('a dump and --verify', () => {
  const log = `${stem}.log`
  const rubbish = Buffer.from('no batch of Kafka has bytes like these ones here, and it is long enough for a header')
  test.each<[string, Buffer, FindingCode]>([
    ['a false CRC', patched(abc, 70, 0xff), 'crc'],
    ['a last batch that is cut', abc.subarray(0, 223), 'cut-batch'],
    ['a last header that is cut', abc.subarray(0, 165), 'cut-header'],
    ['a length that no batch has', Buffer.concat([a, patched(b, 8, 0xff), c]), 'impossible-size'],
    ['a magic that is not known', Buffer.concat([a, patched(b, 16, 3), c]), 'magic'],
    ['bytes that are no batch', Buffer.concat([a, rubbish, b, c]), 'garbage'],
    ['a count of records that is too small', Buffer.concat([withCrc(patched(a, 57, 0, 0, 0, 1)), b]), 'record-count'],
    ['a count of records that is too large', Buffer.concat([withCrc(patched(a, 57, 0, 0, 0, 3)), b]), 'records'],
    ['a codec that is not known', Buffer.concat([withCrc(patched(a, 21, 0, 7)), b]), 'records'],
  ])('call %s by the same code', async (_, bytes, code) => {
    const {checked, outputs} = await compared({[log]: bytes}, log)
    const expected = `error ${code}`
    expect(checked).toContain(expected)
    for (const output of outputs) expect(output).toEqual([expected])
  })

  const cases = readdirSync(join(goldens, 'made'))
    .filter(name => !name.includes('.'))
    .flatMap(place =>
      Object.keys(goldenFiles('made', place))
        .filter(name => /^\d{20}\.(log|index|timeindex|txnindex|snapshot)$/.test(name))
        .map(name => [place, name] as const),
    )
  test.each(cases)('agree in the words for what is wrong in %s/%s', async (place, name) => {
    await prepareCompression()
    const {checked, outputs} = await compared(goldenFiles('made', place), name)
    for (const output of outputs) for (const one of output) expect(checked).toContain(one)
  })

  test('tell severity, meaning and consequence as the table has them, as JSON too', async () => {
    const [finding] = await watched(patched(abc, 70, 0xff), log)
    const kind: FindingKind = findingCodes.crc
    const json: Partial<Finding> = JSON.parse(`{${findingFields(finding as Finding)}}`)
    expect(json).toMatchObject({code: 'crc', severity: kind.severity, consequence: kind.kafka})
  })
})
