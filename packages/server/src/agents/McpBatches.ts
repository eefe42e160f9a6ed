import { Clock, Context, Effect, Semaphore } from "effect"
import { McpSchema } from "effect/ai"

/** What a batch of JSON-RPC may hold and cost (docs/contract.md, MCP). Revision 2025-03-26 alone has batches. */

/** How many messages a batch may have. */
export const maxBatchMessages = 20
/** After so many characters of results, the further calls of a batch are not done. */
export const maxBatchResults = 1024 * 1024

/** A batch that is answered. */
interface Batch {
  /** Held by the call that is done: they are done one after the other. */
  readonly turn: Semaphore.Semaphore
  /** When the time of a request is over, which all calls have together. */
  readonly endsAt: number
  /** Characters of the results so far. */
  results: number
}

/** The batch that the current call is part of; undefined for a call that was sent alone. */
const CurrentBatch = Context.Reference<Batch | undefined>("@delivery/server/agents/McpBatches", {
  defaultValue: () => undefined
})

/** Answers a request whose messages are a batch. */
export const asBatch =
  (limitMillis: number) =>
  <A, E, R>(answer: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.provideService(answer, CurrentBatch, {
        turn: Semaphore.makeUnsafe(1),
        endsAt: now + limitMillis,
        results: 0
      })
    )

/** What a call answers. */
export type Result = McpSchema.CallToolResult | McpSchema.InputRequired

/** How calls of a kind are counted and refused. */
interface Kind<A, E> {
  /** The characters of what a call answers. */
  readonly sizeOf: (answer: A) => number
  /** The answer of a call that is not done, with the reason. */
  readonly refuse: (reason: string) => Effect.Effect<A, E>
}

/** Does a call when the calls before it in its batch are done; at once, if it was sent alone. */
export const inTurnAs = <A, E, R>(
  call: Effect.Effect<A, E, R>,
  { refuse, sizeOf }: Kind<A, E>
): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentBatch, (batch) => {
    if (batch === undefined) return call
    const done = Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<A, E, R> => {
      if (now >= batch.endsAt) return refuse(tooLate)
      if (batch.results >= maxBatchResults) return refuse(tooMuch)
      return Effect.tap(call, (answer) => Effect.sync(() => void (batch.results += sizeOf(answer))))
    })
    return batch.turn.withPermits(1)(done)
  })

/** The same for a call of a tool. */
export const inTurn = <E, R>(call: Effect.Effect<Result, E, R>): Effect.Effect<Result, E, R> =>
  inTurnAs(call, { sizeOf, refuse: (reason) => Effect.succeed(notDone(reason)) })

/** The text of a result; what is structured in it says the same. */
export const sizeOf = (result: Result): number =>
  "content" in result
    ? result.content.reduce((size, content) => size + (content.type === "text" ? content.text.length : 0), 0)
    : 0

/** A call that is refused, for the model to read. */
export const notDone = (text: string): McpSchema.CallToolResult =>
  new McpSchema.CallToolResult({ isError: true, content: [{ type: "text", text }] })

const tooMuch = "TooManyRequests: The results of this batch are too long already. The call was not done; send it alone."

const tooLate = "Internal: The calls before this one in its batch took too long. It was not done."
