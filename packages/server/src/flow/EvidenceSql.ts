import { maxShownName } from "@delivery/domain/flow/ShownName"
import type { PersonId, TicketId, TicketStatusId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { actorRows, selectPersonBehind } from "../access/Actors.ts"
import { testsDeployment, testsDeploymentNow } from "../runs/TestedAddress.ts"
import { beganBySql } from "../runs/TestTimes.ts"
import { texts } from "../storage/Columns.ts"
import { dieOnSqlError, iso } from "../storage/Sql.ts"
import {
  EvidenceRepo,
  type EvidenceResult,
  evidenceRuns,
  type HeldTicket,
  olderFailures,
  olderInterrupted,
  olderResults
} from "./EvidenceRepo.ts"

export const layer = Layer.effect(
  EvidenceRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    EvidenceRepo.of({
      results: results(sql),
      personsOf: personsOf(sql),
      makersOf: makersOf(sql),
      needing: needing(sql),
      holding: holding(sql)
    })
  )
)

type Repo = EvidenceRepo["Service"]

interface ResultRow extends Omit<EvidenceResult, "finishedAt" | "keyMadeAt" | "publisher" | "startedAt"> {
  readonly finishedAt: Date
  readonly startedAt: Date | null
  readonly keyMadeAt: Date | null
  readonly publisherKind: ActorRef["kind"]
  readonly publisherId: ActorRef["id"]
}

/** Each run and its tests are looked up by themselves (`offset 0`): the planner takes them to be many, and would read those of all products. */
const results =
  (sql: PgClient.PgClient): Repo["results"] =>
  (workspaceId, productId, caseIds) => {
    const ids = texts(caseIds, (caseId) => caseId)
    const isOlder = (number: string) => sql`${sql.literal(number)} < (select min(number) from newest)`
    /** The key of the index has whether it failed before the number. */
    const olderOf = (which: "f.failed" | "not f.failed") => sql`select f.number from case_results f
      where f.series_id = series.id and ${sql.literal(which)} and ${isOlder("f.number")}
      order by f.number desc limit ${sql.literal(String(olderResults))}`
    const committed = sql`select l.number from (
        select f.number from case_results f where f.series_id = series.id and f.failed and ${isOlder("f.number")}
        order by f.number desc limit ${sql.literal(String(olderFailures))}
      ) l cross join lateral (
        select git_dirty from test_runs where workspace_id = ${workspaceId} and number = l.number offset 0
      ) r where not r.git_dirty order by l.number desc limit ${sql.literal(String(olderResults))}`
    return sql<ResultRow>`with newest as materialized (
        select r.id, r.number from test_runs r
        where r.workspace_id = ${workspaceId} and r.product_id = ${productId}
          and (r.result is not null or (r.state = 'interrupted' and r.finished_at is not null))
        order by r.number desc limit ${sql.literal(String(evidenceRuns))}
      ), tested as (
        select unnest(${ids}) as case_id
      ), series as (
        select tested.case_id, s.id from tested
        join test_cases c on c.workspace_id = ${workspaceId} and c.product_id = ${productId} and c.scope_id = ${productId}
          and c.case_id = tested.case_id
        join test_cases s on s.whole_id = c.id
      ), older as (
        select distinct series.case_id, o.number from series cross join lateral (
          (${olderOf("f.failed")}) union all (${committed}) union all (${olderOf("not f.failed")})
        ) o
      ), looked as (
        select id from newest
        union all
        (select id from test_runs where workspace_id = ${workspaceId} and product_id = ${productId}
          and state = 'interrupted' and finished_at is not null and ${isOlder("number")}
        order by number desc limit ${sql.literal(String(olderInterrupted))})
      ), found as (
        select t.* from looked cross join lateral (
          select run_id, case_id, title, status, attempt_started_at from test_run_tests where run_id = looked.id and case_id = any(${ids}) offset 0
        ) t
        union all
        select t.* from older cross join lateral (
          select id from test_runs where workspace_id = ${workspaceId} and number = older.number and result is not null offset 0
        ) r cross join lateral (
          select run_id, case_id, title, status, attempt_started_at from test_run_tests where run_id = r.id and case_id = older.case_id offset 0
        ) t
      )
      select t.case_id as "caseId", left(t.title, ${maxShownName}) as title, r.id as run, r.number, t.status, e.slug as environment, r.git_branch as branch,
        r.git_sha as commit, r.git_dirty as dirty, ${testsDeploymentNow(sql, "r")} as "isOfDeployment",
        ${testsDeployment(sql, "r")} as "wasOfDeployment",
        r.deployment_changed is not distinct from true as "deploymentChanged",
        e.archived_at is null as "isActive", r.finished_at as "finishedAt", ${sql.literal(beganBySql("t.attempt_started_at", "r.finished_at"))} as "startedAt",
        (${selectPersonBehind(sql, sql`'apiKey'`, sql`k.id`)}) as "keyMaker", k.created_at as "keyMadeAt",
        k.name as "keyName",
        r.publisher_kind as "publisherKind", r.publisher_id as "publisherId",
        case r.publisher_kind when 'user' then r.publisher_id
          when 'agent' then (select a.person_id from agents a where a.id = r.publisher_id) end as "personId"
      from found t cross join lateral (select * from test_runs where id = t.run_id offset 0) r
        join environments e on e.id = r.environment_id
        left join api_keys k on r.publisher_kind = 'apiKey' and k.id = r.publisher_id
      where t.status <> 'skipped' and (r.result is not null or t.status = 'failed') order by r.number desc`.pipe(
      Effect.map((rows) =>
        rows.map(({ finishedAt, keyMadeAt, publisherId, publisherKind, startedAt, ...row }) => ({
          ...row,
          finishedAt: iso(finishedAt),
          startedAt: startedAt && iso(startedAt),
          keyMadeAt: keyMadeAt && iso(keyMadeAt),
          publisher: { kind: publisherKind, id: publisherId } as ActorRef
        }))
      ),
      dieOnSqlError
    )
  }

