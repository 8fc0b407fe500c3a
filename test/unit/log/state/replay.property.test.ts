import fc from 'fast-check'
import {expect, test} from 'vitest'
import {offsetPrefix} from '../../../../src/log/files/names.js'
import {entitiesOf} from '../../../../src/log/state/entities.js'
import {writeBatch} from '../../../../src/log/write-batch.js'
import {aborted, anyHistory, first, framedValue, type History, inTransactions, logOf, recordCount} from './histories.js'
import {differences, folderOf, load} from './loading.js'
import {snapshotOf} from './snapshots.js'

// Laws of the state: it depends on the records alone, and not on what they were read from.

const log = (base: bigint) => `${offsetPrefix(base)}.log`
const users = new Set(['UserScramCredentialRecord', 'RemoveUserScramCredentialRecord'])

test('a snapshot and the log behind it add up to the same as the log from its start, wherever it was taken', async () => {
  // No secret leaves a state, so that a snapshot made of it has none.
  const withoutUsers = anyHistory.map(history =>
    history.map(batch => batch.filter(({name}) => !users.has(name))).filter(batch => batch.length > 0),
  )
  await fc.assert(
    fc.asyncProperty(withoutUsers, fc.nat(), async (history, pick) => {
      const cut = 1 + (pick % history.length)
      const [before, after] = [history.slice(0, cut), history.slice(cut)]
      const end = BigInt(recordCount(before))
      const whole = await load(folderOf({[log(0n)]: logOf(history)}))
      const {state} = await load(folderOf({[log(0n)]: logOf(before)}))
      const name = `${offsetPrefix(end)}-0000000001.checkpoint`
      const tail = after.length === 0 ? {} : {[log(end)]: logOf(after, {baseOffset: end})}
      const both = await load(folderOf({[name]: snapshotOf(state), ...tail}))
      expect(both.snapshot).toBe(name)
      expect(differences(whole.state, both.state)).toEqual([])
      expect([both.state.offset, both.state.epoch, both.findings]).toEqual([whole.state.offset, 1, []])
    }),
  )
})

test('the state at an offset is that of a log that ends there, however many segments it lies in', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, fc.nat(), async (history, pick) => {
      const end = recordCount(history.slice(0, 1 + (pick % history.length)))
      const segments = history.reduce<Record<string, Buffer>>((files, batch, n) => {
        const base = BigInt(recordCount(history.slice(0, n)))
        files[log(base)] = logOf([batch], {baseOffset: base})
        return files
      }, {})
      const short = await load(folderOf({[log(0n)]: logOf(history.slice(0, 1 + (pick % history.length)))}))
      const upTo = BigInt(end - 1)
      const there = await load(folderOf(segments), {upTo, mustReach: true})
      expect(differences(short.state, there.state)).toEqual([])
      expect([there.state.offset, there.withinBatch, there.findings]).toEqual([upTo, undefined, []])
    }),
  )
})

test('a transaction that ends changes what its records change, and one that was given up nothing', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, anyHistory, fc.array(fc.boolean(), {minLength: 1}), async (history, other, where) => {
      const plain = await load(folderOf({[log(0n)]: logOf(history)}))
      const ended = await load(folderOf({[log(0n)]: logOf(inTransactions(history, where))}))
      expect(differences(plain.state, ended.state)).toEqual([])
      const given: History = [...history, ...aborted(other.flat())]
      const undone = await load(folderOf({[log(0n)]: logOf(given)}))
      expect(differences(plain.state, undone.state)).toEqual([])
      expect([...ended.findings, ...undone.findings]).toEqual([])
    }),
  )
})

test('what is between the begin of a transaction and the end of the log is not in the state, and told', async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, anyHistory, async (history, other) => {
      const plain = await load(folderOf({[log(0n)]: logOf(history)}))
      const open: History = [...history, ...aborted(other.flat()).slice(0, 2)]
      const {state, openTransaction} = await load(folderOf({[log(0n)]: logOf(open)}))
      expect(differences(plain.state, state)).toEqual([])
      expect(openTransaction).toMatchObject({offset: BigInt(recordCount(history)), records: other.flat().length})
    }),
  )
})

test('records of any bytes give a state and what is wrong, never an exception', async () => {
  const wounds = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({min: 0, max: 255})), {maxLength: 12})
  await fc.assert(
    fc.asyncProperty(anyHistory, wounds, async (history, hits) => {
      const values = history.flat().map(record => framedValue(record))
      for (const [which, at, byte] of hits) {
        const value = values[which % values.length] as Buffer
        value[at % value.length] = byte
      }
      const records = values.map(value => ({timestamp: 1n, key: null, value}))
      const {state, findings} = await load(folderOf({[log(0n)]: writeBatch({leaderEpoch: 1, records})}))
      expect(state.offset).toBe(BigInt(values.length - 1))
      expect(findings.filter(({code}) => code !== 'state-record' && code !== 'state-conflict')).toEqual([])
      for (const {label, fields} of entitiesOf(state))
        expect([typeof label, typeof fields]).toEqual(['string', 'object'])
    }),
  )
})

test('a log or snapshot of any bytes gives a state and what is wrong, never an exception but that there is none', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), {minLength: 1, maxLength: 8}),
      async (history, hits) => {
        const {state} = await load(folderOf({[log(0n)]: logOf(history)}))
        const files = {
          [log(0n)]: logOf(history),
          [`${offsetPrefix(state.offset + 1n)}-0000000001.checkpoint`]: snapshotOf(state),
        }
        for (const bytes of Object.values(files)) {
          for (const [at, byte] of hits) bytes[at % bytes.length] = byte
          const found = await load(folderOf(files))
          expect(found.state.offset).toBeGreaterThanOrEqual(-1n)
          expect(entitiesOf(found.state).length).toBeGreaterThan(0)
        }
      },
    ),
  )
})

test('these histories are of all kinds', () => {
  const names = new Set(
    fc.sample(anyHistory, {numRuns: 300, seed: 1}).flatMap(history => history.flat().map(({name}) => name)),
  )
  // All that a controller writes but for transactions, and the state of a migration, which none of 4.x writes.
  expect(names.size).toBe(23)
  expect(names).toContain(first.name)
})
