import {type DecoderName, decoderNamed, decoderNames} from '../../../../src/log/decode/decoder.js'
import {explainBatch} from '../../../../src/log/explain.js'
import {textFileData, textFileLines} from '../../../../src/log/files/file-text.js'
import {classify, type FileKind, headBytes} from '../../../../src/log/files/kinds.js'
import {openOffsetIndex} from '../../../../src/log/files/offset-index.js'
import {openProducerSnapshot} from '../../../../src/log/files/producer-snapshot.js'
import {isTextFileKind, readTextFile, textFindings} from '../../../../src/log/files/text-files.js'
import {openTimeIndex} from '../../../../src/log/files/time-index.js'
import {openTransactionIndex} from '../../../../src/log/files/transaction-index.js'
import {bytesJson, valueJson} from '../../../../src/log/json.js'
import {readLog} from '../../../../src/log/read-log.js'
import {StatsVisitor} from '../../../../src/log/stats.js'
import {dumpText} from '../../../../src/log/text/dump-kafka.js'
import {FinalReport} from '../../../../src/log/text/final-report.js'
import {LineWriter} from '../../../../src/log/text/line-writer.js'
import type {Meter} from './bounds.js'
import type {Mutant} from './mutate.js'
import type {Seed} from './seeds.js'
import {batchFields, recordFields} from '../written.js'

/** What reads the mutants. A target never throws, and is bounded by {@link Meter} and the runner. */
export interface Target {
  readonly name: string
  readonly run: (mutant: Mutant, meter: Meter, chance: number) => Promise<void>
}

export const maxDecompressedBytes = 8_388_608

/** The decoder that the folder calls for, or any other. */
function decoderOf({path}: Seed, chance: number): DecoderName {
  if (chance % 4 === 0) return decoderNames[chance % decoderNames.length] as DecoderName
  if (/offsets/.test(path)) return 'offsets'
  if (/transaction-state|kafka-txn/.test(path)) return 'transaction-log'
  if (/share/.test(path)) return 'share-group-state'
  if (/remote/.test(path)) return 'remote-log-metadata'
  return 'cluster-metadata'
}

const read: Target = {
  name: 'readLog, JSON and statistics',
  run: async ({bytes}, meter) => {
    const stats = new StatsVisitor()
    let text = 0
    await readLog(
      meter.source(bytes),
      {
        batch: batch => {
          text += batchFields(batch).length
          stats.batch(batch)
          return true
        },
        record: record => {
          text += recordFields(record).length
          stats.record(record)
        },
        recordsDone: problem => {
          text += problem?.reason.length ?? 0
        },
        damage: damage => {
          text += valueJson(damage, bytesJson).length
        },
      },
      {maxDecompressedBytes},
    )
    meter.outputBytes += text
  },
}

const decode: Target = {
  name: 'decoders',
  run: async ({bytes, seed}, meter, chance) => {
    const decoder = decoderNamed(decoderOf(seed, chance))
    let isControl = false
    await readLog(
      meter.source(bytes),
      {
        batch: batch => {
          isControl = batch.isControl
          return true
        },
        record: ({offset, key, value}) => {
          if (isControl) return
          meter.outputBytes += valueJson(decoder.decode({offset, key, value}), bytesJson).length
          for (const style of ['4.0', '4.2', '4.4'] as const) {
            const {key: keyText, payload} = decoder.kafkaText({offset, key, value}, style)
            meter.outputBytes += (keyText?.length ?? 0) + (payload?.length ?? 0)
          }
        },
      },
      {maxDecompressedBytes},
    )
  },
}

const explain: Target = {
  name: 'explain',
  run: async ({bytes}, meter, chance) => {
    const explained = await explainBatch(bytes, chance % 3 === 0 ? chance % Math.max(1, bytes.length) : 0)
    meter.outputBytes += JSON.stringify(explained, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    ).length
  },
}

const stemOf = (name: string): string => name.slice(0, Math.max(0, name.indexOf('.')))

