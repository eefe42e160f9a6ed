import type { FinishRetry, RetryTestReport, StartRetry } from "@delivery/domain/runs/TestRetry"
import { Effect, Layer, Stream } from "effect"
import { Settings } from "../../src/Config.ts"
import * as Keys from "../../src/keys/Keys.ts"
import * as Files from "../../src/files/Files.ts"
import { TestRunFiles } from "../../src/runs/TestRunFiles.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { layerSigningKeys } from "../support/Storages.ts"
import { answer, as, type CallerOf } from "../identity/Scene.ts"
import { attempt, type Deployed, finishBody, git, machine, report, startBody } from "./Scene.ts"
import { layerRuns } from "./Services.ts"

/** Runs with failed tests, and retries of them. */

/** Milliseconds. */
export const runLimit = 60_000
export const baseUrl = "https://delivery.example"

/** The services of runs, over repositories. */
export const layerServices = layerRuns.pipe(
  Layer.provideMerge([layerSigningKeys, Files.layerMemory]),
  Layer.provideMerge([Keys.layerMemoryKeyring, Settings.layer({ BASE_URL: baseUrl, RUN_LIMIT_MS: String(runLimit) })])
)

export const startOf = (fields: Partial<StartRetry> = {}): StartRetry => ({
  passes: 2,
  baseUrl: null,
  git,
  machine,
  ...fields
})

export const retried = (caseId: string, ...statuses: ReadonlyArray<"passed" | "failed">): RetryTestReport => ({
  caseId,
  attempts: statuses.map((status) => attempt(status))
})

export const finishOf = (tests: FinishRetry["tests"], fields: Partial<FinishRetry> = {}): FinishRetry => ({
  interrupted: false,
  tests,
  ...fields
})

/** A finished run of two passed tests, a skipped one, and the failed ones that are named. */
export const finishedRun = Effect.fnUntraced(function* (
  at: Deployed,
  failed: ReadonlyArray<string>,
  fields: Parameters<typeof finishBody>[0] = {}
) {
  const runs = yield* TestRuns
  const { number } = yield* as(at.member)(runs.start(startBody(at)))
  const tests = [
    report("p1"),
    report("p2"),
    report("s", { attempt: null }),
    ...failed.map((caseId) => report(caseId, { attempt: attempt("failed"), title: `Title ${caseId}` }))
  ]
  yield* as(at.member)(runs.finish(number, finishBody({ tests, ...fields })))
  return number
})

/** `ok`, or why the caller may not upload a file of the run. */
export const upload = Effect.fnUntraced(function* (by: CallerOf, run: number, path = "retry/a.txt") {
  const files = yield* TestRunFiles
  return yield* answer(
    as(by)(
      files.upload({
        run,
        path,
        contentType: "text/plain",
        contentLength: "1",
        body: Stream.succeed(new Uint8Array([1]))
      })
    )
  )
})
