import {describe, expect, test} from 'vitest'
import {bufferSource} from '../../../../src/log/byte-source.js'
import {textFileData, textFileLines} from '../../../../src/log/files/file-text.js'
import {parseMetaProperties, parsePartitionMetadata} from '../../../../src/log/files/metadata-files.js'
import {parseFileName} from '../../../../src/log/files/names.js'
import {parseCleanShutdown, parseQuorumState} from '../../../../src/log/files/state-files.js'
import {parseTextFile, readTextFile, textFindings} from '../../../../src/log/files/text-files.js'

const codesOf = ({problems}: {readonly problems: readonly {readonly code: string}[]}) => problems.map(({code}) => code)

describe('partition.metadata', () => {
  test('gives the topic id; it has no last line end', () => {
    const file = parsePartitionMetadata(Buffer.from('version: 0\ntopic_id: R29sZEZpeHR1cmVDbHVzdQ'))
    expect(file).toEqual({kind: 'partition-metadata', version: 0, topicId: 'R29sZEZpeHR1cmVDbHVzdQ', problems: []})
  })

  test.each([
    ['', ['line-missing', 'line-missing']],
    ['version: 0', ['line-missing']],
    ['version: 1\ntopic_id: R29sZEZpeHR1cmVDbHVzdQ', ['version-unknown']],
    ['version: x\ntopic_id: R29sZEZpeHR1cmVDbHVzdQ', ['version-unknown']],
    ['topic_id: R29sZEZpeHR1cmVDbHVzdQ\nversion: 0', ['line-unreadable', 'line-unreadable']],
    ['version:0\ntopic_id: R29sZEZpeHR1cmVDbHVzdQ', ['line-unreadable']],
    ['version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA', ['topic-id-unreadable']],
    ['version: 0\ntopic_id: short', ['topic-id-unreadable']],
    ['version: 0\ntopic_id: R29sZEZpeHR1cmVDbHVzdR', ['topic-id-unreadable']],
    ['version: 0\ntopic_id: R29sZEZpeHR1cmVDbHVzdQ\nmore\n', ['leftover-lines']],
  ])('%j has the problems %j', (text, codes) => {
    expect(codesOf(parsePartitionMetadata(Buffer.from(text)))).toEqual(codes)
  })
})

describe('meta.properties', () => {
  const of = (text: string) => parseMetaProperties(Buffer.from(text, 'latin1'))

  test('of version 1 gives cluster, node and folder', () => {
    const text = `#
#Sun Nov 29 17:51:04 UTC 2026
node.id=1
directory.id=sdDi8ynQXhD0V7OR_VrfXw
version=1
cluster.id=R29sZEZpeHR1cmVDbHVzdQ
`
    expect(of(text)).toMatchObject({
      version: 1,
      nodeId: 1,
      clusterId: 'R29sZEZpeHR1cmVDbHVzdQ',
      directoryId: 'sdDi8ynQXhD0V7OR_VrfXw',
      comments: ['', 'Sun Nov 29 17:51:04 UTC 2026'],
      problems: [],
    })
  })

  test('of version 0 has a broker.id, or nothing at all; without a version it is 0', () => {
    expect(of('version=0\nbroker.id=7\n')).toMatchObject({version: 0, nodeId: 7, clusterId: undefined, problems: []})
    expect(of('broker.id=7\n')).toMatchObject({version: 0, nodeId: 7, problems: []})
    expect(of('')).toMatchObject({version: 0, nodeId: undefined, problems: []})
  })

  test.each([
    ['version=1\n', ['node-id-missing', 'cluster-id-missing']],
    ['version=2\nnode.id=1\ncluster.id=x\n', ['version-unknown']],
    ['version=1\nnode.id=one\ncluster.id=x\n', ['node-id-unreadable']],
    ['version=1\nnode.id=1\ncluster.id=x\ndirectory.id=y\n', ['directory-id-unreadable']],
    ['version=1\nnode.id=1\ncluster.id=x\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ\n', ['directory-id-unreadable']],
    ['version=1\nnode.id=1\nnode.id=2\ncluster.id=x\n', ['property-twice']],
    ['version=1\nnode.id=1\ncluster.id=\\u12\n', ['property-escape']],
    ['version=1\nnode.id=1\ncluster.id=x', ['unfinished-line']],
  ])('%j has the problems %j', (text, codes) => {
    expect(codesOf(of(text))).toEqual(codes)
  })

  test('is read by the rules of Java’s properties', () => {
    const text =
      '! a comment\n  cluster.id : R29sZEZpeHR1cmVDbHVzdQ\nnode.id 1\nversion=\\\n   1\n\nkey\\ with\\:odd\\=signs = \\u00e9\\t\\\\x\\q\nempty\nlatin=\u00e9\n'
    const file = of(text)
    expect(file).toMatchObject({version: 1, nodeId: 1, clusterId: 'R29sZEZpeHR1cmVDbHVzdQ', problems: []})
    expect(file.properties.slice(3)).toEqual([
      {key: 'key with:odd=signs', value: 'é\t\\xq'},
      {key: 'empty', value: ''},
      {key: 'latin', value: 'é'},
    ])
  })

  test('of nothing but continued lines takes no time', () => {
    expect(of('\\\n'.repeat(32_768)).properties).toHaveLength(1)
  })
})

