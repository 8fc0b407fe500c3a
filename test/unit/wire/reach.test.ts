import {describe, expect, it} from 'vitest'
import {allSchemas} from '../../../src/protocol/schema.js'
import {reachOf, requireReach} from '../../../src/wire/reach.js'
import type {Reach} from '../../../src/wire/types.js'

const levels: readonly Reach[] = ['reads', 'own-topics', 'cluster', 'brokers']
const allowed = (reach: Reach, apiName: string, body?: Record<string, unknown>) => {
  try {
    requireReach(reach, apiName, body)
    return true
  } catch {
    return false
  }
}

describe('the reach that a request needs', () => {
  it('includes the levels before it', () => {
    const needs: readonly (readonly [apiName: string, least: Reach])[] = [
      ['ListOffsets', 'reads'],
      ['Produce', 'own-topics'],
      ['ElectLeaders', 'cluster'],
      ['BrokerRegistration', 'brokers'],
    ]
    for (const [apiName, least] of needs) {
      expect(
        levels.map(level => allowed(level, apiName)),
        apiName,
      ).toEqual(levels.map((_, index) => index >= levels.indexOf(least)))
    }
  })

  it('is the highest for what the table does not know', () => {
    expect(reachOf('Vote')).toBe('brokers')
    expect(reachOf('AddRaftVoter')).toBe('brokers')
    expect(reachOf('InventedTomorrow')).toBe('brokers')
  })

  it('is more than reading for a Fetch that pretends to be a replica, and for a Metadata that may create topics', () => {
    expect(reachOf('Fetch', {replicaId: -1})).toBe('reads')
    expect(reachOf('Fetch', {replicaId: 2})).toBe('brokers')
    expect(reachOf('Fetch', {replicaState: {replicaId: 2}})).toBe('brokers')
    expect(reachOf('Metadata', {allowAutoTopicCreation: false})).toBe('reads')
    expect(reachOf('Metadata', {})).toBe('own-topics')
  })

  it('lets no request that changes something pass as reading', () => {
    const names = [...allSchemas()].filter(({kind}) => kind === 'request').map(({name}) => name.replace(/Request$/, ''))
    const reading = names.filter(name => reachOf(name, {allowAutoTopicCreation: false}) === 'reads')
    const looksLikeAsking =
      /^(ApiVersions|Describe|List|Find|Fetch$|Metadata$|OffsetFetch$|OffsetForLeaderEpoch$|Get|Sasl)|Describe$/
    expect(reading.filter(name => !looksLikeAsking.test(name))).toEqual([])
    expect(reading.length).toBeGreaterThan(25)
  })
})
