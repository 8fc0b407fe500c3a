import type {FindingKind} from './codes.js'

const refused = 'Kafka refuses the file.'
const onLoad = 'The broker refuses the file when it loads the partition.'
const dropped = 'Kafka drops the entries before it that are not below it in epoch and offset.'
const refusedFolder = 'The broker refuses the folder.'
const noStart = 'The node does not start.'

/** What checkpoints, properties and the other text files can have. */
export const textFileCodes = {
  'not-utf8': {severity: 'error', meaning: 'A text file is not UTF-8.', kafka: refused},
  'too-long': {severity: 'error', meaning: 'A text file has more bytes than its kind can need: the rest was not read.'},
  'too-many-lines': {severity: 'warning', meaning: 'A text file has more lines than kx reads.'},
  'carriage-returns': {
    severity: 'info',
    meaning: 'Lines of a text file end in a carriage return: another program than Kafka has written it.',
    kafka: 'Kafka reads it all the same.',
  },
  'unfinished-line': {
    severity: 'warning',
    meaning: 'The last line of a text file has no end: it was cut, or another program than Kafka has written it.',
    kafka: 'Kafka takes the line as it stands.',
  },
  'line-unreadable': {severity: 'error', meaning: 'A line of a text file is not what it should be.', kafka: refused},
  'line-missing': {severity: 'error', meaning: 'A line of a text file is missing.', kafka: refused},
  'leftover-lines': {
    severity: 'warning',
    meaning: 'A text file has more lines than Kafka reads.',
    kafka: 'They are ignored.',
  },
  'file-empty': {severity: 'error', meaning: 'A file that should have content is empty.', kafka: noStart},
  'version-unreadable': {severity: 'error', meaning: 'The version of a text file is no number.', kafka: refused},
  'version-unknown': {severity: 'error', meaning: 'A text file has a version that is not known.', kafka: refused},
  'count-unreadable': {severity: 'error', meaning: 'The number of entries of a checkpoint is none.', kafka: refused},
  'count-wrong': {severity: 'error', meaning: 'A checkpoint has not as many entries as it says.', kafka: refused},
  'partition-twice': {
    severity: 'warning',
    meaning: 'A checkpoint names a partition twice.',
    kafka: 'Kafka takes the later line.',
  },
  'partition-negative': {severity: 'warning', meaning: 'A checkpoint names a negative partition.'},
  'checkpoint-offset-negative': {
    severity: 'warning',
    meaning: 'A checkpoint has a negative offset; in `leader-epoch-checkpoint` it is an error.',
    kafka: `Of \`leader-epoch-checkpoint\`: ${onLoad[0]?.toLowerCase()}${onLoad.slice(1)}`,
  },
  'checkpoint-offset-falls': {
    severity: 'error',
    meaning: 'Start offsets of `leader-epoch-checkpoint` fall.',
    kafka: dropped,
  },
  'checkpoint-offset-repeats': {
    severity: 'warning',
    meaning: 'Two epochs of `leader-epoch-checkpoint` begin at the same offset.',
    kafka: dropped,
  },
  'checkpoint-epoch-negative': {
    severity: 'error',
    meaning: 'An epoch of `leader-epoch-checkpoint` is negative.',
    kafka: onLoad,
  },
  'checkpoint-epoch-falls': {
    severity: 'error',
    meaning: 'Epochs of `leader-epoch-checkpoint` fall.',
    kafka: dropped,
  },
  'checkpoint-epoch-repeats': {
    severity: 'error',
    meaning: 'An epoch is in `leader-epoch-checkpoint` twice.',
    kafka: dropped,
  },
  'topic-id-unreadable': {
    severity: 'error',
    meaning: 'The topic id in `partition.metadata` is none, or the zero id.',
    kafka: refused,
  },
  'property-twice': {severity: 'warning', meaning: 'A property is set twice.', kafka: 'The last one counts.'},
  'property-escape': {
    severity: 'error',
    meaning: 'A \\u in a file of properties is not followed by four hexadecimal digits.',
    kafka: refused,
  },
  'node-id-missing': {severity: 'error', meaning: 'The node id is missing in `meta.properties`.', kafka: refusedFolder},
  'node-id-unreadable': {
    severity: 'error',
    meaning: 'The node id in `meta.properties` is no number.',
    kafka: refusedFolder,
  },
  'cluster-id-missing': {
    severity: 'error',
    meaning: 'The cluster id is missing in `meta.properties`.',
    kafka: refusedFolder,
  },
  'directory-id-unreadable': {
    severity: 'error',
    meaning: 'The directory id in `meta.properties` is none, or a reserved one.',
    kafka: refusedFolder,
  },
  'json-unreadable': {severity: 'error', meaning: 'A file that should be a JSON object is none.', kafka: noStart},
  'field-unreadable': {
    severity: 'error',
    meaning: 'A field of a JSON file is missing, or of another type.',
    kafka: noStart,
  },
  'lock-not-empty': {severity: 'info', meaning: 'A `.lock` file has content; Kafka writes none.'},
} as const satisfies Readonly<Record<string, FindingKind>>
