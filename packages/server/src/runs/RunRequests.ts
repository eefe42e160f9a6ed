import { Conflict } from "@delivery/domain/Errors"
import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"
import type { Storage } from "../storage/Storage.ts"
import type { RunRequestsRepo } from "./RunRequestsRepo.ts"
import type { BegunRun } from "./RunShards.ts"
import type { NewTestRun, Numbered, TestRunsRepo } from "./TestRunsRepo.ts"
import { publisherIdOf } from "./SamePublisher.ts"
import { isRunning } from "./TestRunState.ts"

interface Dependencies {
  readonly keys: ApiKeysRepo["Service"]
  readonly repo: TestRunsRepo["Service"]
  readonly requests: RunRequestsRepo["Service"]
  readonly storage: Storage["Service"]
}

/**
 * Starts a run once for a `requestId` of its publisher (docs/contract.md, Test runs): the same start again, whose answer may
 * have been lost, gets the run that the first one has started, with another run token.
 */
export const startOnce = ({ keys, repo, requests, storage }: Dependencies) =>
  Effect.fnUntraced(function* (
    { requestId, ...input }: StartTestRun & { readonly requestId: string },
    run: NewTestRun,
    starting: Effect.Effect<Numbered>
  ) {
    const { publisher, workspaceId } = run
    const publisherId = yield* publisherIdOf({ keys }, publisher)
    const request = { workspaceId, publisherKind: publisher.kind, publisherId, requestId }
    const fingerprint = hash("sha256", JSON.stringify(input), "base64url")
    const begin = Effect.gen(function* () {
      const before = yield* requests.hold(request)
      if (before === undefined) {
        const numbered = yield* starting
        yield* requests.insert({ ...request, runId: run.id, fingerprint })
        const begun: BegunRun = {
          ...numbered,
          fixtureUrl: run.fixture?.url ?? null,
          expiresAt: run.expiresAt,
          mutes: run.mutes
        }
        return begun
      }
      if (before.fingerprint !== fingerprint) return yield* isReused
      if (!isRunning(before, run.startedAt)) return yield* hasEnded
      yield* requests.replaceToken(before.id, run)
      const begun: BegunRun = { ...before, mutes: yield* repo.mutes(before.id) }
      return begun
    })
    return yield* storage.transaction(begin)
  })

const isReused = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The requestId was used for another request.", reason: "request_id_reused" }))
)

const hasEnded = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The run that this requestId started has ended.", reason: "finished" }))
)
