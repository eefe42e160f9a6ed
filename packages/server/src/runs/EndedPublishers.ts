import type { EventId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { MemberRuns } from "../identity/MemberRuns.ts"
import { NextId } from "../ids/NextId.ts"
import { RetriesRepo } from "./RetriesRepo.ts"
import { type EndedPublishers, TestRunsRepo } from "./TestRunsRepo.ts"

/** How many runs one statement ends. */
const batchSize = 100

interface Dependencies {
  readonly repo: TestRunsRepo["Service"]
  readonly retries: RetriesRepo["Service"]
  readonly nextId: NextId["Service"]
}

/** Interrupts all that the publishers have running, and so frees its leases and ends its run tokens; how much it was. */
export const interruptAll = ({ nextId, repo, retries }: Dependencies) => {
  const ids = Effect.replicateEffect(nextId<EventId>(), batchSize)
  return Effect.fnUntraced(function* (which: EndedPublishers) {
    let all = 0
    for (const each of [repo, retries]) {
      for (let ended = batchSize; ended === batchSize;) {
        ended = yield* each.interrupt(which, timestamp(yield* Clock.currentTimeMillis), yield* ids)
        all += ended
      }
    }
    return all
  })
}

/** Interrupts what publishers have running whose access ends. */
export const layer = Layer.effect(
  MemberRuns,
  Effect.gen(function* () {
    const interrupt = interruptAll({ repo: yield* TestRunsRepo, retries: yield* RetriesRepo, nextId: yield* NextId })
    return MemberRuns.of({
      interrupt: ({ actor, workspace }, publishers) => interrupt({ workspaceId: workspace.id, publishers, actor })
    })
  })
)
