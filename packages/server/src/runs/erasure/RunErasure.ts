import { Conflict, type Forbidden, type NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Latch, Layer, Metric, Option } from "effect"
import { type Access, atLeast } from "../../access/Access.ts"
import { Settings } from "../../Config.ts"
import { AuditedEvents } from "../../audit/AuditedEvents.ts"
import { Storage } from "../../storage/Storage.ts"
import { filesErased, runsErased } from "../../telemetry/Metrics.ts"
import { ResultChanges } from "../ResultChanges.ts"
import { noRun } from "../RunAnswers.ts"
import { TestRuns } from "../TestRuns.ts"
import { type FoundTestRun, TestRunsRepo } from "../TestRunsRepo.ts"
import { isRunning, runLabel, runPath } from "../TestRunState.ts"
import { type KeptDays, RunErasureRepo, type StepSizes } from "./RunErasureRepo.ts"

/** Erases runs and their files (docs/contract.md, Retention of runs). */
export class RunErasure extends Context.Service<
  RunErasure,
  {
    /** `Conflict` `running` while the run or a retry of it runs. */
    readonly delete: (number: number) => Effect.Effect<void, NotFound | Forbidden | Conflict, Caller>
    /**
     * One small step of what is to be erased: rows of runs that are gone, runs and files whose days are over, and what the search
     * has of them. Answers whether there was any. While another server is at it, there is none.
     */
    readonly step: Effect.Effect<boolean>
    /** Waits until a run is deleted here since the last `step` began. */
    readonly awaitDeleted: Effect.Effect<void>
  }
>()("@delivery/server/runs/RunErasure") {
  static readonly layer = Layer.effect(RunErasure, Effect.gen(make))
}

interface Dependencies {
  readonly days: KeptDays
  readonly repo: RunErasureRepo["Service"]
  readonly runsRepo: TestRunsRepo["Service"]
  readonly runs: TestRuns["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
  /** Open when a run was deleted here whose rows are yet to be erased. */
  readonly isDeleted: Latch.Latch
  readonly changes: ResultChanges["Service"]
}

function* make() {
  const { retention } = yield* Settings
  const dependencies: Dependencies = {
    days: { runDays: Option.getOrNull(retention.runDays), fileDays: Option.getOrNull(retention.fileDays) },
    repo: yield* RunErasureRepo,
    runsRepo: yield* TestRunsRepo,
    runs: yield* TestRuns,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    isDeleted: yield* Latch.make(false),
    changes: yield* ResultChanges
  }
  return RunErasure.of({
    delete: deleteRun(dependencies),
    step: step(dependencies),
    awaitDeleted: dependencies.isDeleted.await
  })
}

const now = Effect.map(Clock.currentTimeMillis, timestamp)

const deleteRun = (dependencies: Dependencies) => {
  const { changes, isDeleted, runs, runsRepo } = dependencies
  const tryErase = eraseOne(dependencies)
  return Effect.fn("RunErasure.delete")(function* (number: number) {
    const access = yield* atLeast("admin")
    for (;;) {
      const run = yield* runsRepo.find(access.workspace.id, number)
      if (run === undefined) return yield* noRun(number)
      const outcome = yield* tryErase(access, run)
      if (outcome === "running") return yield* stillRunning
      if (outcome === "erased") {
        yield* isDeleted.open
        yield* changes.note
        return yield* Metric.update(runsErased, 1)
      }
      // The run, or a retry of it, is overdue: it ends as such, and its leases with it.
      if (outcome === "overdue") yield* runs.expire
    }
  })
}

const stillRunning = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The run, or a retry of it, is still running.", reason: "running" }))
)

const eraseOne =
  ({ events, repo, runsRepo, storage }: Dependencies) =>
  (access: Access, { id, number }: FoundTestRun) =>
    storage.transaction(
      Effect.gen(function* () {
        const run = yield* runsRepo.lock(id)
        if (run === undefined) return "gone" as const
        const at = yield* now
        const { runningRetry } = run
        if (isRunning(run, at) || (runningRetry !== null && runningRetry.expiresAt > at)) return "running" as const
        if (run.state === "running" || runningRetry !== null) return "overdue" as const
        yield* repo.erase([id])
        yield* events.record(access, {
          kind: "run_deleted",
          subject: { type: "run", id, label: runLabel + number, path: runPath + number }
        })
        return "erased" as const
      })
    )

/** A step takes a few milliseconds, however much there is to erase. */
const sizes: StepSizes = { runs: 50, tests: 2_500, files: 200, rows: 500 }

const nothing = { rows: 0, runs: 0, files: 0, terms: 0 }

const step = ({ changes, days, isDeleted, repo, storage }: Dependencies) => {
  const erased = Effect.gen(function* () {
    if (!(yield* repo.claim)) return nothing
    const rows = yield* repo.eraseRows(sizes.rows)
    if (rows > 0) return { ...nothing, rows }
    const at = yield* now
    const runs = yield* repo.dueRuns(at, days, sizes)
    if (runs.length > 0) {
      yield* repo.erase(runs)
      return { ...nothing, runs: runs.length }
    }
    const files = yield* repo.eraseFiles(at, days, sizes.files)
    return files > 0 ? { ...nothing, files } : { ...nothing, terms: yield* repo.forgetBlock }
  })
  return Effect.andThen(isDeleted.close, storage.transaction(erased)).pipe(
    Effect.tap(({ runs }) => Metric.update(runsErased, runs)),
    Effect.tap(({ runs }) => (runs > 0 ? changes.note : Effect.void)),
    Effect.tap(({ files }) => Metric.update(filesErased, files)),
    Effect.map((erased) => Object.values(erased).some((count) => count > 0)),
    Effect.withSpan("RunErasure.step")
  )
}
