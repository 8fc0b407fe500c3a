import {describe, expect, test} from 'vitest'
import {
  availabilityGap,
  divergence,
  duplicates,
  foreign,
  gone,
  highWatermarkViolations,
  holdsNone,
  intact,
  lost,
  moved,
  nonmonotonicSends,
  onlyOn,
  same,
  truncated,
  unequal,
} from '../../../src/experiment/delivery.js'
import {log, replica, w, writes} from './samples.js'

// In pairs: what must be flagged, and its neighbour that must not.

describe('lost', () => {
  const written = writes({ok: [w('a', 0), w('b', 1), w('c', 2)]})

  test('an acknowledged value that the reader passed by is a lost write', () => {
    expect(lost(written, log('a', null, 'c'))).toEqual([{rule: 'lost-write', value: 'b', offset: 1}])
  })

  test('an acknowledged value behind all that was read is a lost tail', () => {
    expect(lost(written, log('a', 'b'))).toEqual([{rule: 'lost-tail', value: 'c', offset: 2}])
  })

  test('a value in whose place another was read is a lost tail too: nothing later was read', () => {
    expect(lost(written, log('a', 'b', 'x'))).toEqual([{rule: 'lost-tail', value: 'c', offset: 2}])
  })

  test('nothing is lost if all was found, wherever it lies', () => {
    expect(lost(written, log('c', 'x', 'b', 'a'))).toEqual([])
  })

  test('a value of which nobody knows is not lost if it is not there, and neither is one that was refused', () => {
    expect(lost(writes({info: [w('i', 3)], fail: [w('f')]}), log('a'))).toEqual([])
  })

  test('with nothing acknowledged nothing is lost: whether that tells anything is for the claim to say', () => {
    expect(lost(writes({}), [])).toEqual([])
  })

  test('with a reader that found nothing all is lost', () => {
    expect(lost(written, []).map(({rule}) => rule)).toEqual(['lost-tail', 'lost-tail', 'lost-tail'])
  })
})

describe('gone', () => {
  const written = writes({ok: [w('a', 0), w('b', 1)]})

  test('lost, and in no replica’s file', () => {
    expect(gone(written, log('a'), [replica(2, log('a')), replica(3, log('a'))])).toEqual([
      {rule: 'lost-tail', value: 'b', offset: 1},
    ])
  })

  test('not read but on one disk is not gone: the reader did not get it, the log has it', () => {
    expect(gone(written, log('a'), [replica(2, log('a')), replica(3, log('a', 'b'))])).toEqual([])
  })

  test('without a file of the topic nothing can be said', () => {
    expect(() => gone(written, log('a'), [])).toThrow('no segment files of t')
    expect(() => gone(written, log('a'), [replica(2, log('a'), 'other')])).toThrow('no segment files of t')
  })
})

describe('onlyOn', () => {
  const written = writes({ok: [w('b', 1)], info: [w('c', 2)]})
  const dead = [replica(1, log('a', 'b', 'c', 'of another writer'))]

  test('records of these writes, acknowledged or not, that only the dead broker has', () => {
    expect(onlyOn(dead, [replica(2, log('a')), replica(3, log('a'))], written).map(({value}) => value)).toEqual([
      'b',
      'c',
    ])
  })

  test('not those that one survivor has, and not those of other writers', () => {
    expect(onlyOn(dead, [replica(2, log('a')), replica(3, log('a', 'b'))], written).map(({value}) => value)).toEqual([
      'c',
    ])
  })

  test('the dead broker’s own file, read before it returned, does not count among the others’', () => {
    const others = [replica(1, log('a', 'b', 'c')), replica(2, log('a'))]
    expect(onlyOn(dead, others, written).map(({value}) => value)).toEqual(['b', 'c'])
  })

  test('what a reader got serves as well as files', () => {
    expect(onlyOn(dead, log('a', 'b'), written).map(({value}) => value)).toEqual(['c'])
  })

  test('without the dead broker’s file, or anything to compare it with, nothing can be said', () => {
    expect(() => onlyOn([], [replica(2, log('a'))], written)).toThrow('no segment files of t')
    expect(() => onlyOn(dead, [], written)).toThrow('nothing to compare')
    expect(() => onlyOn(dead, [replica(1, log('a'))], written)).toThrow('no segment files of t')
  })
})

