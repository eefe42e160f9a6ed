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
  #spent = 0

  constructor(millis: number) {
    this.#millis = millis
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
      return await work(controller.signal)
    } catch (error) {
      throw controller.signal.aborted ? controller.signal.reason : error
    } finally {
      isDone = true
      clearTimeout(timer)
      clearTimeout(asking)
      this.#spent += Math.min(limit, Math.max(0, performance.now() - begun - more))
    }
  }
}
