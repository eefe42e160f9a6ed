import { performance } from "node:perf_hooks"

/** The service did not answer in the time that it has. */
class ServiceHangs extends Error {
  override readonly name = "TimeoutError"

  constructor(millis: number) {
    super(`the service did not answer within ${Math.round(millis / 1_000)} seconds`)
  }
}

/** What `more` may take, in milliseconds. */
const askingMillis = 2_000

/** How long calls of the service may delay the suite, in milliseconds: all calls together. */
export class TimeLimit {
  readonly #millis: number
  readonly #givenUp = new AbortController()
  #spent = 0

  constructor(millis: number) {
    this.#millis = millis
  }

  /** Aborts when nothing is worth waiting for any more. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal
  }

  /** Ends the work, and all that is still to be done, for this reason. */
  giveUp(reason: string): void {
    this.#givenUp.abort(new Error(reason))
  }

  /**
   * Does work that ends when its signal aborts: after `most` milliseconds, or when the limit is used up. `more`, which is asked
   * two seconds before, says how many milliseconds longer there is reason to wait.
   */
  async within<A>(
    work: (signal: AbortSignal) => Promise<A>,
    options: { readonly most?: number; readonly more?: () => Promise<number> } = {}
  ): Promise<A> {
    const limit = Math.min(options.most ?? this.#millis, this.#millis - this.#spent)
    const controller = new AbortController()
    const signal = AbortSignal.any([controller.signal, this.#givenUp.signal])
    const abort = () => controller.abort(new ServiceHangs(this.#millis))
    const begun = performance.now()
    let more = 0
    let isDone = false
    let timer = setTimeout(abort, limit)
    const wait = async () => {
      more = await options.more!().catch(() => 0)
      if (isDone || more <= 0) return
      clearTimeout(timer)
      timer = setTimeout(abort, Math.max(0, begun + limit - performance.now()) + more)
    }
    const asking = options.more && setTimeout(() => void wait(), Math.max(0, limit - askingMillis))
    try {
      this.#givenUp.signal.throwIfAborted()
      return await work(signal)
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      isDone = true
      clearTimeout(timer)
      clearTimeout(asking)
      this.#spent += Math.min(limit, Math.max(0, performance.now() - begun - more))
    }
  }
}
