import { Effect, Layer, Metric, type Scope } from "effect"
import { version } from "../Config.ts"

/**
 * The metrics that `/metrics` answers (docs/operations.md). Metrics are Effect's: they cost a look-up in a map when they
 * change, and are exposed only with `METRICS=true`.
 */

/** Seconds: from one statement to the longest wait for a lease. */
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const counter = (name: string, description: string, attributes?: Metric.Metric.AttributeSet) =>
  Metric.counter(name, { description, incremental: true, attributes })

const gauge = (name: string, description: string, attributes?: Metric.Metric.AttributeSet) =>
  Metric.gauge(name, { description, attributes })

const histogram = (name: string, description: string, attributes?: Metric.Metric.AttributeSet) =>
  Metric.histogram(name, { description, boundaries: seconds, attributes })

export const buildInfo = gauge("delivery_build_info", "1, with what the process is", {
  version,
  node: process.version
})

/** Requests that were answered, by endpoint (`group.endpoint`) and status. */
export const httpRequests = (endpoint: string, status: string) =>
  counter("delivery_http_requests_total", "Requests that were answered", { endpoint, status })

/** Seconds from a request's head until its answer was ready to be sent. */
export const httpRequestSeconds = (endpoint: string) =>
  histogram("delivery_http_request_duration_seconds", "Time until the answer was ready to be sent", { endpoint })

export const httpRequestsInFlight = gauge("delivery_http_requests_in_flight", "Requests that are being answered")

export const httpRequestsWaiting = gauge("delivery_http_requests_waiting", "Requests that wait for their turn")

export const httpRequestsOverdue = counter(
  "delivery_http_requests_overdue_total",
  "Requests that were ended since they took too long"
)

export const databasePoolSize = gauge("delivery_database_pool_size", "Connections that the pool may open")

export const databaseWaiting = gauge(
  "delivery_database_waiting",
  "Statements and transactions that wait for a connection"
)

export const databaseStatementsRunning = gauge(
  "delivery_database_statements_running",
  "Statements that have a connection and no answer"
)

export const databaseTransactionsRunning = gauge(
  "delivery_database_transactions_running",
  "Transactions that hold a connection"
)

export const databaseWaitSeconds = histogram(
  "delivery_database_wait_seconds",
  "Time that statements and transactions waited for a connection"
)

export const databaseStatementSeconds = histogram(
  "delivery_database_statement_seconds",
  "Time from having a connection to the answer of the statement"
)

export const runsExpired = counter("delivery_test_runs_expired_total", "Runs that were ended as overdue", {
  kind: "run"
})

export const retriesExpired = counter("delivery_test_runs_expired_total", "Runs that were ended as overdue", {
  kind: "retry"
})

export const runsErased = counter("delivery_test_runs_erased_total", "Runs that were erased")

export const filesErased = counter("delivery_test_run_files_erased_total", "Files that were erased before their runs")

export const leasesGranted = counter("delivery_semaphore_leases_granted_total", "Leases that were handed over")

export const leasesReleased = counter(
  "delivery_semaphore_leases_released_total",
  "Leases and places that were given back by a call"
)

export const eventStreams = gauge("delivery_event_streams", "Streams of events that are open at this process")

export const messageWaiters = gauge("delivery_message_waiters", "Calls that wait for a message at this process")

export const releaseWaiters = gauge(
  "delivery_release_waiters",
  "Changes of deployments that wait for locked runs at this process"
)

export const webhooksServed = gauge("delivery_webhooks_served", "Webhooks that this process sends events to")

/** Of the whole database: every process reports the same. */
export const webhookLag = gauge(
  "delivery_webhook_lag_seconds",
  "Age of the oldest event that an active webhook is yet to be sent, in the whole database"
)

export const webhookTries = (outcome: "delivered" | "failed") =>
  counter("delivery_webhook_tries_total", "Requests to the addresses of webhooks", { outcome })

export const webhooksParked = counter("delivery_webhooks_parked_total", "Webhooks that were given up")

export const mcpSessions = gauge("delivery_mcp_sessions", "Sessions of MCP at this process")

export const semaphoreWaiters = gauge("delivery_semaphore_waiters", "Calls that wait for a lease at this process")

/** Of the whole database: every process reports the same. */
export const semaphoreLeases = (state: "held" | "queued") =>
  gauge("delivery_semaphore_leases", "Leases that are held and places in queues, in the whole database", { state })

/** Proofs of who somebody is that did not work. */
export const signInsFailed = (method: string) =>
  counter("delivery_sign_ins_failed_total", "Proofs at signing in that did not work", { method })

export const uploadedBytes = counter("delivery_uploaded_bytes_total", "Bytes of files that were stored")

export const uploadsRunning = gauge("delivery_uploads_running", "Files that are being uploaded")

export const keyUsesUnwritten = gauge("delivery_api_key_uses_unwritten", "API keys whose last use is yet to be written")

/** Work that the server does by itself, such as ending overdue runs. */
export const backgroundFailures = (task: string) =>
  counter("delivery_background_failures_total", "Failed rounds of the work that the server does by itself", { task })

const counters = [
  runsExpired,
  retriesExpired,
  leasesGranted,
  leasesReleased,
  uploadedBytes,
  webhooksParked,
  webhookTries("delivered"),
  webhookTries("failed"),
  ...["link", "mail", "passkey", "oidc", "github"].map((method) => signInsFailed(method))
]

/** Reports a number as it is at the time of a scrape, until the scope closes. */
export const observe = (gauge: Metric.Gauge<number>, read: () => number): Effect.Effect<void, never, Scope.Scope> =>
  register(gauge, () => ({ value: read() }))

/** As `observe`, for a number that only rises. */
export const observeCounter = (
  counter: Metric.Counter<number>,
  read: () => number
): Effect.Effect<void, never, Scope.Scope> => register(counter, () => ({ count: read(), incremental: true }))

const register = <State>(metric: Metric.Metric<number, State>, get: () => State) =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.map(Effect.context<never>(), (context) =>
        Metric.registerUnsafe(metric, context, { get, update: () => {}, modify: () => {} })
      ),
      (registration) => Effect.sync(() => registration.remove())
    )
  )

/** A registry of this server's own, since a process may run several. Counters begin at 0, so that a first change shows. */
export const layer = Layer.effectDiscard(
  Effect.forEach(counters, (counter) => Metric.update(counter, 0), { discard: true })
).pipe(Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map())))
