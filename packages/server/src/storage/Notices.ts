import { PgClient, PgConnection } from "@effect/sql-pg"
import { Cause, Context, Effect, Layer, Queue, Schedule, type Scope } from "effect"
import { makeReports } from "../telemetry/Background.ts"
import { MemoryStorage } from "./MemoryStorage.ts"

/**
 * What servers tell each other: which places of semaphores no longer wait, whose inbox has a new message, and what
 * agents may have lost access.
 */
export type NoticeChannel = "semaphores" | "messages" | "agents"

const channels: ReadonlyArray<NoticeChannel> = ["semaphores", "messages", "agents"]

export interface NoticeListener {
  readonly onNotice: (payload: string) => void
  /** Whenever listening begins, also after it broke off: what happened before was not heard. */
  readonly onListening: () => void
}

/** Notices of what was committed, by whichever server. */
export class Notices extends Context.Service<
  Notices,
  {
    /** Calls back until the scope closes. */
    readonly listen: (channel: NoticeChannel, listener: NoticeListener) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@delivery/server/storage/Notices") {
  static readonly layerSql = Layer.effect(
    Notices,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const listeners = makeListeners()
      let isListening = false

      // A connection of its own: the pool may be as small as one.
      const { applicationName, stream, types, url, ...config } = sql.config
      const connect = PgConnection.make({
        ...config,
        ...(applicationName === undefined ? {} : { applicationName }),
        ...(stream === undefined ? {} : { stream }),
        ...(types === undefined ? {} : { types }),
        ...(url === undefined ? {} : { url }),
        multiplex: false,
        keepAlive: "10 seconds"
      }).pipe(
        // Pinned once: each listener by itself would wait for the others to end.
        Effect.flatMap((connection) => connection.pin)
      )
      const reports = yield* makeReports("notices", "Listening to the database is not possible.")

      yield* Effect.gen(function* () {
        const connection = yield* Effect.retry(Effect.tapCause(connect, reports.failed), backoff)
        const queues = yield* Effect.forEach(channels, (channel) => connection.listen(channel))
        yield* reports.succeeded
        isListening = true
        for (const channel of channels) for (const { onListening } of listeners.of(channel)) onListening()
        const hear = queues.map((queue, i) =>
          Effect.forever(
            Effect.map(Queue.takeAll(queue), (notices) => {
              for (const { payload } of notices) listeners.tell(channels[i]!, payload)
            })
          )
        )
        // Where nothing is to be heard, nothing tells that the connection is gone.
        const ask = Effect.sleep("10 seconds").pipe(
          Effect.andThen(Effect.timeout(connection.query("select 1"), "30 seconds")),
          Effect.forever
        )
        yield* Effect.all([...hear, ask], { concurrency: "unbounded", discard: true })
      }).pipe(
        Effect.scoped,
        Effect.catch((error) => reports.failed(Cause.fail(error))),
        Effect.ensuring(
          Effect.sync(() => {
            isListening = false
          })
        ),
        Effect.forever,
        Effect.forkScoped
      )

      return Notices.of({
        listen: (channel, listener) =>
          Effect.andThen(
            listeners.add(channel, listener),
            Effect.sync(() => {
              if (isListening) listener.onListening()
            })
          )
      })
    })
  )

  static readonly layerMemory = Layer.effect(
    Notices,
    Effect.gen(function* () {
      const memory = yield* MemoryStorage
      const listeners = makeListeners()
      yield* memory.listen(({ channel, payload }) => listeners.tell(channel, payload))
      return Notices.of({
        listen: (channel, listener) =>
          Effect.andThen(
            listeners.add(channel, listener),
            Effect.sync(() => listener.onListening())
          )
      })
    })
  )
}

const makeListeners = () => {
  const all = new Map<NoticeChannel, Set<NoticeListener>>(channels.map((channel) => [channel, new Set()]))
  const of = (channel: NoticeChannel): ReadonlySet<NoticeListener> => all.get(channel)!
  return {
    of,
    tell: (channel: NoticeChannel, payload: string) => {
      for (const { onNotice } of of(channel)) onNotice(payload)
    },
    add: (channel: NoticeChannel, listener: NoticeListener) =>
      Effect.acquireRelease(
        Effect.sync(() => void all.get(channel)!.add(listener)),
        () => Effect.sync(() => void all.get(channel)!.delete(listener))
      )
  }
}

/** Between two tries to listen: from 0.1 s to 2 s. */
const backoff = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])
