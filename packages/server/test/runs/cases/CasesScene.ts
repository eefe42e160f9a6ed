import type { ListedCase } from "@delivery/domain/runs/Case"
import { assert } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Option } from "effect"
import { timestamp } from "@delivery/domain/Timestamp"
import { Products } from "../../../src/catalog/Products.ts"
import { CaseCounting } from "../../../src/runs/cases/CaseCounting.ts"
import { type CaseQuery, Cases } from "../../../src/runs/cases/Cases.ts"
import { Retries } from "../../../src/runs/Retries.ts"
import { RunErasure } from "../../../src/runs/erasure/RunErasure.ts"
import { TestRuns } from "../../../src/runs/TestRuns.ts"
import { addDeployment, addEnvironment } from "../../catalog/Rows.ts"
import { as } from "../../identity/Scene.ts"
import { finishOf, startOf } from "../RetriesScene.ts"
import { finishBody, git, makeDeployed, report, startBody } from "../Scene.ts"
import {
  caseResultsOf,
  casesOf,
  errorsIn,
  errorsOf,
  type Model,
  type ModelAttempt,
  type ModelRun,
  trendsOf
} from "./CasesModel.ts"

/** A product in two environments, whose runs are published by the service and noted in a model. */

/** A test as a history reports it. */
export interface PlantedTest {
  readonly caseId: string
  readonly title?: string
  readonly file?: string
  /** Null: skipped. */
  readonly attempt: ModelAttempt | null
}

export interface PlantedRun {
  readonly environment?: number
  readonly branch?: string
  readonly commit?: string
  readonly tests: ReadonlyArray<PlantedTest>
  readonly interrupted?: boolean
}

export const passed = (durationMs = 10): ModelAttempt => ({ status: "passed", durationMs, error: null })
export const failed = (error = "Expected 200, got 500", durationMs = 10): ModelAttempt => ({
  status: "failed",
  durationMs,
  error
})

const attemptOf = ({ durationMs, error, status }: ModelAttempt) => ({
  status,
  durationMs,
  startedAt: "2026-11-21T09:30:10.123Z",
  errorMessage: error,
  errorStack: null,
  files: []
})

const reportOf = ({ attempt, caseId, file = "a.spec.ts", title = caseId }: PlantedTest) =>
  report(caseId, { title, file, attempt: attempt === null ? null : attemptOf(attempt) })

const now = Effect.map(Clock.currentTimeMillis, timestamp)

/** Counts until there is nothing to count. */
export const countAll = Effect.gen(function* () {
  const { step } = yield* CaseCounting
  while (yield* step) yield* Effect.yieldNow
})