describe('duplicates', () => {
  test('a value at two offsets', () => {
    expect(duplicates(log('a', 'b', 'a'))).toEqual([{value: 'a', offsets: [0, 2]}])
  })

  test('not the same offset read twice: that is the reader’s doing', () => {
    expect(duplicates([...log('a', 'b'), ...log('a')])).toEqual([])
  })
})

describe('moved', () => {
  test('an acknowledged value that lies at another offset than the leader said', () => {
    expect(moved(writes({ok: [w('a', 0)]}), log('x', 'a'))).toEqual([{value: 'a', acknowledgedAt: 0, foundAt: 1}])
  })

  test('not a duplicate of which one copy lies there, and not a value without an offset', () => {
    expect(moved(writes({ok: [w('a', 0)]}), log('a', 'a'))).toEqual([])
    expect(moved(writes({ok: [w('a')]}), log('x', 'a'))).toEqual([])
  })
})

describe('divergence', () => {
  test('another value at the same offset of the same topic', () => {
    expect(divergence([replica(1, log('a', 'b')), replica(2, log('a', 'c'))])).toEqual([
      {
        topic: 't',
        offset: 1,
        copies: [
          {nodeId: 1, value: 'b', leaderEpoch: 0},
          {nodeId: 2, value: 'c', leaderEpoch: 0},
        ],
      },
    ])
  })

  test('the same value of another leader epoch', () => {
    const later = log('a', 'b').map(record => ({...record, leaderEpoch: 1}))
    expect(divergence([replica(1, log('a', 'b')), replica(2, later)]).map(({offset}) => offset)).toEqual([0, 1])
  })

  test('not a replica that is merely behind, and not another topic', () => {
    expect(divergence([replica(1, log('a', 'b')), replica(2, log('a'))])).toEqual([])
    expect(divergence([replica(1, log('a')), replica(1, log('b'), 'other')])).toEqual([])
  })
})

describe('unequal', () => {
  const whole = replica(2, log('a', 'b'))

  test('what the reader got and a replica has not, and the other way round', () => {
    expect(unequal([whole, replica(3, log('a'))], log('a', 'b'))).toEqual([{nodeId: 3, offset: 1, kind: 'missing'}])
    expect(unequal([whole, replica(3, log('a', 'b', 'c'))], log('a', 'b'))).toEqual([
      {nodeId: 3, offset: 2, kind: 'extra'},
    ])
  })

  test('another value or another epoch at the same offset', () => {
    expect(unequal([whole, replica(3, log('a', 'x'))], log('a', 'b'))).toEqual([
      {nodeId: 3, offset: 1, kind: 'different'},
    ])
    const later = log('a', 'b').map(record => ({...record, leaderEpoch: 1}))
    expect(unequal([replica(3, later)], log('a', 'b')).map(({kind}) => kind)).toEqual(['different', 'different'])
  })

  test('not if all hold the same, in any order', () => {
    expect(unequal([whole, replica(3, log('a', 'b').reverse())], log('a', 'b'))).toEqual([])
  })

  test('only files of the topic that is meant count; without any, or without saying which, nothing can be said', () => {
    const both = [whole, replica(2, log('z'), 'other')]
    expect(unequal(both, log('a', 'b'), 't')).toEqual([])
    expect(() => unequal(both, log('a', 'b'))).toThrow('files of one topic are needed')
    expect(() => unequal([], log('a', 'b'), 't')).toThrow('no segment files of t')
    expect(() => unequal([], log('a', 'b'))).toThrow('files of one topic are needed')
  })
})

describe('nonmonotonicSends', () => {
  test('a write that began after another’s acknowledgement and got a smaller offset', () => {
    const [earlier, later] = [w('a', 5, 0, 10), w('b', 4, 11, 20)]
    expect(nonmonotonicSends(writes({ok: [later, earlier]}))).toEqual([{earlier, later}])
  })

  test('the same offset twice', () => {
    expect(nonmonotonicSends(writes({ok: [w('a', 5, 0, 10), w('b', 5, 11, 20)]}))).toHaveLength(1)
  })

  test('not writes that overlap: their order is the broker’s', () => {
    expect(nonmonotonicSends(writes({ok: [w('a', 5, 0, 10), w('b', 4, 10, 20)]}))).toEqual([])
  })

  test('the highest acknowledgement so far counts, not only the last', () => {
    const ok = [w('a', 9, 0, 5), w('b', 3, 0, 8), w('c', 6, 9, 12)]
    expect(nonmonotonicSends(writes({ok})).map(({later}) => later.value)).toEqual(['c'])
  })
})