describe('quorum-state', () => {
  const of = (text: string) => parseQuorumState(Buffer.from(text))

  test('of version 0 has voters, of version 1 the folder that was voted for', () => {
    expect(
      of(
        '{"clusterId":"","leaderId":1,"leaderEpoch":2,"votedId":-1,"appliedOffset":9007199254740993,"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}',
      ),
    ).toMatchObject({
      version: 0,
      leaderId: 1,
      leaderEpoch: 2,
      votedId: -1,
      appliedOffset: 9_007_199_254_740_993n,
      voterIds: [1, 2],
      problems: [],
    })
    expect(
      of('{"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'),
    ).toMatchObject({version: 1, leaderEpoch: 3, votedDirectoryId: 'AAAAAAAAAAAAAAAAAAAAAA', others: [], problems: []})
  })

  test.each([
    ['', ['file-empty']],
    ['{', ['json-unreadable']],
    ['[]', ['json-unreadable']],
    ['{"leaderId":1,"leaderEpoch":3,"votedId":-1}', ['field-unreadable']],
    ['{"leaderId":1,"leaderEpoch":3,"votedId":-1,"data_version":2}', ['version-unknown']],
    ['{"leaderId":"x","leaderEpoch":3,"votedId":-1,"votedDirectoryId":"A","data_version":1}', ['field-unreadable']],
    ['{"leaderId":1.5,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"A","data_version":1}', ['field-unreadable']],
    [
      '{"leaderId":4294967296,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"A","data_version":1}',
      ['field-unreadable'],
    ],
    ['{"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"A","data_version":1}\nmore', ['leftover-lines']],
    [
      '{"clusterId":"","leaderId":1,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":[7],"data_version":0}',
      ['field-unreadable'],
    ],
    [
      '{"clusterId":"","leaderId":1,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":null,"data_version":0}',
      [],
    ],
  ])('%j has the problems %j', (text, codes) => {
    expect(codesOf(of(text))).toEqual(codes)
  })

  test('keeps fields that are not known', () => {
    expect(
      of(
        '{"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"A","extra":{"n":[12345678901234567890,1.5,"a 1"]},"data_version":1}',
      ).others,
    ).toEqual([{name: 'extra', json: '{"n":[12345678901234567890,1.5,"a 1"]}'}])
  })
})

