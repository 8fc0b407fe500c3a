const maxSequence = 0x7fff_ffff

/**
 * The sequence so much later: it goes round after 2^31 − 1, in int32 also for damaged numbers
 * (org.apache.kafka.common.record.DefaultRecordBatch.incrementSequence).
 */
export function incrementedSequence(sequence: number, increment: number): number {
  const last = (maxSequence - increment) | 0
  return sequence > last ? (increment - (maxSequence - sequence) - 1) | 0 : (sequence + increment) | 0
}