/** The wounded file as text, beside the other files of its folder. */
function text(dialect: 'kafka' | 'kx'): Target {
  return {
    name: `text of ${dialect}`,
    run: async ({bytes, seed}, meter, chance) => {
      const styles = ['4.0', '4.2', '4.4'] as const
      const style = styles[chance % 3] ?? '4.4'
      const bugCompatible = chance % 2 === 0
      const report = new FinalReport(style, bugCompatible)
      const name = /^\d+\./.test(seed.name) ? seed.name : '00000000000000000000.log'
      const files = new Map([[name, bytes]])
      const log = beside(seed)
      if (log) files.set(`${stemOf(name)}.log`, log)
      const complain = (line: string): void => {
        meter.outputBytes += line.length
      }
      const writer = new LineWriter(meter.write)
      const kind: FileKind = isTextFileKind(seed.kind) || seed.kind === 'unknown' ? 'log' : seed.kind
      const dumped = await dumpText(
        kind,
        meter.file(name, bytes),
        meter.folder(files),
        {
          dialect,
          style,
          printDataLog: true,
          skipRecordMetadata: chance % 5 === 0,
          bugCompatible,
          maxDecompressedBytes,
          redact: chance % 11 === 0,
          ...(chance % 7 === 0 ? {decoder: decoderNamed(decoderOf(seed, chance))} : {}),
        },
        {writer, report, complain, absolutePath: '/folder/file'},
      )
      await writer.drain()
      meter.outputBytes += report.text().length + valueJson(dumped.findings, bytesJson).length
    },
  }
}

const logs = new Map<string, Buffer>()

/** The log that an index belongs to, unhurt. */
function beside({kind, folder}: Seed): Buffer | undefined {
  return kind === 'offset-index' || kind === 'time-index' ? logs.get(folder) : undefined
}

/** For the indexes: the logs of their folders. */
export function knowLogs(seeds: readonly Seed[]): void {
  for (const {folder, bytes} of seeds) if (!logs.has(folder)) logs.set(folder, bytes)
}

const files: Target = {
  name: 'readers of the other kinds',
  run: async ({bytes, seed}, meter, chance) => {
    const source = meter.source(bytes)
    const told = classify(chance % 2 ? seed.name : 'noext', bytes.subarray(0, headBytes), bytes.length)
    const kind = chance % 9 === 0 && told.kind !== 'unknown' ? told.kind : seed.kind
    const baseOffset = chance % 5 === 0 ? 2n ** 63n - 1n : BigInt(chance)
    let entries = 0
    const count = async (chunks: AsyncIterable<readonly object[]>): Promise<void> => {
      for await (const chunk of chunks) {
        entries += chunk.length
        meter.outputBytes += valueJson(chunk[0], bytesJson).length
      }
    }
    for (const view of ['right', 'kafka'] as const) {
      if (kind === 'offset-index') await count((await openOffsetIndex(source, baseOffset)).entries(view))
      if (kind === 'time-index') await count((await openTimeIndex(source, baseOffset)).entries(view))
      if (kind === 'transaction-index') await count((await openTransactionIndex(source)).entries(view))
    }
    if (kind === 'producer-snapshot') {
      const snapshot = await openProducerSnapshot(source)
      await count(snapshot.entries())
      if (snapshot.problems.length === 0 && snapshot.kafkaRefuses) throw new Error('refused without a problem')
    }
    if (entries > bytes.length / 4) throw new Error(`${entries} entries in ${bytes.length} bytes`)
    if (isTextFileKind(kind)) {
      const file = await readTextFile(kind, source)
      const lines = textFileLines(file, told.name)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what is checked
      const driving = lines.find(line => /[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(line))
      if (driving !== undefined) throw new Error(`a line drives the terminal: ${JSON.stringify(driving)}`)
      meter.outputBytes += lines.join('\n').length + valueJson(textFileData(file), bytesJson).length
      meter.outputBytes += valueJson(textFindings(file, seed.name), bytesJson).length
    }
  },
}

export const logTargets: readonly Target[] = [read, decode, text('kafka'), text('kx'), explain]
export const fileTargets: readonly Target[] = [files, text('kafka'), text('kx')]
