import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {gunzipSync} from 'node:zlib'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import type {RunRecord} from '../../../src/experiment/run.js'
import {isSecretName, Redaction} from '../../../src/lab/redact.js'
import {readFaults, readTrials, Store, type StoredPlan} from '../../../src/lab/store.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kx-store-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

/** Settings of Kafka that hold a secret. */
const secretSettings = [
  'ssl.keystore.password',
  'ssl.key.password',
  'ssl.truststore.password',
  'ssl.keystore.key',
  'ssl.keystore.certificate.chain',
  'ssl.truststore.certificates',
  'sasl.jaas.config',
  'listener.name.client.plain.sasl.jaas.config',
  'sasl.oauthbearer.client.credentials.client.secret',
  'delegation.token.secret.key',
  'password.encoder.secret',
  'my.plugin.api.key',
  'my.plugin.access-key',
]

describe('secrets', () => {
  test.each(secretSettings)('%s holds one', name => expect(isSecretName(name)).toBe(true))

  test.each(['broker.session.timeout.ms', 'log.dirs', 'min.insync.replicas', 'num.partitions', 'acks1', 'keyed'])(
    '%s does not',
    name => expect(isSecretName(name)).toBe(false),
  )

  test('planted in every setting, none is found in any file of the folder', () => {
    const config = Object.fromEntries(secretSettings.map((name, index) => [name, `hunter-${index}-planted`]))
    const store = Store.create(folder, 'data-loss', new Redaction(config))
    const cluster = {name: 'x', ephemeral: true, spec: {config}}
    store.savePlan({cluster, environment: {brokerConfig: config}} as unknown as StoredPlan)
    store.saveTrial({
      schema: 'kx/trial/1',
      number: 1,
      condition: 'a',
      outcome: 'failed',
      reason: `could not use ${config['sasl.jaas.config']}`,
      durationMs: 1,
      notes: Object.values(config),
    })
    store.saveHistory(1, [
      {
        process: 'w',
        operation: 'write',
        topic: 't',
        partition: 0,
        value: String(config['ssl.key.password']),
        startMs: 0,
        endMs: 1,
        outcome: 'ok',
        attempt: 0,
      },
    ])
    store.appendFault({trial: 1, error: config['ssl.key.password']})
    store.saveLog(
      'node-1.log',
      Object.entries(config).map(([name, value]) => `${name} = ${value}`),
    )
    store.saveTimeline(1, [{config}])
    store.saveRun({cluster, notes: Object.values(config)} as unknown as RunRecord)
    for (const path of filesIn(folder)) {
      const bytes = readFileSync(path)
      const text = path.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString()
      expect(text, path).not.toMatch(/hunter-\d+-planted/)
    }
    expect(readFileSync(join(store.dir, 'plan.json'), 'utf8')).toContain('[hidden]')
  })
})

describe('the store', () => {
  test('makes a results folder that git ignores, and a folder per run', () => {
    const results = join(folder, 'new')
    const [a, b] = [
      Store.create(results, 'failover', new Redaction()),
      Store.create(results, 'failover', new Redaction()),
    ]
    expect(readFileSync(join(results, '.gitignore'), 'utf8')).toBe('*\n')
    expect(a.id).toMatch(/^[0-9a-f]{4}$/)
    expect(a.dir).not.toBe(b.dir)
  })

  test('leaves a .gitignore alone in a folder that was there', () => {
    Store.create(folder, 'failover', new Redaction())
    expect(existsSync(join(folder, '.gitignore'))).toBe(false)
  })

  test('keeps evidence compressed, with the digest of the file as it lay on the disk', () => {
    const store = Store.create(folder, 'data-loss', new Redaction())
    store.saveEvidence('trial-1/broker-1/a-0/00000000000000000000.log', Buffer.from('abc'))
    expect(store.evidence).toEqual([
      {
        path: 'evidence/trial-1/broker-1/a-0/00000000000000000000.log.gz',
        sizeInBytes: 3,
        sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      },
    ])
    expect(gunzipSync(readFileSync(join(store.dir, store.evidence[0]!.path))).toString()).toBe('abc')
    expect(store.evidenceIsIncomplete).toBe(false)
  })

  test('stops keeping evidence at its limit, and says so', () => {
    const store = Store.create(folder, 'data-loss', new Redaction())
    const large = Buffer.alloc(40 * 1_048_576)
    store.saveEvidence('a', large)
    store.saveEvidence('b', large)
    expect(store.evidence.map(({path}) => path)).toEqual(['evidence/a.gz'])
    expect(store.evidenceIsIncomplete).toBe(true)
  })

  test('reads the trials of a run whose last line was torn by a crash', () => {
    const store = Store.create(folder, 'data-loss', new Redaction())
    const trial = {schema: 'kx/trial/1', number: 1, condition: 'a', outcome: 'ok', durationMs: 1, notes: []} as const
    store.saveTrial(trial)
    writeFileSync(join(store.dir, 'trials.jsonl'), `${JSON.stringify(trial)}\n{"schema":"kx/tri`)
    expect(readTrials(store.dir)).toEqual([trial])
  })

  test('tells the proven faults only', () => {
    const store = Store.create(folder, 'data-loss', new Redaction())
    const proof = {
      fault: 'kill',
      nodeId: 2,
      mechanism: 'SIGKILL',
      evidence: 'gone',
      startedMs: 5,
      provenMs: 9,
      wallMs: 1_250,
    }
    store.appendFault({trial: 3, startWallMs: 1_000, at: '', state: 'planned', fault: 'kill', nodeId: 2})
    store.appendFault({trial: 3, startWallMs: 1_000, at: '', state: 'proven', proof})
    expect(readFaults(store.dir)).toEqual([
      {trial: 3, fault: 'kill', nodeId: 2, mechanism: 'SIGKILL', evidence: 'gone', startMs: 250},
    ])
  })

  test('a results path that is a file is an error of the environment, with a cure', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(() => Store.create(join(folder, 'file'), 'data-loss', new Redaction())).toThrow(
      expect.objectContaining({
        kind: 'environment',
        code: 'KX_RESULTS',
        exit: 4,
        suggestions: ['Give another folder with --results DIR.'],
      }),
    )
  })
})

function filesIn(path: string): string[] {
  return readdirSync(path, {recursive: true})
    .map(name => join(path, String(name)))
    .filter(name => statSync(name).isFile())
}