describe('.kafka_cleanshutdown', () => {
  test('gives the broker epoch exactly', () => {
    expect(parseCleanShutdown(Buffer.from('{"version":0,"brokerEpoch":9223372036854775807}'))).toEqual({
      kind: 'clean-shutdown',
      version: 0,
      brokerEpoch: 2n ** 63n - 1n,
      problems: [],
    })
  })

  test('of older brokers is empty, and normal', () => {
    expect(parseCleanShutdown(Buffer.alloc(0)).problems.map(({severity}) => severity)).toEqual(['info'])
  })

  test.each([
    ['{', ['json-unreadable']],
    ['{"version":0}', ['field-unreadable']],
    ['{"version":0,"brokerEpoch":9223372036854775808}', ['field-unreadable']],
    ['{"version":0,"brokerEpoch":"1129"}', ['field-unreadable']],
    ['{"version":7,"brokerEpoch":1}', []],
  ])('%j has the problems %j', (text, codes) => {
    expect(codesOf(parseCleanShutdown(Buffer.from(text)))).toEqual(codes)
  })
})

describe('text files', () => {
  test('have lines for people', () => {
    const lines = (name: string, text: string) => {
      const parsed = parseFileName(name)
      return textFileLines(parseTextFile(parsed.role as 'lock', Buffer.from(text)), parsed)
    }
    expect(lines('leader-epoch-checkpoint', '0\n2\n0 0\n3 28\n')).toEqual([
      'version: 0 epochs: 2',
      'epoch: 0 startOffset: 0',
      'epoch: 3 startOffset: 28',
    ])
    expect(lines('replication-offset-checkpoint', '0\n2\nplain 0 800\nbad\n')).toEqual([
      'version: 0 partitions: 1 offsets: high watermarks',
      'topic: plain partition: 0 offset: 800',
      'line 4 is no entry: "bad"',
    ])
    expect(lines('partition.metadata', 'version: 0\ntopic_id: R29sZEZpeHR1cmVDbHVzdQ')).toEqual([
      'version: 0 topicId: R29sZEZpeHR1cmVDbHVzdQ',
    ])
    expect(lines('meta.properties', '#\n#Sun Nov 29\nnode.id=1\nversion=1\ncluster.id=a\\u001b[2J\n')).toEqual([
      'node.id: 1',
      'version: 1',
      'cluster.id: "a\\u001b[2J"',
      'written: Sun Nov 29',
    ])
    expect(
      lines('quorum-state', '{"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"A","data_version":1}'),
    ).toEqual(['version: 1 leaderId: 1 leaderEpoch: 3 votedId: -1 votedDirectoryId: A'])
    expect(lines('.kafka_cleanshutdown', '{"version":0,"brokerEpoch":1129}')).toEqual([
      'the broker stopped in order; version: 0 brokerEpoch: 1129',
    ])
    expect(lines('.lock', '')).toHaveLength(1)
  })

  test('are plain data for JSON, without their problems', () => {
    expect(textFileData(parseTextFile('leader-epoch-checkpoint', Buffer.from('0\n1\n7 9\n')))).toEqual({
      kind: 'leader-epoch-checkpoint',
      version: 0,
      statedCount: 1,
      entries: [{epoch: 7, startOffset: 9n}],
      badLines: [],
    })
  })

  test('have findings that name the file', () => {
    expect(textFindings(parseTextFile('leader-epoch-checkpoint', Buffer.from('0\n2\n7 9\n')), 'd/x')).toEqual([
      {
        code: 'count-wrong',
        severity: 'error',
        file: 'd/x',
        position: 2,
        explanation: 'line 2 says 2 entries, and there is 1 line of them',
        consequence: 'Kafka refuses the file',
      },
    ])
  })

  test('of any size are read in bounded memory', async () => {
    const asked: number[] = []
    const huge = {
      size: 2 ** 40,
      read: async (position: number, length: number) => {
        asked.push(position + length)
        return Buffer.alloc(length, '1 2\n')
      },
    }
    expect(codesOf(await readTextFile('quorum-state', huge))).toContain('too-long')
    expect(codesOf(await readTextFile('offset-checkpoint', huge))).toContain('too-long')
    expect(Math.max(...asked)).toBeLessThanOrEqual(16_777_216)
    expect(codesOf(await readTextFile('lock', bufferSource(Buffer.from('1'))))).toEqual(['lock-not-empty'])
  })
})