export const makeCases = Effect.gen(function* () {
  const at = yield* makeDeployed()
  const production = yield* addEnvironment(at.workspace.id, { class: "production" })
  yield* addDeployment(at.product, production)
  const environments = [at.environment, production]
  const runs: Array<ModelRun> = []

  const start = Effect.fnUntraced(function* ({ branch = "main", commit, environment = 0 }: PlantedRun) {
    const { slug } = environments[environment]!
    const sha = commit ?? `${runs.length + 1}`.padStart(40, "0")
    const { number } = yield* as(at.member)(
      Effect.flatMap(TestRuns, (service) =>
        service.start(startBody(at, { environment: slug, git: { ...git, branch, sha } }))
      )
    )
    const run: ModelRun = {
      number,
      environment: slug,
      branch,
      commit: sha,
      state: "running",
      isErased: false,
      finishedAt: "",
      tests: []
    }
    runs.push(run)
    return run
  })

  const finish = Effect.fnUntraced(function* (run: ModelRun, { interrupted = false, tests }: PlantedRun) {
    const { finishedAt } = yield* as(at.member)(
      Effect.flatMap(TestRuns, (service) =>
        service.finish(run.number, finishBody({ interrupted, tests: tests.map(reportOf) }))
      )
    )
    run.state = interrupted ? "interrupted" : "finished"
    run.finishedAt = finishedAt!
    run.tests = tests.map(({ attempt, caseId, file = "a.spec.ts", title = caseId }) => ({
      caseId,
      title,
      file,
      status: attempt === null ? "skipped" : attempt.status,
      attempts: attempt === null ? [] : [attempt]
    }))
  })

  const publish = Effect.fnUntraced(function* (planted: PlantedRun) {
    const run = yield* start(planted)
    yield* finish(run, planted)
    return run
  })

  /** Retries the failed tests of a run; `outcome` has the attempts of each, in order. A test that passes `passes` times is flaky. */
  const retry = Effect.fnUntraced(function* (
    run: ModelRun,
    outcome: (caseId: string) => ReadonlyArray<ModelAttempt>,
    { interrupted = false, passes = 1 } = {}
  ) {
    const retried = run.tests.filter(({ status }) => status === "failed")
    const service = yield* Retries
    const { retry: number } = yield* as(at.member)(
      service.start(run.number, startOf({ passes, git: { ...git, branch: run.branch, sha: run.commit } }))
    )
    const outcomes = new Map(retried.map(({ caseId }) => [caseId, outcome(caseId)]))
    const tests = [...outcomes].map(([caseId, attempts]) => ({ caseId, attempts: attempts.map(attemptOf) }))
    yield* as(at.member)(service.finish(run.number, number, finishOf(tests, { interrupted })))
    for (const test of retried) {
      const attempts = outcomes.get(test.caseId)!
      test.attempts = [...test.attempts, ...attempts]
      if (attempts.length >= passes && attempts.every(({ status }) => status === "passed")) test.status = "flaky"
    }
  })

  const erase = Effect.fnUntraced(function* (run: ModelRun) {
    yield* as(at.admin)(Effect.flatMap(RunErasure, (erasure) => erasure.delete(run.number)))
    run.isErased = true
  })

  const rebase = Effect.fnUntraced(function* (branch: string) {
    yield* as(at.admin)(Effect.flatMap(Products, (products) => products.update(at.product.id, { baseBranch: branch })))
  })

  const model = Effect.gen(function* () {
    const products = yield* Products
    const { baseBranch } = yield* as(at.viewer)(products.get(at.product.id))
    const shown = environments.map(({ class: kind, name, slug }) => [slug, { slug, name, class: kind }] as const)
    return { runs, baseBranch, now: yield* now, environments: Object.fromEntries(shown) } satisfies Model
  })

  const slugs = [undefined, ...environments.map(({ slug }) => slug)]
  return { at, runs, environments, slugs, start, finish, publish, retry, erase, rebase, model }
})

export type CasesScene = Effect.Success<typeof makeCases>

/** All pages of a list. */
export const listAll = Effect.fnUntraced(function* ({ at }: CasesScene, query: CaseQuery) {
  const cases = yield* Cases
  const found: Array<ListedCase> = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = yield* as(at.viewer)(cases.list(at.product.slug, { ...query, cursor }))
    found.push(...page.cases)
    if (page.nextCursor !== null) assert.lengthOf(page.cases, 100)
    cursor = page.nextCursor
  }
  return found
})

/** Makes what was counted of the product wrong in every way; in memory nothing is counted. */
export const spoil = Effect.fnUntraced(function* ({ at }: CasesScene) {
  const sql = Option.getOrUndefined(yield* Effect.serviceOption(PgClient.PgClient))
  if (sql === undefined) return
  const { id } = at.workspace
  yield* Effect.orDie(
    Effect.all([
      sql`delete from case_results where workspace_id = ${id} and number % 2 = 0`,
      sql`update case_results set duration_ms = 1, failed = not failed where workspace_id = ${id} and number % 3 = 1`,
      sql`insert into case_results select workspace_id, duration_ms, series_id, 4711, attempts, day, failed, flaky, on_base,
          error_group from case_results where workspace_id = ${id} and number = 3`,
      sql`update case_days set passed = passed + 7, flaky = flaky + 1 where workspace_id = ${id}`,
      sql`update test_cases set title = 'x', search = 'x', title_key = '', p95_ms = 1 where workspace_id = ${id}`,
      sql`delete from case_medians where workspace_id = ${id}`,
      sql`update product_days set runs = runs + 1 where workspace_id = ${id}`
    ])
  )
})

