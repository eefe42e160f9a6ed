import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import * as Schemas from "./Schemas.ts"
import {
  ApiError,
  bearer,
  conflict,
  hashToken,
  notFound,
  query,
  unauthorized,
  uuid,
  withError,
  workspace
} from "./Server.ts"
import * as Statements from "./Statements.ts"

interface Owner {
  readonly workspaceId: string
  readonly runId: string
  readonly run: number
  readonly retry: number | null
  readonly expiresAt: Date
}
const owner = async (request: FastifyRequest): Promise<Owner> => {
  const { slug } = request.params as { slug: string }
  const [found] = await query<Owner>(Statements.authenticateRun, [hashToken(bearer(request, "stk_")), slug])
  if (found === undefined) throw unauthorized
  return found
}
const owners = new WeakMap<FastifyRequest, Owner>()
const authenticateRun = async (request: FastifyRequest) => void owners.set(request, await owner(request))

/** One flush of the log serves all who ask before it begins. */
let flushing: Promise<unknown> = Promise.resolve()
let next: Promise<unknown> | undefined
const flushed = (): Promise<unknown> =>
  (next ??= flushing.then(() => {
    next = undefined
    return (flushing = query(Statements.flush, []))
  }))

const leases = `${workspace}/semaphores/:name/leases`
interface TakenJson {
  readonly outcome: string
  readonly since: string
  readonly expiresAt: string
}

export const semaphores = async (app: FastifyInstance) => {
  app.post(
    leases,
    { onRequest: authenticateRun, schema: { body: Schemas.takeLease, response: withError({ 201: Schemas.lease }) } },
    async (request, reply) => {
      const { name } = request.params as { name: string }
      const { capacity, ttlMs } = request.body as { capacity: number; ttlMs?: number }
      const by = owners.get(request)!
      const [row] = await query<{ json: TakenJson }>(Statements.takeLease, [
        uuid(),
        by.workspaceId,
        name,
        capacity,
        by.runId,
        by.run,
        by.retry,
        by.expiresAt,
        ttlMs ?? 60_000
      ])
      const taken = row!.json
      if (taken.outcome !== "held") throw conflict(taken.outcome, "All leases of the semaphore are held or waited for.")
      await flushed()
      reply.code(201)
      const [since, expiresAt] = [taken.since, taken.expiresAt].map((at) => new Date(at).toISOString())
      return { ...taken, since, expiresAt }
    }
  )

  app.delete(`${leases}/:lease`, { onRequest: authenticateRun }, async (request, reply: FastifyReply) => {
    const { lease, name } = request.params as Record<"name" | "lease", string>
    const by = owners.get(request)!
    const [row] = await query<{ outcome: string }>(Statements.releaseLease, [
      lease,
      by.workspaceId,
      name,
      by.runId,
      by.retry
    ])
    if (row!.outcome === "unknown") throw notFound("lease")
    if (row!.outcome === "foreign") {
      throw new ApiError(403, "Forbidden", "Another run or retry holds the lease.", { reason: "not_holder" })
    }
    return reply.code(204).send()
  })
}
