import {afterEach, beforeEach, expect} from 'vitest'
import {KxError} from '../../../src/util/errors.js'
import {WireError} from '../../../src/wire/errors.js'
import type {Received} from './scripted-broker.js'

export const noTopics = {topics: [], allowAutoTopicCreation: false}

/** What an operation failed with. */
export async function failureOf(promise: Promise<unknown>): Promise<KxError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (outcome instanceof KxError) return outcome
  throw outcome ?? new Error('it did not fail')
}

export async function wireFailureOf(promise: Promise<unknown>): Promise<WireError> {
  const failure = await failureOf(promise)
  if (failure instanceof WireError) return failure
  throw failure
}

export function whenMetadata(act: (received: Received) => void): (received: Received) => void {
  return received => {
    if (received.apiName === 'Metadata') act(received)
  }
}

/** Fails the tests of a file that leave an unhandled rejection or make Node warn (of leaked listeners, for instance). */
export function watchForLeaks(): void {
  const rejections: unknown[] = []
  const warnings: Error[] = []
  const onRejection = (reason: unknown) => void rejections.push(reason)
  const onWarning = (warning: Error) => void warnings.push(warning)

  beforeEach(() => {
    process.on('unhandledRejection', onRejection)
    process.on('warning', onWarning)
  })

  afterEach(async () => {
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', onRejection)
    process.off('warning', onWarning)
    expect(rejections.splice(0)).toEqual([])
    expect(warnings.splice(0)).toEqual([])
  })
}
