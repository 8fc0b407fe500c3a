import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {readBatches} from '../../../../src/log/batches.js'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {controlText} from '../../../../src/log/decode/control.js'
import {type DecoderName, decoderNamed, decoderNames} from '../../../../src/log/decode/decoder.js'
import {type GoldenRun, goldenRuns} from '../text/golden-runs.js'

// The decoders alone, beside what the released tools printed for the same records; the text tests compare whole outputs.

const decoderOf = ({args}: GoldenRun): DecoderName | undefined =>
  decoderNames.find(name => args.includes(`--${name}-decoder`))

const runs = goldenRuns.filter(
  run => decoderOf(run) && !run.args.includes('--skip-record-metadata') && /\.(log|checkpoint)$/.test(run.file),
)

/** By offset: what stands behind the header keys. */
function recorded(run: GoldenRun): Map<string, string> {
  const records = run.stdout.toString('utf8').split(/\n(?=\| offset: \d+ |baseOffset: )/)
  return new Map(
    records.flatMap(line => {
      const found = /^\| offset: (\d+) .*? headerKeys: \[.*?\]([\s\S]*?)\n?$/.exec(line)
      return found ? [[found[1] as string, found[2] as string]] : []
    }),
  )
}

async function printed(run: GoldenRun): Promise<Map<string, string>> {
  const decoder = decoderNamed(decoderOf(run) as DecoderName)
  const {batches} = await readBatches(bufferSource(readFileSync(join(run.folder, run.file))))
  const texts = batches.flatMap(batch =>
    batch.records.map((record): [string, string] => {
      if (batch.isControl) return [String(record.offset), controlText(record.key, record.value, run.style)]
      const {key, payload} = decoder.kafkaText(record, run.style)
      const parts = [key === undefined ? '' : ` key: ${key}`, payload === undefined ? '' : ` payload: ${payload}`]
      return [String(record.offset), parts.join('')]
    }),
  )
  return new Map(texts)
}

describe('every record is printed as the released tool printed it', () => {
  test('there are runs of all decoders and of two lines of Kafka', () => {
    expect(new Set(runs.map(decoderOf))).toEqual(new Set(decoderNames))
    expect(new Set(runs.map(run => run.style))).toEqual(new Set(['4.0', '4.4']))
  })

  test.each(runs.filter(run => run.exit === 0).map(run => [run.title, run] as const))('%s', async (_, run) => {
    const theirs = recorded(run)
    expect(theirs.size).toBeGreaterThan(0)
    expect(await printed(run)).toEqual(theirs)
  })

  test('where the tool’s run ended for want of a key, kx says why and goes on', async () => {
    const ended = runs.filter(run => run.exit !== 0)
    expect(ended.length).toBeGreaterThan(0)
    for (const run of ended) {
      const missing = /Failed to decode message at offset (\d+).*$/m.exec(run.stderr)
      const [reason, offset] = missing ?? []
      expect((await printed(run)).get(String(offset))).toBe(` key: Error at offset ${offset}, skipping. ${reason}`)
    }
  })
})

describe('nothing is odd about records of real brokers', () => {
  test.each(runs.filter(run => run.folder.includes('/real/')).map(run => [run.title, run] as const))(
    '%s',
    async (_, run) => {
      const decoder = decoderNamed(decoderOf(run) as DecoderName)
      const {batches} = await readBatches(bufferSource(readFileSync(join(run.folder, run.file))))
      const decoded = batches.flatMap(batch => (batch.isControl ? [] : batch.records.map(decoder.decode)))
      expect(decoded.flatMap(({problems}) => problems)).toEqual([])
      expect(decoded.filter(({rawKey, rawValue}) => rawKey ?? rawValue)).toEqual([])
      expect(decoded.filter(({key, value}) => key?.schemaOf ?? value?.schemaOf)).toEqual([])
    },
  )
})