const personsOf =
  (sql: PgClient.PgClient): Repo["personsOf"] =>
  (owners) =>
    sql<{ readonly id: string }>`select distinct case o.kind when 'user' then o.id
        else (select a.person_id from agents a where a.id = o.id) end as id
      from ${actorRows(sql, owners)} as o (kind, id)`.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      dieOnSqlError
    )

const makersOf =
  (sql: PgClient.PgClient): Repo["makersOf"] =>
  (key, since) =>
    sql<{ readonly id: PersonId }>`select maker.id from api_keys k
        cross join lateral (${selectPersonBehind(sql, sql`'apiKey'`, sql`k.id`)}) maker
      where k.id = ${key} and k.created_at > ${since}`.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      dieOnSqlError
    )

const needing = (sql: PgClient.PgClient) => (status: TicketStatusId) =>
  sql<{ readonly id: TicketId }>`select id from tickets where status_id = ${status} and completion = 'evidence'
    order by id`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )

const holding =
  (sql: PgClient.PgClient): Repo["holding"] =>
  (workspaceId, of) =>
    sql<Omit<HeldTicket, "team"> & { readonly key: string }>`select t.id, team.key, t.number, t.title
      from tickets t join teams team on team.id = t.team_id
        join ticket_statuses s on s.id = t.status_id and s.category not in ('completed', 'canceled')
      where t.workspace_id = ${workspaceId} and t.blocks and t.completion = 'evidence'
        and ${"teamId" in of ? sql`t.team_id = ${of.teamId}` : sql`t.project_id = ${of.projectId}`}
        and exists (select 1 from project_products l where l.workspace_id = t.workspace_id and l.project_id = t.project_id)`.pipe(
      Effect.map((rows) => rows.map(({ key, ...ticket }) => ({ ...ticket, team: { key } }))),
      dieOnSqlError
    )
