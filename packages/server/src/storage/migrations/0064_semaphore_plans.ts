import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A connection keeps the plans of the functions' statements. Leases are few when a server starts, so that those plans
 * would read all of them, and many a minute later, when runs take leases: with `enable_seqscan` off the indexes are
 * used from the start.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const name of [
    "semaphore_take",
    "semaphore_look",
    "semaphore_leave",
    "semaphore_renew",
    "semaphore_release",
    "semaphore_settle_places",
    "semaphore_end_runs"
  ]) {
    yield* sql`alter function ${sql(name)} set enable_seqscan = off`
  }
})
