import type { EnvironmentId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { isId } from "@delivery/domain/Text"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import type { ActorRef } from "../access/Access.ts"
import { actorColumns, actorJoins, type ActorRow, readActor, selectPersonBehind } from "../access/Actors.ts"
import { uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, partReaderOf, readerOf, type SelectedRow, updateById } from "../storage/Table.ts"
import {
  type ApprovalFilter,
  type ApprovalRow,
  approvals,
  ApprovalsRepo,
  type FoundApproval,
  type Moment
} from "./ApprovalsRepo.ts"
import { environments } from "./EnvironmentsRepo.ts"

export const layer = Layer.effect(
  ApprovalsRepo,
  Effect.map(PgClient.PgClient, (sql) => {
    const insert = insertInto(sql, approvals)
    const update = updateById(sql, approvals, [
      "decision",
      "decidedByKind",
      "decidedById",
      "deciderCredentialId",
      "decidedAt",
      "decisionReason",
      "expiresAt",
      "endedByKind",
      "endedById",
      "endedAt"
    ])
    return ApprovalsRepo.of({
      insert: (approval) => dieOnSqlError(insert(approval)),
      update: (approval) => dieOnSqlError(update(approval)),
      find: find(sql),
      lock: lock(sql),
      list: list(sql),
      hasPending: hasPending(sql),
      hold: hold(sql),
      personsBehind: personsBehind(sql)
    })
  })
)

/** Whether a credential works, and the workspace lets it in. */
const works = (sql: PgClient.PgClient, credential: string, at: Moment): Statement.Fragment =>
  sql`(not exists (select from credential_blocks b
      where b.workspace_id = a.workspace_id and b.credential_id = ${sql.literal(credential)})
    and (exists (select from api_keys k where k.id = ${sql.literal(credential)} and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > ${date(at.now)}))
      or exists (select from web_sessions s where s.id = ${sql.literal(credential)}
        and s.created_at > ${date(at.beganAfter)} and s.last_seen_at > ${date(at.seenAfter)})))`

/** Whether a person is a member with one of the roles. */
const isMember = (sql: PgClient.PgClient, person: string, roles: string): Statement.Fragment =>
  sql.literal(`exists (select from members m where m.workspace_id = a.workspace_id and m.person_id = ${person}
    and m.active and m.role in (${roles}))`)

/** Whether who asked, and who approved, are still whom and what they did it with. */
const stands = (sql: PgClient.PgClient, at: Moment): Statement.Fragment =>
  sql`(${works(sql, "a.requester_credential_id", at)}
    and (a.requested_by_kind <> 'user' or ${isMember(sql, "a.requested_by_id", "'member', 'admin', 'owner'")})
    and (a.decision is null
      or ${works(sql, "a.decider_credential_id", at)} and ${isMember(sql, "a.decided_by_id", "'admin', 'owner'")}))`

/** The state of the approval `a`. In memory: `stateOf` of `ApprovalsMemory`. */
const stateOf = (sql: PgClient.PgClient, at: Moment): Statement.Fragment =>
  sql`case
    when a.ended_at is not null then case
      when a.decision is null and (a.ended_by_id = a.requested_by_id or a.ended_by_id = any(a.requester_persons))
      then 'withdrawn' else 'ended' end
    when a.decision = 'rejected' then 'rejected'
    when a.expires_at <= ${date(at.now)} then 'expired'
    when not ${stands(sql, at)} then 'ended'
    when a.decision is null then 'pending' else 'approved' end`

const environmentColumns = ["id", "slug", "name", "class", "emoji", "archivedAt"] as const

type Selected = SelectedRow & Pick<FoundApproval, "state">

const readRow = readerOf(approvals)
const readEnvironment = partReaderOf(environments, environmentColumns, { as: "environment" })

/** One of the actors of a row, by the name of its columns. */
const actorOf = (row: SelectedRow, name: string) =>
  readActor({
    actorKind: row[`${name}Kind`],
    actorId: row[`${name}Id`],
    actorName: row[`${name}Name`],
    actorEmail: row[`${name}Email`],
    actorPerson: row[`${name}Person`]
  } as ActorRow)

const readFound = (row: Selected): FoundApproval => {
  const approval = readRow(row)
  const { environmentId: id, ...environment } = {
    environmentId: approval.environmentId,
    ...readEnvironment(row)
  }
  return {
    ...approval,
    state: row.state,
    environment: { ...environment, id },
    requestedBy: actorOf(row, "requestedBy"),
    decidedBy: approval.decidedById === null ? null : actorOf(row, "decidedBy"),
    endedBy: approval.endedById === null ? null : actorOf(row, "endedBy")
  }
}

const people = [
  ["a.requested_by", "requestedBy"],
  ["a.decided_by", "decidedBy"],
  ["a.ended_by", "endedBy"]
] as const

const select = (sql: PgClient.PgClient, at: Moment, where: Statement.Fragment): Statement.Statement<Selected> => {
  const [requester, decider, ender] = people.map(([column, name]) => actorColumns(sql, column, name))
  const [ofRequester, ofDecider, ofEnder] = people.map(([column, name]) => actorJoins(sql, column, name))
  return sql<Selected>`select ${sql.literal(columnsOf(approvals, { of: "a" }))},
      ${sql.literal(columnsOf(environments, { of: "e", as: "environment", only: environmentColumns }))},
      ${requester!}, ${decider!}, ${ender!}, ${stateOf(sql, at)} as state
    from approvals a join environments e on e.id = a.environment_id
      ${ofRequester!} ${ofDecider!} ${ofEnder!}
    where ${where}`
}

const find =
  (sql: PgClient.PgClient): ApprovalsRepo["Service"]["find"] =>
  (workspaceId, id, at) =>
    isId(id)
      ? select(sql, at, sql`a.workspace_id = ${workspaceId} and a.id = ${id}`).pipe(
          Effect.map((rows) => rows.map(readFound)[0]),
          dieOnSqlError
        )
      : Effect.undefined

/**
 * The number by which an approval is locked. Rows would not do: who locks one for itself waits as long as others keep sharing it, and
 * whoever writes again and again could keep an approval from being ended.
 */
const numberOf = (sql: PgClient.PgClient, id: Statement.Fragment): Statement.Fragment =>
  sql`hashtextextended('approval:' || ${id}, 0)`

const lock = (sql: PgClient.PgClient): ApprovalsRepo["Service"]["lock"] => {
  const read = find(sql)
  return (workspaceId, id, at) =>
    isId(id)
      ? Effect.andThen(
          dieOnSqlError(sql`select pg_advisory_xact_lock(${numberOf(sql, sql`${id}::text`)})::text`),
          // A statement of its own: it must see what was committed while the one before waited.
          read(workspaceId, id, at)
        )
      : Effect.undefined
}

const list =
  (sql: PgClient.PgClient): ApprovalsRepo["Service"]["list"] =>
  (workspaceId: WorkspaceId, { cursor, environmentId, state }: ApprovalFilter, at: Moment, limit: number) =>
    select(
      sql,
      at,
      sql`a.workspace_id = ${workspaceId}
        ${environmentId === undefined ? sql.literal("") : sql`and a.environment_id = ${environmentId}`}
        ${cursor === undefined ? sql.literal("") : sql`and a.id < ${cursor}`}
        ${state === undefined ? sql.literal("") : sql`and ${stateOf(sql, at)} = ${state}`}
      order by a.id desc limit ${limit}`
    ).pipe(
      Effect.map((rows) => rows.map(readFound)),
      dieOnSqlError
    )

const ofActor = (sql: PgClient.PgClient, actor: ActorRef, at: Moment): Statement.Fragment =>
  sql`a.requested_by_kind = ${actor.kind} and a.requested_by_id = ${actor.id} and a.expires_at > ${date(at.now)}`

const hasPending =
  (sql: PgClient.PgClient): ApprovalsRepo["Service"]["hasPending"] =>
  (environmentId: EnvironmentId, actor: ActorRef, at: Moment) =>
    sql`select 1 from approvals a where a.environment_id = ${environmentId} and ${ofActor(sql, actor, at)}
      and ${stateOf(sql, at)} = 'pending' limit 1`.pipe(
      Effect.map((rows) => rows.length > 0),
      dieOnSqlError
    )

const hold =
  (sql: PgClient.PgClient): ApprovalsRepo["Service"]["hold"] =>
  (ids: ReadonlyArray<EnvironmentId>, actor: ActorRef, at: Moment) =>
    Effect.gen(function* () {
      const found = yield* sql<Pick<ApprovalRow, "id">>`select a.id from approvals a
        where a.environment_id = any(${uuids(ids)}) and ${ofActor(sql, actor, at)} and a.decision = 'approved'
          and a.ended_at is null order by a.id`
      for (const { id } of found) {
        yield* sql`select pg_advisory_xact_lock_shared(${numberOf(sql, sql`${id}::text`)})::text`
      }
      if (found.length === 0) return []
      // A statement of its own: it must see what was committed while the one before waited.
      return yield* sql<Pick<ApprovalRow, "id" | "environmentId">>`select a.id, a.environment_id as "environmentId"
        from approvals a where a.id = any(${uuids(found.map(({ id }) => id))}) and ${stateOf(sql, at)} = 'approved'
        order by a.id`
    }).pipe(dieOnSqlError)

const personsBehind =
  (sql: PgClient.PgClient): ApprovalsRepo["Service"]["personsBehind"] =>
  ({ id, kind }: ActorRef) =>
    sql<{ readonly id: PersonId }>`${selectPersonBehind(sql, sql`${kind}::text`, sql`${id}::uuid`)}`.pipe(
      Effect.map((rows) => rows.map((row) => row.id)),
      dieOnSqlError
    )
