import { Conflict, InvalidInput } from "@delivery/domain/Errors"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import type { Shard } from "@delivery/domain/runs/Shard"
import { maxTestsPerRun } from "@delivery/domain/runs/TestEntry"
import {
  gateResultOf,
  type Outcome,
  outcomeOfShards,
  recordError,
  type RecordedTest
} from "@delivery/domain/runs/TestResults"
import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { testsDeployment } from "@delivery/domain/runs/TestedAddress"
import { shownName } from "@delivery/domain/flow/ShownName"
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { StoredEvent } from "../events/EventsRepo.ts"
import type { ApiKeysRepo } from "../identity/ApiKeysRepo.ts"
import type { Storage } from "../storage/Storage.ts"
import type { RetriesRepo } from "./RetriesRepo.ts"
import { cleanupAfter, notRunning } from "./RunAnswers.ts"
import type { StoredRunMute } from "./RunMutes.ts"
import { publisherIdOf } from "./SamePublisher.ts"
import type { HeldRun, ReportedShards, RunShardsRepo } from "./RunShardsRepo.ts"
import type { FinishedTestRun, FoundTestRun, NewTestRun, Numbered, TestRunsRepo } from "./TestRunsRepo.ts"
import { isWhole } from "./RunScope.ts"
import { foldSha, isRunning } from "./TestRunState.ts"
import { charactersOfTest } from "./TestSize.ts"

/** How the shards of a build start and finish their run (docs/contract.md, Shards). */

interface Dependencies {
  readonly repo: TestRunsRepo["Service"]
  readonly shards: RunShardsRepo["Service"]
  readonly retries: RetriesRepo["Service"]
  readonly keys: ApiKeysRepo["Service"]
  readonly storage: Storage["Service"]
}

/** The characters that the tests of all shards may have: as many as the body of one finish may have bytes. */
const maxCharacters = 32 * 1024 * 1024

/** The shard that starts, and its build; undefined for a run that has none. */
export const shardOf = ({ build, shard }: StartTestRun): (Shard & { readonly build: string }) | undefined =>
  build == null || shard == null ? undefined : { ...shard, build }

/** What a run that started, or that a shard has joined, gives to tests. */
export interface BegunRun extends Numbered {
  readonly fixtureUrl: string | null
  readonly expiresAt: Timestamp
  readonly mutes: ReadonlyArray<StoredRunMute>
}

/**
 * Starts a shard: the run of its build, which `starting` starts as `run` where there is none, is that of all of its shards.
 * Each has a scope of its own in it, since each deletes what it has made.
 */
export const startShard = ({ keys, repo, shards, storage }: Dependencies) =>
  Effect.fnUntraced(function* (
    { build, index, total }: Shard & { readonly build: string },
    run: NewTestRun,
    tokenHash: string,
    starting: Effect.Effect<Numbered>
  ) {
    const { environmentId, makerId, productId, publisher, startedAt, workspaceId } = run
    const of = { workspaceId, productId, environmentId, publisherId: yield* publisherIdOf({ keys }, publisher), build }
    const begin = Effect.gen(function* () {
      const held = yield* shards.holdBuild(of)
      const isJoined = held !== undefined
      if (isJoined && held.shardTotal !== total) return yield* otherTotal(held.shardTotal)
      if (isJoined && !isRunning(held, startedAt)) return yield* finished
      if (isJoined) yield* checkSame(held, run)
      if (isJoined && run.git.dirty && !held.git.dirty) yield* shards.markDirty(held.id)
      const begun: BegunRun = isJoined
        ? { ...held, mutes: yield* repo.mutes(held.id) }
        : {
            ...(yield* starting),
            fixtureUrl: run.fixture?.url ?? null,
            expiresAt: run.expiresAt,
            mutes: run.mutes
          }
      const runId = held?.id ?? run.id
      if (!isJoined) yield* shards.open(runId, of, total)
      const shard = { workspaceId, runId, number: index, publisher, makerId, tokenHash, startedAt }
      if (!(yield* shards.start(shard))) return yield* finished
      return { ...begun, scope: begun.scope === null ? null : `${begun.scope}-${index}` }
    })
    return yield* storage.transaction(begin)
  })

/** What a run tells, it tells of one commit, one deployment or another address, and of all tests or a part of them. */
const checkSame = (held: HeldRun, run: NewTestRun): Effect.Effect<void, Conflict> => {
  const refused = (reason: string, message: string) => Effect.fail(new Conflict({ message, reason }))
  if (foldSha(held.git.sha) !== foldSha(run.git.sha)) {
    return refused(
      "other_commit",
      `The run of this build is of another commit, ${shownName(held.git.sha)}. All shards of a build test the same one.`
    )
  }
  if (testsDeployment(held) !== testsDeployment({ ...held, baseUrl: run.baseUrl })) {
    return refused(
      "other_address",
      `The run of this build tests another address, ${shownName(held.baseUrl)}. All shards of a build test the same one.`
    )
  }
  const isOther = held.selection.coverage !== run.selection.coverage || isWhole(held) !== isWhole(run)
  return isOther
    ? refused(
        "other_selection",
        `The run of this build is of other tests: ${selected(held)}. All shards of a build select the same.`
      )
    : Effect.void
}

