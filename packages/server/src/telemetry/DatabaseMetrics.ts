import { type Context, Effect, Layer, Option, Tracer } from "effect"
import { Statement } from "effect/sql"
import { Settings } from "../Config.ts"
import * as Metrics from "./Metrics.ts"

/**
 * The use of connections, measured by the spans of the SQL client, since its pool has no metrics. A statement's span
 * begins before the statement asks for a connection, and gets the time that it waited as an attribute. A transaction has
 * its connection once its first statement begins.
 */
export const layer = Layer.effect(
  Tracer.Tracer,
  Effect.gen(function* () {
    const { databasePool } = yield* Settings
    const tracer = yield* Tracer.Tracer
    const context = yield* Effect.context<never>()
    const use: Use = { waiting: 0, statements: 0, transactions: 0 }
    yield* Metrics.observe(Metrics.databasePoolSize, () => databasePool)
    yield* Metrics.observe(Metrics.databaseWaiting, () => use.waiting)
    yield* Metrics.observe(Metrics.databaseStatementsRunning, () => use.statements)
    yield* Metrics.observe(Metrics.databaseTransactionsRunning, () => use.transactions)
    return Tracer.make({
      ...tracer,
      span: (options) => {
        const span = tracer.span(options)
        if (options.kind === "client") watchStatement(span, use, context)
        else if (options.name === transactionName) watchTransaction(span, use, context)
        return span
      }
    })
  })
).pipe(Layer.provideMerge(Layer.succeed(Statement.SpanPropagationEnabled, true)))

interface Use {
  waiting: number
  statements: number
  transactions: number
}

const transactionName = "sql.transaction"

/** Transactions that have a span and no connection yet, and what to do when they have one. */
const opening = new WeakMap<Tracer.AnySpan, () => void>()

const transactionOf = (span: Tracer.Span): Tracer.AnySpan | undefined => {
  for (let parent = Option.getOrUndefined(span.parent); parent?._tag === "Span";) {
    if (parent.name === transactionName) return parent
    parent = Option.getOrUndefined(parent.parent)
  }
  return undefined
}

const watchStatement = (span: Tracer.Span, use: Use, context: Context.Context<never>): void => {
  const { attribute, end } = span
  let state: "unknown" | "waiting" | "running" = "unknown"
  let began = 0
  span.attribute = (key, value) => {
    attribute.call(span, key, value)
    if (state === "unknown" && key === "db.system.name") {
      const transaction = transactionOf(span)
      if (transaction !== undefined) opening.get(transaction)?.()
      state = "waiting"
      use.waiting++
    } else if (state === "waiting" && key === "db.client.connection.wait_time_ms") {
      state = "running"
      began = performance.now()
      use.waiting--
      use.statements++
      // In a transaction there is nothing to wait for.
      if (transactionOf(span) === undefined) {
        Metrics.databaseWaitSeconds.updateUnsafe(Number(value) / 1000, context)
      }
    }
  }
  span.end = (endTime, exit) => {
    end.call(span, endTime, exit)
    if (state === "waiting") use.waiting--
    if (state === "running") {
      use.statements--
      Metrics.databaseStatementSeconds.updateUnsafe((performance.now() - began) / 1000, context)
    }
    state = "unknown"
  }
}

const watchTransaction = (span: Tracer.Span, use: Use, context: Context.Context<never>): void => {
  // One within another is a savepoint on the same connection.
  if (transactionOf(span) !== undefined) return
  const { end } = span
  const began = performance.now()
  let isOpen = false
  use.waiting++
  opening.set(span, () => {
    if (isOpen) return
    isOpen = true
    use.waiting--
    use.transactions++
    Metrics.databaseWaitSeconds.updateUnsafe((performance.now() - began) / 1000, context)
  })
  span.end = (endTime, exit) => {
    end.call(span, endTime, exit)
    opening.delete(span)
    if (isOpen) use.transactions--
    else use.waiting--
  }
}
