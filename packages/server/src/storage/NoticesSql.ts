import { PgClient, PgConnection } from "@effect/sql-pg"
import { Cause, Effect, Layer, Queue, Schedule } from "effect"
import { makeReports } from "../telemetry/Background.ts"
import { noticeChannels } from "./NoticeChannel.ts"
import { type Listeners, makeListeners, Notices } from "./Notices.ts"

/** Notices by `LISTEN` and `NOTIFY` of PostgreSQL. */
export const layer = Layer.effect(
  Notices,
  Effect.gen(function* () {
    const connect = pinnedConnection(yield* PgClient.PgClient)
    const listeners = makeListeners()
    const reports = yield* makeReports("notices", "Could not listen for database notifications. Trying again.")
    let isListening = false

    yield* Effect.gen(function* () {
      const connection = yield* Effect.retry(Effect.tapCause(connect, reports.failed), backoff)
      const queues = yield* Effect.forEach(noticeChannels, (channel) => connection.listen(channel))
      yield* reports.succeeded
      isListening = true
      for (const channel of noticeChannels) for (const { onListening } of listeners.of(channel)) onListening()
      const receiving = queues.map((queue, index) => receive(queue, listeners, index))
      yield* Effect.all([...receiving, keepAsking(connection)], { concurrency: "unbounded", discard: true })
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

/** A connection beside the pool, which may be as small as one. */
const pinnedConnection = (sql: PgClient.PgClient) => {
  const { applicationName, stream, types, url, ...config } = sql.config
  return PgConnection.make({
    ...config,
    ...(applicationName === undefined ? {} : { applicationName }),
    ...(stream === undefined ? {} : { stream }),
    ...(types === undefined ? {} : { types }),
    ...(url === undefined ? {} : { url }),
    multiplex: false,
    keepAlive: "10 seconds"
  }).pipe(
    // Pinned once: otherwise each listener would wait for the others to end.
    Effect.flatMap((connection) => connection.pin)
  )
}

type Connection = Effect.Success<ReturnType<typeof pinnedConnection>>
type NoticeQueue = Effect.Success<ReturnType<Connection["listen"]>>

const receive = (queue: NoticeQueue, listeners: Listeners, index: number) =>
  Effect.forever(
    Effect.map(Queue.takeAll(queue), (notices) => {
      for (const { payload } of notices) listeners.notify(noticeChannels[index]!, payload)
    })
  )

/** Without traffic, a lost connection would go unnoticed. */
const keepAsking = (connection: Connection) =>
  Effect.sleep("10 seconds").pipe(
    Effect.andThen(Effect.timeout(connection.query("select 1"), "30 seconds")),
    Effect.forever
  )

/** Between two attempts to listen: from 0.1 s to 2 s. */
const backoff = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])
