import type { Lease, QueuedLease } from "@delivery/domain/runs/Semaphore"
import { assert } from "vitest"
import { newDeployment, onEachServer, refusal } from "../support/Http.ts"
import { holdersOf, leases, newRun, take, taken } from "./LeasesScene.ts"

/** Leases that lapse, and runs that end, by the clock of the storage: a database has its own, which no test can move. */

onEachServer(
  "Semaphores with short leases over HTTP",
  (test) => {
    test("ends a lease that is not renewed, and grants its slot to a waiting call", async (owner) => {
      const workspace = await newDeployment(owner)
      const holder = await newRun(workspace)
      const held = await taken(holder, "short")
      assert.strictEqual(held.ttlMs, 300)
      const [first, second] = await Promise.all([
        taken(holder, "short", { waitMs: 5_000 }),
        taken(holder, "short", { waitMs: 5_000 })
      ])
      const [earlier, later] = first.fence < second.fence ? [first, second] : [second, first]
      assert.isAtLeast(Date.parse(earlier.since), Date.parse(held.expiresAt))
      assert.isAtLeast(Date.parse(later.since), Date.parse(earlier.expiresAt))
      await holder.refuse("404 lease", "POST", `${leases("short")}/${held.lease}/renew`, {})
      await holder.delete(`${leases("short")}/${held.lease}`)
    })
  },
  { SEMAPHORE_LEASE_MS: "300" }
)

onEachServer(
  "Semaphores of a run that ends soon over HTTP",
  (test) => {
    test("never grants a lease past the end of its token", async (owner) => {
      const workspace = await newDeployment(owner)
      const holder = await newRun(workspace)
      const { expiresAt } = holder.run.semaphores
      const held = await taken(holder, "end")
      assert.strictEqual(held.expiresAt, expiresAt)
      const renewed = await holder.post<Lease>(`${leases("end")}/${held.lease}/renew`, { ttlMs: 300_000 }, 200)
      assert.strictEqual(renewed.expiresAt, expiresAt)
      const place = await take<QueuedLease>(holder, "end", { requestId: "q" })
      assert.strictEqual(place.body.expiresAt, expiresAt)
      assert.strictEqual(refusal(await take(holder, "end", { waitMs: 10_000 })), "409 run_not_running")
      assert.strictEqual(refusal(await take(holder, "end")), "401")
      assert.deepStrictEqual(await holdersOf(workspace, "end"), [])
    })
  },
  { RUN_LIMIT_MS: "4000" }
)
