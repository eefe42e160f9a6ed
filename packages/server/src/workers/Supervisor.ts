import { Clock, Data, Deferred, Duration, Effect, Layer, Metric, Schedule } from "effect"
import cluster, { type Worker } from "node:cluster"
import { Settings } from "../Config.ts"
import { observe, observeCounter } from "../telemetry/Metrics.ts"
import type { ProcessSnapshot } from "../telemetry/Siblings.ts"
import * as ProcessMetrics from "../telemetry/ProcessMetrics.ts"
import { printsStartVariable, type ToSupervisor, type ToWorker, workerVariable } from "./Messages.ts"
import { passOnUnacceptedConnections } from "./UnacceptedConnections.ts"

/**
 * Several processes behind one port. On every platform, Node's cluster accepts connections in this process and hands them
 * in turn to workers that are free. So a few long-lived connections are spread evenly, where the kernel (`SO_REUSEPORT`)
 * may give most of them to one process, and connections that no worker has taken yet survive the end of a worker.
 */

/** No worker could start. The message is empty where the first worker has already reported the reason. */
export class NoWorkerStarted extends Data.TaggedError("NoWorkerStarted")<{ readonly message: string }> {}

/** One of the workers. Its process is replaced when it ends. */
class Place {
  readonly number: number
  process: Worker | undefined
  isReady = false
  restarts = 0
  constructor(number: number) {
    this.number = number
  }
}

/** How a process ended. */
interface Ending {
  readonly pid: number | undefined
  readonly code: number | null
  readonly signal: string | null
}

/** Milliseconds before a worker is started again; doubled each time that one ends within `settled` of its start. */
const firstPause = 100
const longestPause = 30_000
const settled = 10_000

/** Longer than a worker takes: 10 s to finish what runs, and 2 s for its spans. */
const stopTimeout = Duration.seconds(15)

/** How long a scrape waits for the workers. */
const scrapePatience = Duration.seconds(2)

/** Runs the workers until it is interrupted; then each finishes its requests and ends. */
export const supervise = Effect.gen(function* () {
  const { metrics, workers } = yield* Settings
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ args: ["serve"], serialization: "advanced" })
  const places = Array.from({ length: workers }, (_, index) => new Place(index + 1))
  const answerScrape = metrics ? yield* makeScrapes(places) : undefined

  /** Starts a worker. The result completes when its process has ended. */
  const start = Effect.fnUntraced(function* (place: Place, onReady?: Effect.Effect<unknown>) {
    const run = Effect.runForkWith(yield* Effect.context())
    const ended = yield* Deferred.make<Ending>()
    const printsStart = onReady === undefined ? "0" : "1"
    const worker = cluster.fork({ [workerVariable]: String(place.number), [printsStartVariable]: printsStart })
    passOnUnacceptedConnections(worker)
    place.process = worker
    place.isReady = false
    worker.on("message", (message: ToSupervisor) => {
      if (message.kind === "ready") {
        place.isReady = true
        run(Effect.logInfo(`Worker ${place.number} (process ${worker.process.pid}) is ready.`))
        if (onReady !== undefined) run(onReady)
      } else answerScrape?.(place, message)
    })
    // Sending to a worker that ends fails.
    worker.on("error", () => {})
    worker.once("exit", (code: number | null, signal: string | null) => {
      place.process = undefined
      place.isReady = false
      Deferred.doneUnsafe(ended, Effect.succeed({ pid: worker.process.pid, code, signal }))
    })
    return ended
  })

  /** Starts a worker again whenever its process has ended. */
  const keep = Effect.fnUntraced(function* (place: Place, ending: Deferred.Deferred<Ending>) {
    let pause = firstPause
    let startedAt = yield* Clock.currentTimeMillis
    while (true) {
      const { code, pid, signal } = yield* Deferred.await(ending)
      const now = yield* Clock.currentTimeMillis
      if (now - startedAt >= settled) pause = firstPause
      place.restarts++
      yield* Effect.logWarning(
        `Worker ${place.number} (process ${pid}) exited ${signal === null ? `with code ${code}` : `on ${signal}`}; ` +
          `it restarts in ${pause / 1000} s.`
      )
      yield* Effect.sleep(pause)
      pause = Math.min(longestPause, pause * 2)
      startedAt = yield* Clock.currentTimeMillis
      ending = yield* start(place)
    }
  })

  // Runs after the fibers that start workers again have been interrupted.
  yield* Effect.addFinalizer(() => Effect.forEach(places, stop, { concurrency: "unbounded", discard: true }))

  // The first one starts alone, so that an error that stops all of them is reported once. It runs the migrations and
  // creates the first workspace.
  const [first, ...others] = places
  const firstReady = yield* Deferred.make<void>()
  const firstEnded = yield* start(first!, Deferred.succeed(firstReady, undefined))
  yield* Effect.raceFirst(
    Deferred.await(firstReady),
    Effect.flatMap(Deferred.await(firstEnded), ({ code, signal }) =>
      Effect.fail(
        new NoWorkerStarted({
          message:
            code === 1
              ? ""
              : `The first worker exited ${signal === null ? `with code ${code}` : `on ${signal}`} before it was ready.`
        })
      )
    )
  )
  yield* Effect.forkScoped(keep(first!, firstEnded))
  for (const place of others) {
    yield* Effect.forkScoped(Effect.flatMap(start(place), (ended) => keep(place, ended)))
  }
  return yield* Effect.never
}).pipe(Effect.scoped)