const states = ["failing", "flaky", "slow", "passing", "muted"] as const

/** Asserts that lists, with each filter, are those of the model. */
export const assertLists = Effect.fnUntraced(function* (scene: CasesScene, parts: ReadonlyArray<string> = []) {
  const model = yield* scene.model
  for (const environment of scene.slugs) {
    const expected = casesOf(model, environment)
    assert.deepStrictEqual(yield* listAll(scene, { environment }), expected)
    for (const results of [1, 30]) {
      assert.deepStrictEqual(
        yield* listAll(scene, { environment, results }),
        expected.map((one) => ({
          ...one,
          results: caseResultsOf(model, environment, one.caseId)
            .slice(0, results)
            .map(({ durationMs, run, status }) => ({ run, status, durationMs }))
        }))
      )
    }
    for (const state of states) {
      const ofState = expected.filter((one) => one.states.includes(state))
      assert.deepStrictEqual(yield* listAll(scene, { environment, state }), ofState, state)
      for (const q of parts) {
        assert.deepStrictEqual(
          yield* listAll(scene, { environment, state, q }),
          ofState.filter((one) => [one.title, one.file, one.caseId].some((text) => text.toLowerCase().includes(q))),
          `${state} ${q}`
        )
      }
    }
  }
})

/** Asserts that cases with their results, page by page, are those of the model. */
export const assertCases = Effect.fnUntraced(function* (
  scene: CasesScene,
  isAsked: (caseId: string) => boolean = () => true,
  pages = Number.POSITIVE_INFINITY
) {
  const { at } = scene
  const cases = yield* Cases
  const model = yield* scene.model
  for (const environment of scene.slugs) {
    for (const expected of casesOf(model, environment).filter(({ caseId }) => isAsked(caseId))) {
      const results = caseResultsOf(model, environment, expected.caseId)
      for (let from = 0; from <= Math.min(results.length, (pages - 1) * 100); from += 100) {
        const before = from === 0 ? undefined : results[from - 1]!.run
        assert.deepStrictEqual(
          yield* as(at.viewer)(cases.get(at.product.id, expected.caseId, { environment, before })),
          { ...expected, results: results.slice(from, from + 100) },
          expected.caseId
        )
      }
    }
  }
})

/** Asserts that the errors of runs are those of the model. */
export const assertErrors = Effect.fnUntraced(function* (
  scene: CasesScene,
  isAsked: (run: ModelRun) => boolean = () => true
) {
  const { at } = scene
  const cases = yield* Cases
  const model = yield* scene.model
  for (const { number } of scene.runs.filter((run) => !run.isErased && isAsked(run))) {
    const { errors } = yield* as(at.viewer)(cases.errors(number))
    const sorted = (errors: ReturnType<typeof errorsOf>) =>
      [...errors].map(([id, inGroup]) => [id, inGroup.toSorted()] as const).toSorted()
    assert.deepStrictEqual(sorted(errorsIn(errors)), sorted(errorsOf(model, number)), `run ${number}`)
    for (const { cases: inGroup, count, state } of errors) {
      assert.strictEqual(count, inGroup.length)
      assert.strictEqual(state, inGroup.some((one) => one.state === "new") ? "new" : "known")
    }
  }
})

/** Asserts that the trends of a period are those of the model. */
export const assertTrends = Effect.fnUntraced(function* (scene: CasesScene, from: string, to: string) {
  const { at } = scene
  const cases = yield* Cases
  const model = yield* scene.model
  for (const environment of scene.slugs) {
    const { days } = yield* as(at.viewer)(cases.trends(at.product.slug, { environment, from, to }))
    assert.deepStrictEqual(days, trendsOf(model, environment, from, to), environment)
  }
})
