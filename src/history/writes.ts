import {kafkaError} from '../kafka/errors.js'
import type {Operation, Outcome, Writes, Written} from './operation.js'

/**
 * What an answer says of a write: Kafka's error code, or anything else (a broken connection, a time-out, no answer at
 * all as with acks=0), of which nobody knows. Source: the `append` column of `src/kafka/errors.ts`.
 */
export function outcomeOf(answer: unknown): Outcome {
  if (typeof answer !== 'number') return 'info'
  const {append} = kafkaError(answer)
  return append === 'yes' ? 'ok' : append === 'no' ? 'fail' : 'info'
}

/**
 * The attempts of each value, taken together: ok if any attempt was, fail only if all surely failed, else info. So a
 * retry that is refused after an attempt of which nobody knows (45, OUT_OF_ORDER_SEQUENCE_NUMBER, when the first had been
 * appended and forgotten) leaves the value info. Values come in the order of their first attempts.
 */
export function gather(operations: readonly Operation[], {topic, acks}: Pick<Writes, 'topic' | 'acks'>): Writes {
  const attempts = new Map<string, Operation[]>()
  for (const each of operations) {
    if (each.operation !== 'write' || each.topic !== topic) continue
    const before = attempts.get(each.value)
    if (before) before.push(each)
    else attempts.set(each.value, [each])
  }
  const result: Record<Outcome, Written[]> = {ok: [], fail: [], info: []}
  for (const [value, tries] of attempts) {
    const outcome = together(tries)
    result[outcome].push(written(value, outcome, tries))
  }
  return {topic, acks, ...result}
}

function together(tries: readonly Operation[]): Outcome {
  if (tries.some(each => each.outcome === 'ok')) return 'ok'
  return tries.every(each => each.outcome === 'fail') ? 'fail' : 'info'
}

/**
 * An acknowledged value ends with its first acknowledgement, any other with its last attempt. REQUEST_TIMED_OUT carries
 * the offset at which the value was appended: it stays, for it tells where the value would be.
 */
function written(value: string, outcome: Outcome, tries: readonly Operation[]): Written {
  const byEnd = [...tries].sort((a, b) => a.endMs - b.endMs)
  const ok = byEnd.find(each => each.outcome === 'ok')
  const decisive =
    ok ?? byEnd.findLast(each => each.outcome === outcome && each.errorCode !== undefined) ?? byEnd.at(-1)
  const offset = ok ? ok.offset : byEnd.findLast(each => each.offset !== undefined)?.offset
  return {
    value,
    ...(offset === undefined ? {} : {offset}),
    startMs: Math.min(...tries.map(each => each.startMs)),
    endMs: ok?.endMs ?? Math.max(...tries.map(each => each.endMs)),
    ...(ok || decisive?.errorCode === undefined ? {} : {errorCode: decisive.errorCode}),
    ...(ok || decisive?.error === undefined ? {} : {error: decisive.error}),
    ...(tries.length === 1 ? {} : {attempts: tries.length}),
  }
}
