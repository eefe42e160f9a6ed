import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Storage } from "../../storage/Storage.ts"
import { ResultChanges } from "../ResultChanges.ts"
import { CaseCountingRepo } from "./CaseCountingRepo.ts"

/** Counts, behind the runs, what tests over time show (docs/architecture.md, Tests over time). */
export class CaseCounting extends Context.Service<
  CaseCounting,
  {
    /**
     * One small step of what is to be counted: runs that have ended, then runs that are counted again, then days. Answers whether there
     * was any. While another server counts for a workspace, there is none of that.
     */
    readonly step: Effect.Effect<boolean>
    /** Waits until there may be something to count since the last `step` began. */
    readonly awaitChange: Effect.Effect<void>
    /** Counts everything again from the runs. Ends when all is counted, by whomever. Answers how many products had runs. */
    readonly rebuild: Effect.Effect<number>
  }
>()("@delivery/server/runs/cases/CaseCounting") {
  static readonly layer = Layer.effect(CaseCounting, Effect.gen(make))
}

interface Dependencies {
  readonly repo: CaseCountingRepo["Service"]
  readonly storage: Storage["Service"]
  readonly changes: ResultChanges["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* CaseCountingRepo,
    storage: yield* Storage,
    changes: yield* ResultChanges
  }
  return CaseCounting.of({
    step: step(dependencies, { isUrgent: false }),
    awaitChange: dependencies.changes.awaitNoted,
    rebuild: rebuild(dependencies)
  })
}

const step = ({ changes, repo, storage }: Dependencies, options: { readonly isUrgent: boolean }) =>
  Effect.gen(function* () {
    yield* changes.forget
    const now = timestamp(yield* Clock.currentTimeMillis)
    if (yield* storage.transaction(repo.countRuns(now))) return true
    if (yield* storage.transaction(repo.recount(now))) return true
    return yield* storage.transaction(repo.refreshDay(options))
  }).pipe(Effect.withSpan("CaseCounting.step"))

const rebuild = (dependencies: Dependencies) => {
  const { repo, storage } = dependencies
  const takeStep = step(dependencies, { isUrgent: true })
  return Effect.gen(function* () {
    let products = 0
    for (const workspaceId of yield* repo.workspaces) {
      products += yield* storage.transaction(repo.recountAll(workspaceId))
    }
    for (;;) {
      while (yield* takeStep) yield* Effect.yieldNow
      if (!(yield* repo.isBehind)) return products
      // Another server counts.
      yield* Effect.sleep("100 millis")
    }
  }).pipe(Effect.withSpan("CaseCounting.rebuild"))
}
