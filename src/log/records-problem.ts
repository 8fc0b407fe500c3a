/** Why not all records of a batch could be read, or what is wrong with their number. */
export interface RecordsProblem {
  /**
   * `miscounted`: all of them can be read, and their number is not the one that the header says; `count`: a number below 0;
   * `leftover`: bytes behind the last record; `too-large`: more plain bytes than were allowed; `unreadable`: anything else.
   */
  readonly kind: 'miscounted' | 'count' | 'leftover' | 'too-large' | 'unreadable'
  /** Without a full stop. */
  readonly reason: string
}

export function unreadable(reason: string): RecordsProblem {
  return {kind: 'unreadable', reason}
}

/** What is found where the header counts less than what is there. @param there Records; 0: what is there is anything else */
export function behindTheLast(recordsCount: number, bytesLeft: number, there: number): RecordsProblem {
  if (there > 0) {
    const all = Math.max(0, recordsCount) + there
    return {kind: 'miscounted', reason: `the header says ${recordsCount} records, and ${all} are there`}
  }
  if (recordsCount < 0) return {kind: 'count', reason: `record count ${recordsCount}`}
  return {kind: 'leftover', reason: `${bytesLeft} bytes behind the last of ${recordsCount} records`}
}