const selected = (run: HeldRun): string => {
  const { coverage } = run.selection
  return `${isWhole(run) ? "all" : "a part"} of ${coverage === null ? "every coverage" : `the coverage ${coverage}`}`
}

/**
 * Finishes a shard, and with the last one the run: answers whether it has ended by that. The same report again changes nothing.
 *
 * @param eventOf The event of the end of the run.
 * @param progressed Records that one more shard has finished, while others run.
 * @param follow What follows where the run finishes.
 */
export const finishShard = ({ repo, retries, shards, storage }: Dependencies) => {
  const gateOf = Effect.fnUntraced(function* (run: FoundTestRun, ended: Outcome) {
    if (run.mutedCount === 0) return ended.result
    const failed = (yield* retries.tests(run.id)).filter(({ status }) => status === "failed")
    return gateResultOf(
      ended,
      failed.map(({ caseId }) => caseId),
      yield* repo.mutes(run.id)
    )
  })
  return Effect.fnUntraced(function* (
    run: FoundTestRun,
    at: Timestamp,
    report: FinishTestRun,
    tests: ReadonlyArray<RecordedTest>,
    eventOf: (finished: FinishedTestRun) => Effect.Effect<StoredEvent>,
    progressed: (finishedShards: number, total: number) => Effect.Effect<void>,
    follow: Effect.Effect<void>
  ) {
    const { shard } = report
    if (shard == null) return yield* InvalidInput.at("shard", "Expected the shard that finishes")
    const reported = {
      interrupted: report.interrupted,
      error: report.interrupted ? null : recordError(report.error),
      durationMs: report.durationMs,
      cleanup: cleanupAfter(run.cleanup, report.cleanup)
    }
    const reportHash = hash("sha256", JSON.stringify([reported, tests]), "base64url")
    const characters = tests.reduce((sum, test) => sum + charactersOfTest(test), 0)
    const end = Effect.gen(function* () {
      const held = yield* shards.holdRun(run.id)
      if (held === undefined) return yield* notRunning("run")
      if (held.shardTotal !== shard.total) return yield* otherTotal(held.shardTotal)
      const state = yield* shards.stateOf(run.id, shard.index)
      if (state === undefined) return yield* notStarted
      if (state.reportHash === reportHash) return false
      if (!isRunning(held, at)) return yield* notRunning("run")
      if (state.finishedAt !== null) return yield* notRunning("shard")
      const one = { ...reported, runId: run.id, number: shard.index, reportHash, characters, finishedAt: at }
      const all = yield* shards.finish(one, tests)
      if (all.tally.counts.total > maxTestsPerRun) {
        return yield* InvalidInput.at("tests", `Expected at most ${maxTestsPerRun} tests in all shards`)
      }
      if (all.characters > maxCharacters) {
        return yield* InvalidInput.at(
          "tests",
          `Expected at most ${maxCharacters} characters in the tests of all shards`
        )
      }
      if (all.shards.length < held.shardTotal) {
        yield* progressed(all.shards.length, held.shardTotal)
        return false
      }
      const ended = finishedOf(all, at)
      const finished = { ...ended, gateResult: yield* gateOf(run, ended) }
      if ((yield* repo.finish(run.id, finished, [], yield* eventOf(finished))) === undefined) {
        return yield* notRunning("run")
      }
      if (finished.state === "finished") yield* follow
      return true
    })
    return yield* storage.transaction(end)
  })
}

/** What the last shard makes of the run. Shards run beside each other, so the run takes as long as the longest. */
const finishedOf = ({ shards, tally }: ReportedShards, at: Timestamp): FinishedTestRun => ({
  ...outcomeOfShards(shards, tally),
  durationMs: Math.max(...shards.map(({ durationMs }) => durationMs)),
  finishedAt: at,
  cleanup: cleanupOfShards(shards.map(({ cleanup }) => cleanup))
})

const cleanupOfShards = (cleanups: ReadonlyArray<FinishedTestRun["cleanup"]>): FinishedTestRun["cleanup"] => {
  const known = cleanups.filter((cleanup) => cleanup !== null)
  const worst = (["failed", "incomplete", "complete"] as const).find((status) =>
    known.some((cleanup) => cleanup.status === status)
  )
  return worst === undefined
    ? null
    : {
        status: worst,
        deleted: sumOf(known.map(({ deleted }) => deleted)),
        remaining: sumOf(known.map(({ remaining }) => remaining))
      }
}

/** Null where nobody has counted. */
const sumOf = (numbers: ReadonlyArray<number | null>): number | null => {
  const known = numbers.filter((number) => number !== null)
  return known.length === 0 ? null : known.reduce((sum, number) => sum + number, 0)
}

const otherTotal = (total: number) =>
  Effect.fail(new Conflict({ message: `The run of this build has ${total} shards.`, reason: "total_mismatch" }))

const finished = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The run of this build, or this shard of it, has ended.", reason: "finished" }))
)

const notStarted = Effect.suspend(() =>
  Effect.fail(new Conflict({ message: "The shard has not started.", reason: "not_started" }))
)
