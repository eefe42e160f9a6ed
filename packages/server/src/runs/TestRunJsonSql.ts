import { Cleanup, Counts, Git, Machine, TestRunSummary } from "@delivery/domain/runs/TestRun"
import { maxRunErrorCharacters } from "@delivery/domain/runs/RunErrorLimit"
import { ShardCounts } from "@delivery/domain/runs/Shard"
import { actorJson } from "../access/Actors.ts"
import { environments } from "../catalog/EnvironmentsRepo.ts"
import { products } from "../catalog/ProductsRepo.ts"
import { jsonColumns, jsonInstant, jsonObject } from "../storage/Json.ts"
import { isWholeSql } from "./RunScope.ts"
import { testRuns } from "./TestRunsRepo.ts"

/** A run as JSON of an answer: what `foundRun`, `asOf` and `summaryOf` make of its row. */

/**
 * Whether the version of the deployment changed while the run was running. The end of a run notes it, but where a server
 * that knew no releases ended the run: then, and while it runs, the next release tells.
 */
export const deploymentChanged = `coalesce(r.deployment_changed, exists (select 1 from deployment_releases next
  where next.deployment_id = r.deployment_id and next.number > coalesce(r.release, 0)
    and next.at < coalesce(r.finished_at, r.expires_at)) or exists (select 1 from deployments d
  where d.id = r.deployment_id and d.deleted_at < coalesce(r.finished_at, r.expires_at)))`

const run = jsonColumns(testRuns, "r")
const product = jsonColumns(products, "p")
const environment = jsonColumns(environments, "e")

/** Whether it is overdue, though nothing may have ended it yet. */
const isOverdue = "r.state = 'running' and r.expires_at <= shown.at"

/** The run `r` of a statement with the joins of `readRun`, as of `shown.at`, its page below `shown.pages`. */
export const runJson = jsonObject(TestRunSummary, {
  id: run("id"),
  number: run("number"),
  url: "shown.pages || r.number",
  state: `case when ${isOverdue} then 'interrupted' else r.state end`,
  result: run("result"),
  gateResult: `case when r.result is not null and r.retried_elsewhere then 'failed'
    when r.result = 'failed' then coalesce(r.gate_result, 'failed') else r.result end`,
  counts: jsonObject(Counts, {
    total: run("total"),
    passed: run("passed"),
    flaky: run("flaky"),
    failed: run("failed"),
    skipped: run("skipped")
  }),
  passRate: run("passRate"),
  firstAttemptPassRate: run("firstAttemptPassRate"),
  // Of what servers of before have stored, too.
  error: `left(${run("error")}, ${maxRunErrorCharacters})`,
  product: jsonObject(TestRunSummary.fields.product, { slug: product("slug"), name: product("name") }),
  environment: jsonObject(TestRunSummary.fields.environment, {
    slug: environment("slug"),
    name: environment("name"),
    class: environment("class")
  }),
  baseUrl: run("baseUrl"),
  deploymentBaseUrl: run("deploymentBaseUrl"),
  deploymentVersion: run("deploymentVersion"),
  release: run("release"),
  deploymentChanged,
  locked: run("locked"),
  partOfTests: `not r.${isWholeSql}`,
  git: jsonObject(
    Git,
    {
      branch: run("gitBranch"),
      sha: run("gitSha"),
      dirty: run("gitDirty"),
      subject: run("gitSubject"),
      pullRequest: run("gitPullRequest")
    },
    "pullRequest"
  ),
  machine: jsonObject(Machine, { hostname: run("hostname"), platform: run("platform") }),
  ciUrl: run("ciUrl"),
  shards: `case when r.shard_total is not null then ${jsonObject(ShardCounts, {
    total: run("shardTotal"),
    started: "coalesce(r.shards_started, 0)",
    finished: "coalesce(r.shards_finished, 0)"
  })} end`,
  coverage: run("coverage"),
  cleanup: `case when r.fixture_scope is not null and r.cleanup_status is not null then ${jsonObject(Cleanup, {
    scope: run("fixtureScope"),
    expiresAt: run("expiresAt"),
    status: `case when ${isOverdue} then 'incomplete' else r.cleanup_status end`,
    deleted: run("cleanupDeleted"),
    remaining: run("cleanupRemaining")
  })} end`,
  publishedBy: actorJson("r.publisher"),
  startedAt: run("startedAt"),
  finishedAt: jsonInstant(`case when ${isOverdue} then r.expires_at else r.finished_at end`),
  durationMs: run("durationMs")
})
