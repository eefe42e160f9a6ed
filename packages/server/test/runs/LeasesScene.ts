import type { LeaseHolder } from "@delivery/domain/LeaseHolder"
import type { Lease, SemaphoreList } from "@delivery/domain/runs/Semaphore"
import type { StartedTestRun } from "@delivery/domain/runs/TestRun"
import { assert } from "vitest"
import { type Answer, type Http, startRun } from "../support/Http.ts"

/** Leases over HTTP, for tests. */

/** A run and its holder: calls carry the run's token. */
export const newRun = async (workspace: Http): Promise<Http & { readonly run: StartedTestRun }> => {
  const run = await startRun(workspace)
  return { ...workspace.as(run.semaphores.token), run }
}

export const leases = (name: string): string => `semaphores/${encodeURIComponent(name)}/leases`

export const take = <A = Lease>(holder: Http, name: string, request: object = {}): Promise<Answer<A>> =>
  holder.send<A>("POST", leases(name), { json: { capacity: 1, ...request } })

export const taken = async (holder: Http, name: string, request: object = {}): Promise<Lease> => {
  const answer = await take(holder, name, request)
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body
}

export const holdersOf = async (workspace: Http, name: string): Promise<ReadonlyArray<LeaseHolder>> => {
  const { semaphores } = await workspace.get<SemaphoreList>("semaphores")
  return semaphores.find((semaphore) => semaphore.name === name)?.holders ?? []
}
