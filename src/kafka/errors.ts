/**
 * Kafka's error codes (org.apache.kafka.common.protocol.Errors): name, and what an answer with it says about a write.
 * `append`: `yes` it was appended, `no` it surely was not and never will be, `unknown` nobody can tell from the answer.
 * Jepsen calls the last one *info*: a deposed leader may have appended before it answered NOT_LEADER_OR_FOLLOWER
 * (KAFKA-13574), and REQUEST_TIMED_OUT even carries the offset of a record that was appended.
 */
export interface KafkaError {
  readonly code: number
  readonly name: string
  readonly append: 'yes' | 'no' | 'unknown'
}

const refused = 'no' as const
const unknown = 'unknown' as const

const table: readonly (readonly [code: number, name: string, append: KafkaError['append']])[] = [
  [-1, 'UNKNOWN_SERVER_ERROR', unknown],
  [0, 'NONE', 'yes'],
  [1, 'OFFSET_OUT_OF_RANGE', unknown],
  [2, 'CORRUPT_MESSAGE', refused],
  [3, 'UNKNOWN_TOPIC_OR_PARTITION', refused],
  [4, 'INVALID_FETCH_SIZE', unknown],
  [5, 'LEADER_NOT_AVAILABLE', unknown],
  [6, 'NOT_LEADER_OR_FOLLOWER', unknown],
  [7, 'REQUEST_TIMED_OUT', unknown],
  [8, 'BROKER_NOT_AVAILABLE', unknown],
  [9, 'REPLICA_NOT_AVAILABLE', unknown],
  [10, 'MESSAGE_TOO_LARGE', refused],
  [13, 'NETWORK_EXCEPTION', unknown],
  [14, 'COORDINATOR_LOAD_IN_PROGRESS', unknown],
  [15, 'COORDINATOR_NOT_AVAILABLE', unknown],
  [16, 'NOT_COORDINATOR', unknown],
  [17, 'INVALID_TOPIC_EXCEPTION', refused],
  [18, 'RECORD_LIST_TOO_LARGE', refused],
  [19, 'NOT_ENOUGH_REPLICAS', refused],
  [20, 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', unknown],
  [21, 'INVALID_REQUIRED_ACKS', refused],
  [29, 'TOPIC_AUTHORIZATION_FAILED', refused],
  [31, 'CLUSTER_AUTHORIZATION_FAILED', refused],
  [32, 'INVALID_TIMESTAMP', refused],
  [35, 'UNSUPPORTED_VERSION', refused],
  [36, 'TOPIC_ALREADY_EXISTS', unknown],
  [37, 'INVALID_PARTITIONS', unknown],
  [38, 'INVALID_REPLICATION_FACTOR', unknown],
  [39, 'INVALID_REPLICA_ASSIGNMENT', unknown],
  [40, 'INVALID_CONFIG', unknown],
  [41, 'NOT_CONTROLLER', unknown],
  [42, 'INVALID_REQUEST', refused],
  [43, 'UNSUPPORTED_FOR_MESSAGE_FORMAT', refused],
  [44, 'POLICY_VIOLATION', unknown],
  [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER', refused],
  [46, 'DUPLICATE_SEQUENCE_NUMBER', unknown],
  [47, 'INVALID_PRODUCER_EPOCH', refused],
  [48, 'INVALID_TXN_STATE', refused],
  [56, 'KAFKA_STORAGE_ERROR', unknown],
  [59, 'UNKNOWN_PRODUCER_ID', refused],
  [60, 'REASSIGNMENT_IN_PROGRESS', unknown],
  [67, 'INVALID_TXN_TIMEOUT', refused],
  [72, 'LISTENER_NOT_FOUND', unknown],
  [74, 'FENCED_LEADER_EPOCH', unknown],
  [75, 'UNKNOWN_LEADER_EPOCH', unknown],
  [76, 'UNSUPPORTED_COMPRESSION_TYPE', refused],
  [78, 'OFFSET_NOT_AVAILABLE', unknown],
  [80, 'PREFERRED_LEADER_NOT_AVAILABLE', unknown],
  [83, 'ELIGIBLE_LEADERS_NOT_AVAILABLE', unknown],
  [84, 'ELECTION_NOT_NEEDED', unknown],
  [85, 'NO_REASSIGNMENT_IN_PROGRESS', unknown],
  [87, 'INVALID_RECORD', refused],
  [89, 'THROTTLING_QUOTA_EXCEEDED', unknown],
  [90, 'PRODUCER_FENCED', refused],
  [100, 'UNKNOWN_TOPIC_ID', refused],
]

const byCode = new Map(table.map(([code, name, append]) => [code, {code, name, append}]))

/** The entry of a code. A code that kx does not know is `unknown`, never a guess. */
export function kafkaError(code: number): KafkaError {
  return byCode.get(code) ?? {code, name: `ERROR_${code}`, append: 'unknown'}
}
