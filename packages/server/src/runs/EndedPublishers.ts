import type { EventId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { MemberRuns } from "../identity/MemberRuns.ts"
import { NextId } from "../ids/NextId.ts"
import { RetriesRepo } from "./RetriesRepo.ts"
import { TestRunsRepo } from "./TestRunsRepo.ts"

/** How many runs one statement ends. */
const batchSize = 100

/** Interrupts what publishers have running whose access ends, and so frees its leases and ends its run tokens. */
export const layer = Layer.effect(MemberRuns, Effect.gen(make))

function* make() {
  const runs = yield* TestRunsRepo
  const retries = yield* RetriesRepo
  const nextId = yield* NextId
  const ids = Effect.replicateEffect(nextId<EventId>(), batchSize)
  return MemberRuns.of({
    interrupt: Effect.fnUntraced(function* ({ actor, workspace }, publishers) {
      let all = 0
      for (const repo of [runs, retries]) {
        for (let ended = batchSize; ended === batchSize;) {
          const now = timestamp(yield* Clock.currentTimeMillis)
          ended = yield* repo.interrupt({ workspaceId: workspace.id, publishers, actor }, now, yield* ids)
          all += ended
        }
      }
      return all
    })
  })
}
