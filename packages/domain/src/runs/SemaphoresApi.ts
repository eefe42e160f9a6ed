import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { RunAuthorization } from "./RunAuthorization.ts"
import {
  Lease,
  maxWaitingShown,
  QueuedLease,
  RenewLease,
  SemaphoreList,
  SemaphoreName,
  SemaphoreUsageList,
  TakeLease,
  usageHours
} from "./Semaphore.ts"

const path = `${workspacePath}/semaphores` as const
const leases = `${path}/:name/leases` as const
const params = {
  slug: WorkspaceRef,
  name: PathRef.annotate({ description: "The name of the semaphore.", examples: ["payment-sandbox"] }),
  lease: PathRef.annotate({ description: "The id of the lease.", examples: ["0197a1b2-0000-7000-8000-000000000071"] })
}

const holders = [
  {
    lease: "0197a1b2-0000-7000-8000-000000000070",
    run: 11,
    retry: null,
    test: "checkout › pays by invoice",
    since: "2026-11-21T09:29:58.000Z",
    expiresAt: "2026-11-21T09:30:58.000Z"
  }
]

/** The semaphores of a workspace, for people (docs/contract.md, Semaphores). */
export class SemaphoresApi extends HttpApiGroup.make("semaphores")
  .add(
    HttpApiEndpoint.get("list", path, {
      params: { slug: WorkspaceRef },
      success: SemaphoreList,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "List semaphores",
        `Lists all semaphores of the workspace by name, idle ones included, with the leases that are held now and the first ${maxWaitingShown} places that wait. Any role may call this.`
      )
    ),
    HttpApiEndpoint.get("usage", `${path}/usage`, {
      params: { slug: WorkspaceRef },
      success: SemaphoreUsageList,
      error: NotFound
    }).annotateMerge(
      doc(
        "read",
        "Get the use of semaphores",
        `Tells how much all semaphores of the workspace were used in each of the last ${usageHours} hours, by name: how long leases were held, how long calls waited, and how many got nothing. What is held now counts up to now. Any role may call this.`
      )
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Semaphores",
      description: "Named limits on how many tests use a shared resource at once, across all runs of the workspace."
    })
  ) {}

/** The leases of semaphores, for the tests of a run (docs/contract.md, Semaphores). */
export class LeasesApi extends HttpApiGroup.make("leases")
  .add(
    HttpApiEndpoint.post("take", leases, {
      params: { slug: params.slug, name: SemaphoreName },
      payload: TakeLease,
      success: [Lease.pipe(HttpApiSchema.status(201)), Lease, QueuedLease.pipe(HttpApiSchema.status(202))],
      error: Conflict
    }).annotateMerge(
      doc(
        "publish",
        "Take a lease",
        "Takes a lease of the semaphore. Requires the run token of a running run or retry.\n\n**Capacity.** The first lease creates the semaphore and sets its capacity. While a lease is held or waited for, another capacity is refused (409 `capacity_mismatch`). When the semaphore is idle, the next lease sets the capacity anew.\n\n**Waiting** is first come, first served. A call that does not wait never passes one that does. With a `requestId`, a call that gets no lease within `waitMs` (even 0) keeps its place for 30 seconds (202): repeat it with the same `requestId`. A slot that becomes free between two calls is reserved for the first place, for 30 seconds. Without a `requestId` the call is refused (409 `full`) and keeps no place.\n\n**Repeating.** While the lease of a `requestId` lives, the same call returns the same lease (200), whatever its body.\n\nReturns 409 `run_not_running` if the run ends while the call waits. A server that is stopping answers at once, as if `waitMs` were over: call again.",
        {
          responses: {
            200: { description: "The lease that an earlier call with this `requestId` has taken." },
            201: { description: "A new lease." },
            202: { description: "A place in the queue. Repeat the call with the same `requestId`." },
            409: {
              headers: {
                "Retry-After": {
                  description: "Only with `full`: `retryAfterMs` in whole seconds.",
                  required: false,
                  schema: { type: "integer", minimum: 1 },
                  example: 5
                } as OpenApi.OpenAPISpecHeader
              }
            }
          },
          conflicts: {
            full: { message: "All 3 leases of the semaphore are held.", capacity: 3, holders, retryAfterMs: 5_000 },
            capacity_mismatch: {
              message: "The semaphore is used with a capacity of 3.",
              capacity: 3,
              holders,
              retryAfterMs: 5_000
            },
            run_not_running: {
              message: "The run is no longer running.",
              capacity: 3,
              holders,
              retryAfterMs: 5_000
            }
          }
        }
      )
    ),
    HttpApiEndpoint.post("renew", `${leases}/:lease/renew`, {
      params,
      payload: [RenewLease, Schema.Null],
      success: Lease,
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "publish",
        "Renew a lease",
        "Extends the lease to `ttlMs` from now, never to less than it had, and never beyond the end of the run token. The body may be left out. Returns 404 if the lease has ended: an ended lease cannot be revived. Requires the token of the run or retry that holds the lease (403 `not_holder`).",
        { isBodyOptional: true }
      )
    ),
    HttpApiEndpoint.delete("release", `${leases}/:lease`, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "The lease is released." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "publish",
        "Release a lease",
        "Releases the lease, or gives up a place in the queue. Releasing a lease of yours that has ended is 204 too. Requires the token of the run or retry that holds the lease (403 `not_holder`)."
      )
    )
  )
  .middleware(RunAuthorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Leases",
      description:
        "Leases let the tests of a run use a shared resource. These calls require the run token (`semaphores.token` in the response to starting a run or retry); API keys are rejected. All leases end with their run."
    })
  ) {}
