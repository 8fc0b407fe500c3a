/** Where `-o kafka` deliberately prints something else than Kafka's own dump tool. */
export interface Difference {
  /** What the tool does. */
  readonly original: string
  readonly kx: string
  readonly reason: string
  /** The lines of Kafka whose tool does it. */
  readonly lines: '4.0, 4.2' | '4.4' | 'all'
}

/**
 * The one table of deliberate differences: everything that is not in it is the same, byte for byte. The golden tests name
 * the entry by which a recorded run differs; each entry is either used there or has a test of its own.
 */
export const differences = {
  'first-gap': {
    original: 'reports `-1 is followed by N` for every log whose first record does not have the offset 0',
    kx: 'looks for gaps between records only',
    reason: 'a segment begins where the one before ended: nothing is missing',
    lines: '4.4',
  },
  'lost-findings': {
    original: 'keeps of several gaps or index mismatches with the same first number only the last',
    kx: 'reports all',
    reason: 'a finding that hides another one hides damage',
    lines: '4.4',
  },
  'phantom-entry': {
    original:
      'takes the first zeros of a preallocated index without entries for one: `offset: N position: 0`, `timestamp: 0 offset: N`, mostly with a mismatch',
    kx: 'prints no entry: `… is empty.` for an offset index, nothing for a time index',
    reason: 'it is the normal state of an active segment',
    lines: 'all',
  },
  'sanity-of-preallocated': {
    original: 'the sanity check of a time index whose preallocated space was not trimmed ends with an exception',
    kx: 'passes it, if its entries do',
    reason: 'it is the normal state of the active segment of a broker that runs or was killed',
    lines: 'all',
  },
  'failed-sanity-check': {
    original: 'an index that fails the sanity check ends the run with an exception',
    kx: 'tells the finding and goes on with the other files',
    reason: 'the other files and the report would be lost',
    lines: 'all',
  },
  'follower-entries': {
    original:
      'reports a mismatch for entries of followers before KAFKA-806: position of the first batch of an append, last offset of its last one',
    kx: 'accepts them',
    reason: 'lookups work with them: they are legal',
    lines: 'all',
  },
  'empty-batch-in-time-index': {
    original:
      'reports a timestamp mismatch (log timestamp -1) for an entry that names a batch whose records compaction has removed',
    kx: 'compares nothing there',
    reason: 'the batch is kept on purpose, and its records are gone',
    lines: 'all',
  },
  'index-position': {
    original:
      'an offset index entry whose position is negative, beyond the end, or not the beginning of a batch ends the run with an exception, or reads garbage',
    kx: 'prints all entries, reports `Index offset: N, log offset: -1`, and tells the finding',
    reason: 'this is what the check is for',
    lines: 'all',
  },
  'large-batch': {
    original: 'a batch above --max-message-size (5 MiB) ends the check of the offset index with an exception',
    kx: 'checks entries of batches of any size',
    reason: 'the index is right',
    lines: 'all',
  },
  'missing-log': {
    original: 'an index without its log beside it ends the run with an exception',
    kx: 'prints the entries and says that they were not checked',
    reason: 'the entries can be read',
    lines: 'all',
  },
  'missing-index': {
    original:
      'a time index without the offset index beside it: an empty offset index is made on the disk, then an exception',
    kx: 'checks the time index against the log; changes nothing on the disk',
    reason: 'reading must not write, and the offset index is not needed',
    lines: 'all',
  },
  'impossible-size': {
    original:
      'a length below 14, as in a zero-filled tail, ends the run with an exception; another one that is too small for a batch or a message is taken at its word: a line of garbage',
    kx: 'tells the damage and goes on behind it; `Found n invalid bytes at the end` if nothing follows',
    reason: 'what is behind can be read',
    lines: 'all',
  },
  resynchronisation: {
    original: 'takes a wrong length at its word, and shows nothing of what is behind it, or garbage',
    kx: 'looks for the next whole batch with a right CRC, goes on there, and tells the bytes between',
    reason: 'one damaged length would hide all later batches',
    lines: 'all',
  },
  'unknown-magic': {
    original: 'takes magic 3 and above for 2, and ends with an exception at a negative one, in the middle of a line',
    kx: 'does not interpret such a batch, tells it, and goes on behind it',
    reason: 'nobody knows what its fields mean',
    lines: 'all',
  },
  'unknown-codec': {
    original: 'codec 5, 6 or 7 ends the run in the middle of the line',
    kx: 'prints the line with `compresscodec: unknown`, tells the finding, and goes on',
    reason: 'the other batches can be read',
    lines: 'all',
  },
  'unreadable-records': {
    original: 'a batch whose records can not be uncompressed or parsed ends the run with an exception',
    kx: 'prints the records before the damage, tells the finding, and goes on with the next batch',
    reason: 'the other batches, files and the report would be lost',
    lines: 'all',
  },
  'control-key': {
    original: 'a control record without a key, or with a damaged key or value, ends the run in the middle of the line',
    kx: 'finishes the line with the reason and goes on',
    reason: 'the other records can be read',
    lines: 'all',
  },
  'keyless-record': {
    original: 'a record without a key ends the run in the middle of the line, with the decoders of coordinator topics',
    kx: 'finishes the line with the reason and goes on',
    reason: 'the other records can be read',
    lines: 'all',
  },
  'name-without-offset': {
    original:
      'a name that does not begin with an offset (`abc.log`, the tiered storage cache, `x.checkpoint`) ends the run with an exception',
    kx: 'dumps the file; the offset in the header line is `unknown`, or what the name of the cache says',
    reason: 'the content can be read whatever its name',
    lines: 'all',
  },
  'name-without-dot': {
    original: 'a name without a dot ends the run with an exception',
    kx: 'says `Ignoring unknown file` and goes on, as Kafka 4.4 does',
    reason: 'the other files would be lost',
    lines: '4.0, 4.2',
  },
  'index-version': {
    original: 'a transaction index entry of another version than 0 ends the run with an exception',
    kx: 'prints the entry with its version and tells the finding',
    reason: 'the other entries can be read',
    lines: '4.4',
  },
  'large-files': {
    original: 'refuses files above 2147483647 bytes',
    kx: 'reads files of any size',
    reason: 'they can be read',
    lines: 'all',
  },
  'linear-check': {
    original: 'checks a time index in a time that grows with the square of its size (minutes for a segment of 256 MB)',
    kx: 'reads the log once',
    reason: 'the result is the same',
    lines: 'all',
  },
  'exit-status': {
    original: 'exits with 0 whatever it finds, and with 1 when it breaks down',
    kx: 'exits with 1 if there are findings, 2 for a wrong command line, 5 for a file that can not be read',
    reason: 'scripts need it',
    lines: 'all',
  },
  'double-text': {
    original:
      'on a Java before 19, some numbers with a fraction or above 10^7 (values of quotas) with more digits than needed: 8.41E21 as `8.409999999999999E21`',
    kx: 'prints the shortest text that is the same number, as the tool does on Java 19 and later',
    reason: 'the tool prints either, depending on the Java that runs it',
    lines: 'all',
  },
  'field-formats': {
    original: 'decoder classes for keys and values; one that gets data of another length ends the run',
    kx: '--key-format and --value-format; what does not fit is shown as text, with the reason',
    reason: 'no class path is needed, and the other records can be read',
    lines: 'all',
  },
} as const satisfies Readonly<Record<string, Difference>>

export type DifferenceId = keyof typeof differences
