import { Effect, Layer, Metric } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { observe, observeCounter } from "./Metrics.ts"

/** Milliseconds between two measurements of the event loop. */
const resolution = 10

const lagName = (of: string) => `nodejs_eventloop_lag_${of}seconds`

/** Memory, CPU and event loop of the process, under the names that dashboards for Node.js expect. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const memory = (name: string, description: string, read: (usage: NodeJS.MemoryUsage) => number) =>
      observe(Metric.gauge(name, { description }), () => read(process.memoryUsage()))
    yield* memory("process_resident_memory_bytes", "Memory of the process", ({ rss }) => rss)
    yield* memory("nodejs_heap_size_used_bytes", "JavaScript heap in use", ({ heapUsed }) => heapUsed)
    yield* memory("nodejs_heap_size_total_bytes", "JavaScript heap", ({ heapTotal }) => heapTotal)
    yield* memory("nodejs_external_memory_bytes", "Memory of buffers and the like", ({ external }) => external)
    yield* observeCounter(
      Metric.counter("process_cpu_seconds_total", { description: "CPU time of the process", incremental: true }),
      () => {
        const { system, user } = process.cpuUsage()
        return (system + user) / 1_000_000
      }
    )
    const started = Math.round(performance.timeOrigin) / 1000
    yield* observe(
      Metric.gauge("process_start_time_seconds", { description: "When the process began, as a Unix time" }),
      () => started
    )

    const delays = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const delays = monitorEventLoopDelay({ resolution })
        delays.enable()
        return delays
      }),
      (delays) => Effect.sync(() => void delays.disable())
    )
    // It records the time between two measurements, in nanoseconds.
    const late = (nanos: number) => (Number.isFinite(nanos) ? Math.max(0, nanos / 1e9 - resolution / 1000) : 0)
    const lag = (of: string, description: string, read: () => number) =>
      observe(Metric.gauge(lagName(of), { description }), () => late(read()))
    yield* lag("mean_", "How late the event loop was on average, since the last scrape", () => delays.mean)
    yield* lag("p50_", "How late the event loop was, median since the last scrape", () => delays.percentile(50))
    yield* lag("p99_", "How late the event loop was, 99th percentile since the last scrape", () =>
      delays.percentile(99)
    )
    // Read last, since metrics are exposed in the order in which they were made.
    yield* lag("max_", "How late the event loop was at most, since the last scrape", () => {
      const { max } = delays
      delays.reset()
      return max
    })
  })
)
