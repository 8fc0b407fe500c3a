import {appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {follow, type FollowNotice, growingFolder} from '../../../src/inspect/follow.js'
import type {LogEnd, LogVisitor} from '../../../src/log/read-log.js'
import {until} from '../../../src/util/until.js'
import {batch} from '../log/diff/replicas.js'

const first = '00000000000000000000.log'

/** A log that is followed while the test writes it. */
class Followed {
  readonly seen: string[] = []
  readonly notices: FollowNotice[] = []
  readonly segments: string[] = []
  readonly #abort = new AbortController()
  enoughAfter = Number.POSITIVE_INFINITY
  ended: Promise<LogEnd> = Promise.reject(new Error('not begun'))

  constructor(readonly folder: string) {
    this.ended.catch(() => {})
  }

  /** Resolves when it has looked a few times, so that it knows where it begins. */
  async begin(from?: {file: string; position: number}): Promise<void> {
    let looks = 0
    const folder = growingFolder(this.folder)
    const counted = {
      ...folder,
      sizeOf: (name: string) => {
        looks++
        return folder.sizeOf(name)
      },
    }
    let record = ''
    const seen = this.seen
    const enough = () => seen.length >= this.enoughAfter
    const visitor: LogVisitor = {
      batch: () => true,
      record: ({offset, value}) => {
        record = `${offset} ${value}`
        seen.push(record)
      },
      get enough() {
        return enough()
      },
    }
    this.ended = follow(counted, visitor, {
      signal: this.#abort.signal,
      everyMs: 5,
      notice: notice => this.notices.push(notice),
      segment: name => this.segments.push(name),
      ...(from && {from}),
    })
    const failed = this.ended.then(
      () => true,
      () => true,
    )
    const looking = until('it to look', () => (looks >= 3 ? true : undefined), {timeoutMs: 10_000, everyMs: 1})
    await Promise.race([looking, failed])
  }

  async sees(...records: string[]): Promise<void> {
    await until(`the records ${records.join(', ')}`, () => (this.seen.length >= records.length ? true : undefined), {
      timeoutMs: 10_000,
      everyMs: 2,
      missing: () => this.seen.join(', '),
    })
    expect(this.seen.splice(0)).toEqual(records)
  }

  async told(kind: FollowNotice['kind']): Promise<FollowNotice> {
    return until(`a notice "${kind}"`, () => this.notices.find(one => one.kind === kind), {
      timeoutMs: 10_000,
      everyMs: 2,
      missing: () => JSON.stringify(this.notices),
    })
  }

  async end(): Promise<LogEnd> {
    this.#abort.abort()
    return this.ended
  }
}

describe('a log that is followed', () => {
  let folder = ''
  let followed: Followed
  const append = (bytes: Buffer, file = first) => appendFileSync(join(folder, file), bytes)
  const v = (from: number, count: number, tag = 'v') =>
    Array.from({length: count}, (_, index) => `${from + index} ${tag}-${from + index}`)

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kx-follow-'))
    append(batch(0, 3))
    followed = new Followed(folder)
  })
  afterEach(async () => {
    await followed.end().catch(() => {})
    rmSync(folder, {recursive: true})
  })

  test('gives only what is appended, as it comes, and ends on the signal without an error', async () => {
    await followed.begin()
    append(batch(3, 2))
    await followed.sees(...v(3, 2))
    append(Buffer.concat([batch(5, 1), batch(6, 2)]))
    await followed.sees(...v(5, 3))
    const end = await followed.end()
    expect(end).toMatchObject({batches: 3, trailingBytes: 0, skippedBytes: 0})
    expect(followed.notices).toEqual([])
    expect(followed.segments).toEqual([first])
  })

  test('begins where it is told to: the end of what was read already', async () => {
    await followed.begin({file: first, position: 0})
    await followed.sees(...v(0, 3))
  })

  test('ends when the visitor has enough', async () => {
    followed.enoughAfter = 2
    await followed.begin({file: first, position: 0})
    expect(await followed.ended).toMatchObject({batches: 1})
    expect(followed.seen).toEqual(v(0, 2))
  })

  test('waits at a batch that is not whole, says so once, and gives it when it is', async () => {
    const bytes = batch(3, 4)
    await followed.begin()
    append(bytes.subarray(0, 9))
    const notice = await followed.told('incomplete')
    expect(notice).toMatchObject({file: first, position: batch(0, 3).length})
    append(bytes.subarray(9, 70))
    append(bytes.subarray(70))
    await followed.sees(...v(3, 4))
    expect(followed.notices).toHaveLength(1)
  })

  test('goes on with the next segment when the log is rolled', async () => {
    await followed.begin()
    append(batch(3, 2))
    const next = '00000000000000000005.log'
    writeFileSync(join(folder, next), batch(5, 1))
    await followed.sees(...v(3, 2), ...v(5, 1))
    expect(followed.notices.map(({kind, file}) => [kind, file])).toEqual([['rolled', next]])
    expect(followed.segments).toEqual([first, next])
    append(batch(6, 1), next)
    await followed.sees(...v(6, 1))
  })

  test('notices that a new leader cut what was there, says which offsets, and gives what came instead', async () => {
    await followed.begin({file: first, position: 0})
    append(batch(3, 2, {tag: 'old'}))
    append(batch(5, 2, {tag: 'old'}))
    await followed.sees(...v(0, 3), ...v(3, 4, 'old'))
    truncateSync(join(folder, first), batch(0, 3).length)
    const notice = await followed.told('truncated')
    expect(notice.text).toContain('offsets 3 to 6 are gone')
    append(batch(3, 1, {tag: 'new', leaderEpoch: 1}))
    await followed.sees(...v(3, 1, 'new'))
  })

  test('notices it also if as many bytes were written again before it looked', async () => {
    await followed.begin({file: first, position: 0})
    append(batch(3, 2, {tag: 'old'}))
    await followed.sees(...v(0, 3), ...v(3, 2, 'old'))
    // In one write, so that no look falls between: the file never is shorter.
    writeFileSync(join(folder, first), Buffer.concat([batch(0, 3), batch(3, 2, {tag: 'new', leaderEpoch: 1})]), {
      flag: 'r+',
    })
    await followed.sees(...v(3, 2, 'new'))
    expect((await followed.told('truncated')).text).toContain('offsets 3 to 4 are gone')
  })

  test('goes back to an earlier segment if the active one was cut away whole', async () => {
    const next = '00000000000000000005.log'
    await followed.begin({file: first, position: 0})
    append(batch(3, 2))
    await followed.sees(...v(0, 5))
    writeFileSync(join(folder, next), batch(5, 2, {tag: 'old'}))
    await followed.sees(...v(5, 2, 'old'))
    truncateSync(join(folder, first), batch(0, 3).length)
    rmSync(join(folder, next))
    await followed.told('truncated')
    append(batch(3, 1, {tag: 'new', leaderEpoch: 1}))
    await followed.sees(...v(3, 1, 'new'))
  })

  test('goes on behind a segment that retention deleted', async () => {
    await followed.begin()
    const next = '00000000000000000003.log'
    writeFileSync(join(folder, next), batch(3, 1))
    await followed.sees(...v(3, 1))
    writeFileSync(join(folder, '00000000000000000004.log'), batch(4, 1))
    rmSync(join(folder, first))
    await followed.sees(...v(4, 1))
  })

  test('looks behind damage for the next batch, and tells it once', async () => {
    await followed.begin()
    append(Buffer.concat([Buffer.alloc(40, 0xff), batch(3, 1)]))
    await followed.sees(...v(3, 1))
    expect(followed.notices.map(({kind}) => kind)).toEqual(['damaged'])
    expect(await followed.end()).toMatchObject({skippedBytes: 40})
  })

  test('says that a file is gone, and goes on when it is there again', async () => {
    await followed.begin()
    rmSync(join(folder, first))
    await followed.told('deleted')
    append(batch(0, 1))
    expect(followed.notices).toHaveLength(1)
  })

  test('has nothing to follow in a folder without a segment', async () => {
    rmSync(join(folder, first))
    await followed.begin()
    await expect(followed.ended).rejects.toMatchObject({code: 'KX_NO_SEGMENT', kind: 'input'})
  })
})