/** Asks a worker to finish, and waits until it has ended. */
const stop = (place: Place): Effect.Effect<void> => {
  const signal = (name: NodeJS.Signals) => Effect.sync(() => void place.process?.process.kill(name))
  const isGone = Effect.sync(() => place.process === undefined)
  const exited = Effect.repeat(isGone, { schedule: Schedule.spaced("10 millis"), until: (is) => is })
  return signal("SIGTERM").pipe(
    Effect.andThen(Effect.timeoutOption(exited, stopTimeout)),
    Effect.andThen(signal("SIGKILL"))
  )
}

/** Answers the scrapes of workers with the metrics of all processes, including this one. */
const makeScrapes = Effect.fnUntraced(function* (places: ReadonlyArray<Place>) {
  const context = yield* Layer.build(layerSupervisorMetrics(places))
  const scrapes = new Map<
    number,
    { readonly collected: Array<ProcessSnapshot>; readonly missing: Set<Place>; readonly done: () => void }
  >()
  let lastId = 0
  const send = (place: Place, message: ToWorker) => {
    if (place.process?.isConnected() === true) place.process.send(message, () => {})
  }

  return (asker: Place, message: ToSupervisor): void => {
    if (message.kind === "snapshot") {
      const scrape = scrapes.get(message.id)
      if (scrape === undefined || !scrape.missing.delete(asker)) return
      scrape.collected.push({ labels: { worker: String(asker.number) }, snapshot: message.snapshot })
      if (scrape.missing.size === 0) scrape.done()
    } else if (message.kind === "scrape") {
      const id = ++lastId
      const ready = places.filter((place) => place.isReady)
      const collected: Array<ProcessSnapshot> = []
      const timer = setTimeout(() => done(), Duration.toMillis(scrapePatience))
      const done = () => {
        clearTimeout(timer)
        scrapes.delete(id)
        const own = { labels: { worker: "supervisor" }, snapshot: Metric.snapshotUnsafe(context) }
        const processes = [
          ...collected.toSorted((a, b) => Number(a.labels["worker"]) - Number(b.labels["worker"])),
          own
        ]
        send(asker, { kind: "processes", id: message.id, processes })
      }
      scrapes.set(id, { collected, missing: new Set(ready), done })
      for (const place of ready) send(place, { kind: "collect", id })
    }
  }
})

const layerSupervisorMetrics = (places: ReadonlyArray<Place>) =>
  Layer.effectDiscard(
    Effect.forEach(
      places,
      (place) => {
        const attributes = { worker: String(place.number) }
        return Effect.andThen(
          observe(Metric.gauge("delivery_worker_up", { description: "1 where the worker answers", attributes }), () =>
            place.isReady ? 1 : 0
          ),
          observeCounter(
            Metric.counter("delivery_worker_restarts_total", {
              description: "How often the worker was started again",
              attributes,
              incremental: true
            }),
            () => place.restarts
          )
        )
      },
      { discard: true }
    )
  ).pipe(Layer.merge(ProcessMetrics.layer), Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map())))
