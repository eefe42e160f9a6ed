import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { type RunRequest, RunRequestsRepo, testRunRequests } from "./RunRequestsRepo.ts"
import { testRuns } from "./TestRunsRepo.ts"

/** Transactions run one after the other, so that nothing has to be held. */
export const layer = Layer.effect(
  RunRequestsRepo,
  Effect.map(MemoryStorage, (memory) =>
    RunRequestsRepo.of({
      hold: (request) =>
        memory.read((database) => {
          const found = database.table(testRunRequests).get(keyOf(request))
          const run = found && database.table(testRuns).get(found.runId)
          return (
            run && {
              id: run.id,
              number: run.number,
              state: run.state,
              expiresAt: run.expiresAt,
              scope: run.fixtureScope,
              fixtureUrl: run.fixtureUrl,
              fingerprint: found!.fingerprint
            }
          )
        }),
      insert: (request) =>
        memory.write((database) => Effect.sync(() => database.table(testRunRequests).set(keyOf(request), request))),
      replaceToken: (id, { makerId, tokenHash }) =>
        memory.write((database) =>
          Effect.sync(() => {
            const runs = database.table(testRuns)
            runs.set(id, { ...runs.get(id)!, makerId, tokenHash })
          })
        )
    })
  )
)

const keyOf = ({ publisherId, publisherKind, requestId, workspaceId }: RunRequest): string =>
  `${workspaceId}/${publisherKind}/${publisherId}/${requestId}`
