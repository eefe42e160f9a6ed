import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { doc, PathRef, workspacePath, WorkspaceRef } from "../Doc.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { Authorization, Edge } from "../identity/Authorization.ts"
import { RunAuthorization } from "./RunAuthorization.ts"
import { Lease, QueuedLease, RenewLease, SemaphoreList, SemaphoreName, TakeLease } from "./Semaphore.ts"

const path = `${workspacePath}/semaphores` as const
const leases = `${path}/:name/leases` as const
const params = {
  slug: WorkspaceRef,
  name: PathRef.annotate({ description: "The semaphore's name.", examples: ["payment-sandbox"] }),
  lease: PathRef.annotate({ description: "The lease's id.", examples: ["0197a1b2-0000-7000-8000-000000000071"] })
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
      doc("List semaphores", "All of the workspace with the leases held now, by name; idle ones too. Every role.")
    )
  )
  .middleware(Authorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Semaphores",
      description: "Named limits on how many tests use a shared resource at once, across all runs of a workspace."
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
        "Take a lease",
        "Needs the run token. The first lease makes the semaphore and sets its capacity; while a lease is held or queued for, another capacity is 409 `capacity_mismatch`; of an idle semaphore, the next lease sets it anew.\n\nWaiting is first come, first served, and a call that does not wait never passes one that does. With a `requestId`, a call that is granted nothing within `waitMs` (0 too) keeps its place for 30 seconds: repeat it with the same `requestId`. A slot that becomes free between two polls is the first place's at once, handed over by its next poll, and free again if none comes within 30 seconds. Without a `requestId`, such a call is 409 `full` and keeps nothing.\n\nWhile the lease of a `requestId` lives, the same call answers the same lease (200), whatever its body. A run that ends while the call waits: 409 `run_not_running`. A server that stops answers at once, as after `waitMs`: ask again.",
        {
          responses: {
            200: { description: "The lease that an earlier call with this `requestId` took." },
            201: { description: "The lease." },
            202: { description: "A place in the queue, for a call with a `requestId`." },
            409: {
              headers: {
                "Retry-After": {
                  description: "With `full` alone: `retryAfterMs` in whole seconds.",
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
        "Renew a lease",
        "Needs the token of the run or retry that holds it (403). The lease lives `ttlMs` from now, never shorter than before and never past the token's end. The body may be left out. A lease that has ended stays ended (404).",
        { isBodyOptional: true }
      )
    ),
    HttpApiEndpoint.delete("release", `${leases}/:lease`, {
      params,
      success: HttpApiSchema.NoContent.annotate({ description: "Released, now or before." }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      doc(
        "Release a lease",
        "Needs the token of the run or retry that holds it (403). Also gives up a queued place. Of one's own lease that has ended: 204 again."
      )
    )
  )
  .middleware(RunAuthorization)
  .middleware(Edge)
  .annotateMerge(
    OpenApi.annotations({
      title: "Leases",
      description:
        "What the tests of a run hold of semaphores. These calls take the run token (`semaphores.token` of a started run or retry) and no API key. All leases end with their run."
    })
  ) {}
