import { maxShownName } from "@delivery/domain/flow/ShownName"
import type { TicketId, TicketStatusId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { actorRows } from "../access/Actors.ts"
import { texts } from "../storage/Columns.ts"
import { dieOnSqlError, iso } from "../storage/Sql.ts"
import { EvidenceRepo, type EvidenceResult, evidenceRuns } from "./EvidenceRepo.ts"

export const layer = Layer.effect(
  EvidenceRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    EvidenceRepo.of({ results: results(sql), personsOf: personsOf(sql), needing: needing(sql) })
  )
)

type Repo = EvidenceRepo["Service"]

interface ResultRow extends Omit<EvidenceResult, "finishedAt" | "publisher"> {
  readonly finishedAt: Date
  readonly publisherKind: ActorRef["kind"]
  readonly publisherId: ActorRef["id"]
}

const results =
  (sql: PgClient.PgClient): Repo["results"] =>
  (workspaceId, productId, caseIds) =>
    sql<ResultRow>`with newest as materialized (
        select r.id, r.number, r.git_sha, r.git_branch, r.environment_id, r.finished_at, r.publisher_kind, r.publisher_id from test_runs r
        where r.workspace_id = ${workspaceId} and r.product_id = ${productId} and r.result is not null
        order by r.number desc limit ${sql.literal(String(evidenceRuns))}
      )
      select t.case_id as "caseId", left(t.title, ${maxShownName}) as title, r.id as run, r.number, t.status, e.slug as environment, r.git_branch as branch,
        r.git_sha as commit, r.finished_at as "finishedAt",
        r.publisher_kind as "publisherKind", r.publisher_id as "publisherId",
        case r.publisher_kind when 'user' then r.publisher_id
          when 'agent' then (select a.person_id from agents a where a.id = r.publisher_id) end as "personId"
      from newest r join test_run_tests t on t.run_id = r.id and t.case_id = any(${texts(caseIds, (caseId) => caseId)})
        join environments e on e.id = r.environment_id
      where t.status <> 'skipped' order by r.number desc`.pipe(
      Effect.map((rows) =>
        rows.map(({ finishedAt, publisherId, publisherKind, ...row }) => ({
          ...row,
          finishedAt: iso(finishedAt),
          publisher: { kind: publisherKind, id: publisherId } as ActorRef
        }))
      ),
      dieOnSqlError
    )

const personsOf =
  (sql: PgClient.PgClient): Repo["personsOf"] =>
  (owners) =>
    sql<{ readonly id: string }>`select distinct case o.kind when 'user' then o.id
        else (select a.person_id from agents a where a.id = o.id) end as id
      from ${actorRows(sql, owners)} as o (kind, id)`.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      dieOnSqlError
    )

const needing = (sql: PgClient.PgClient) => (status: TicketStatusId) =>
  sql<{ readonly id: TicketId }>`select id from tickets where status_id = ${status} and completion = 'evidence'
    order by id`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id)),
    dieOnSqlError
  )