describe('highWatermarkViolations', () => {
  test('a record at the high watermark, which nobody may read yet', () => {
    expect(highWatermarkViolations([[0, 10, 9], [5, 12, 12], [9, 13, 12]])).toEqual([[5, 12, 12]]) // biome-ignore format: one sample beside another
  })

  test('the last record below it is fine', () => {
    expect(highWatermarkViolations([[0, 10, 9]])).toEqual([])
  })
})

describe('availabilityGap', () => {
  const written = writes({
    ok: [w('a', 0, 0, 100), w('b', 1, 100, 150), w('c', 2, 150, 900)],
    info: [w('i', 3, 200, 400)],
  })

  test('the longest span without an acknowledgement; what timed out in between is none', () => {
    expect(availabilityGap(written, 0, 1_000)).toEqual({fromMs: 150, toMs: 900, lengthMs: 750})
  })

  test('the ends of the span count: a writer that never recovers has a gap to the end', () => {
    expect(availabilityGap(written, 0, 5_000)).toEqual({fromMs: 900, toMs: 5_000, lengthMs: 4_100})
    expect(availabilityGap(writes({}), 10, 60)).toEqual({fromMs: 10, toMs: 60, lengthMs: 50})
  })

  test('several writers fill each other’s gaps', () => {
    expect(availabilityGap([written, writes({ok: [w('d', 3, 400, 500)]})], 0, 1_000).lengthMs).toBe(400)
  })
})

describe('foreign', () => {
  const written = writes({ok: [w('a', 0)], info: [w('i')], fail: [w('f')]})

  test('a value nobody wrote', () => {
    expect(foreign(log('a', 'x'), written)).toEqual([{offset: 1, value: 'x', leaderEpoch: 0, rule: 'never-written'}])
  })

  test('a value whose write had surely failed', () => {
    expect(foreign(log('f'), written).map(({rule}) => rule)).toEqual(['resurrected'])
  })

  test('not a value of which nobody knew, and not one that another writer wrote', () => {
    expect(foreign(log('a', 'i'), written)).toEqual([])
    expect(foreign(log('a', 'z'), written, writes({ok: [w('z', 1)]}))).toEqual([])
  })
})

describe('truncated and holdsNone', () => {
  test('what a broker’s file had and no longer has', () => {
    const dead = [replica(1, log('a', 'b', 'c'))]
    expect(truncated(dead, [replica(1, log('a')), replica(2, log('a', 'b'))]).map(({value}) => value)).toEqual([
      'b',
      'c',
    ])
    expect(truncated(dead, [replica(1, log('a', 'b', 'c'))])).toEqual([])
    expect(() => truncated(dead, [replica(2, log('a'))])).toThrow('no segment files of t')
  })

  test('values that are in no file, whatever became of them', () => {
    const refused = writes({fail: [w('f')]})
    expect(holdsNone([replica(1, log('a'))], refused)).toBe(true)
    expect(holdsNone([replica(1, log('a')), replica(2, log('f'))], refused)).toBe(false)
    expect(() => holdsNone([], refused)).toThrow('no segment files of t')
  })
})

test('the same values in any order, given as records or as text', () => {
  expect(same([{value: 'a'}, {value: 'b'}], ['b', 'a'])).toBe(true)
  expect(same([{value: 'a'}], ['a', 'b'])).toBe(false)
  expect(same([{value: 'a'}, {value: 'c'}], ['a', 'b'])).toBe(false)
})

test('files are intact if there are any and all are whole', () => {
  expect(intact([replica(1, [])])).toBe(true)
  expect(intact([])).toBe(false)
  expect(intact([replica(1, []), {...replica(2, []), intact: false}])).toBe(false)
})
