import { Clock, Data, Deferred, Duration, Effect, Layer, Metric, Schedule } from "effect"
import cluster, { type Worker } from "node:cluster"
import { Settings } from "../Config.ts"
import { observe, observeCounter } from "../telemetry/Metrics.ts"
import type { ProcessSnapshot } from "../telemetry/Siblings.ts"
import { layerProcessMetrics } from "../telemetry/ProcessMetrics.ts"
import { greetsVariable, type ToSupervisor, type ToWorker, workerVariable } from "./Messages.ts"
import { passOnUntakenConnections } from "./UntakenConnections.ts"

/**
 * Several processes behind one port. Node's cluster accepts connections here and hands them in turn to workers that are
 * free, on every platform: connections that are few and kept open are spread, where the kernel (`SO_REUSEPORT`) may give
 * most of them to one process, and those that nobody has taken yet outlive a worker.
 */

/** No worker could start. The first one has said why, unless there is a message. */
export class NoWorkerStarted extends Data.TaggedError("NoWorkerStarted")<{ readonly message: string }> {}

/** One of the workers, whichever process it is at the moment. */
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

/** The pause before a worker is started again; doubled each time that one ends within `settled` of its start. */
const firstPause = 100
const longestPause = 30_000
const settled = 10_000

/** Longer than a worker takes: 10 s to finish what runs, and 2 s for its spans. */
const patience = Duration.seconds(15)

/** How long a scrape waits for the workers. */
const scrapePatience = Duration.seconds(2)

/** Runs the workers until it is interrupted; then each finishes what it does. */
export const supervise = Effect.gen(function* () {
  const { metrics, workers } = yield* Settings
  cluster.schedulingPolicy = cluster.SCHED_RR
  cluster.setupPrimary({ args: ["serve"], serialization: "advanced" })
  const places = Array.from({ length: workers }, (_, index) => new Place(index + 1))
  const answerScrape = metrics ? yield* makeScrapes(places) : undefined

  /** Starts a worker. Answers how its process ends, once it has. */
  const start = Effect.fnUntraced(function* (place: Place, onReady?: Effect.Effect<unknown>) {
    const run = Effect.runForkWith(yield* Effect.context())
    const ended = yield* Deferred.make<Ending>()
    const greets = onReady === undefined ? "0" : "1"
    const worker = cluster.fork({ [workerVariable]: String(place.number), [greetsVariable]: greets })
    passOnUntakenConnections(worker)
    place.process = worker
    place.isReady = false
    worker.on("message", (message: ToSupervisor) => {
      if (message.kind === "ready") {
        place.isReady = true
        run(Effect.logInfo(`Worker ${place.number} (process ${worker.process.pid}) answers.`))
        if (onReady !== undefined) run(onReady)
      } else answerScrape?.(place, message)
    })
    // A worker that ends while it is spoken to.
    worker.on("error", () => {})
    worker.once("exit", (code: number | null, signal: string | null) => {
      place.process = undefined
      place.isReady = false
      Deferred.doneUnsafe(ended, Effect.succeed({ pid: worker.process.pid, code, signal }))
    })
    return ended
  })

  /** Keeps a worker running, from how its process ended on. */
  const keep = Effect.fnUntraced(function* (place: Place, ending: Deferred.Deferred<Ending>) {
    let pause = firstPause
    let startedAt = yield* Clock.currentTimeMillis
    while (true) {
      const { code, pid, signal } = yield* Deferred.await(ending)
      const now = yield* Clock.currentTimeMillis
      if (now - startedAt >= settled) pause = firstPause
      place.restarts++
      yield* Effect.logWarning(
        `Worker ${place.number} (process ${pid}) ended by ${signal ?? `itself with ${code}`}; ` +
          `another begins in ${pause / 1000} s.`
      )
      yield* Effect.sleep(pause)
      pause = Math.min(longestPause, pause * 2)
      startedAt = yield* Clock.currentTimeMillis
      ending = yield* start(place)
    }
  })

  // Before it come the fibers that would start others.
  yield* Effect.addFinalizer(() => Effect.forEach(places, stop, { concurrency: "unbounded", discard: true }))

  // The first one alone, so that what stops all of them is told once. It migrates and makes the first workspace.
  const [first, ...others] = places
  const firstReady = yield* Deferred.make<void>()
  const firstEnded = yield* start(first!, Deferred.succeed(firstReady, undefined))
  yield* Effect.raceFirst(
    Deferred.await(firstReady),
    Effect.flatMap(Deferred.await(firstEnded), ({ code, signal }) =>
      Effect.fail(
        new NoWorkerStarted({
          message: code === 1 ? "" : `The first worker ended by ${signal ?? `itself with ${code}`} before it was ready.`
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

/** Tells a worker to finish, and waits until it has. */
const stop = (place: Place): Effect.Effect<void> => {
  const signal = (name: NodeJS.Signals) => Effect.sync(() => void place.process?.process.kill(name))
  const isGone = Effect.sync(() => place.process === undefined)
  const gone = Effect.repeat(isGone, { schedule: Schedule.spaced("10 millis"), until: (is) => is })
  return signal("SIGTERM").pipe(Effect.andThen(Effect.timeoutOption(gone, patience)), Effect.andThen(signal("SIGKILL")))
}

/** Answers the scrapes that workers were asked for with what all processes tell, this one too. */
const makeScrapes = Effect.fnUntraced(function* (places: ReadonlyArray<Place>) {
  const context = yield* Layer.build(layerSupervisorMetrics(places))
  const scrapes = new Map<
    number,
    { readonly told: Array<ProcessSnapshot>; readonly missing: Set<Place>; readonly done: () => void }
  >()
  let lastId = 0
  const say = (place: Place, message: ToWorker) => {
    if (place.process?.isConnected() === true) place.process.send(message, () => {})
  }

  return (asker: Place, message: ToSupervisor): void => {
    if (message.kind === "told") {
      const scrape = scrapes.get(message.id)
      if (scrape === undefined || !scrape.missing.delete(asker)) return
      scrape.told.push({ labels: { worker: String(asker.number) }, snapshot: message.snapshot })
      if (scrape.missing.size === 0) scrape.done()
    } else if (message.kind === "ask") {
      const id = ++lastId
      const ready = places.filter((place) => place.isReady)
      const told: Array<ProcessSnapshot> = []
      const timer = setTimeout(() => done(), Duration.toMillis(scrapePatience))
      const done = () => {
        clearTimeout(timer)
        scrapes.delete(id)
        const own = { labels: { worker: "supervisor" }, snapshot: Metric.snapshotUnsafe(context) }
        const processes = [...told.toSorted((a, b) => Number(a.labels["worker"]) - Number(b.labels["worker"])), own]
        say(asker, { kind: "answer", id: message.id, processes })
      }
      scrapes.set(id, { told, missing: new Set(ready), done })
      for (const place of ready) say(place, { kind: "tell", id })
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
  ).pipe(Layer.merge(layerProcessMetrics), Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map())))
