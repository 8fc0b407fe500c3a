/**
 * Lets something that pushes be pulled: `run` hands over what it has and stands still until it is asked to go on. So
 * the logs of several replicas are read side by side, and of each only what is being looked at is in memory.
 */
export class Turns {
  #goOn: (() => void) | undefined
  #arrived: (() => void) | undefined
  #started = false
  #ended = false
  #closing = false
  #error: unknown

  constructor(private readonly run: (turns: Turns) => Promise<unknown>) {}

  /** For the pushing side: nothing more is wanted. */
  get closing(): boolean {
    return this.#closing
  }

  /** For the pushing side: something is there. Resolves when it was taken. */
  handOver(): Promise<void> {
    const taken = new Promise<void>(resolve => {
      this.#goOn = resolve
    })
    this.#arrived?.()
    return taken
  }

  /** For the pulling side: whether there is something more. @throws what the pushing side threw */
  async next(): Promise<boolean> {
    if (this.#ended) return false
    const arrival = new Promise<void>(resolve => {
      this.#arrived = resolve
    })
    if (this.#started) this.#goOn?.()
    else {
      this.#started = true
      this.run(this).then(
        () => this.#end(undefined),
        (error: unknown) => this.#end(error ?? new Error('failed without a reason')),
      )
    }
    await arrival
    if (this.#error !== undefined) throw this.#error
    return !this.#ended
  }

  /** For the pulling side, in the middle: the pushing side is let go to its end. */
  async close(): Promise<void> {
    this.#closing = true
    while (this.#started && !this.#ended) await this.next()
  }

  #end(error: unknown): void {
    this.#error = error
    this.#ended = true
    this.#arrived?.()
  }
}
