import type { Role } from "@delivery/domain/identity/Role"
import type { Scopes } from "@delivery/domain/Scope"
import type { ApiKeyId, PersonId, WorkspaceId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { apiKeys } from "../access/ActorRows.ts"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { uuids } from "../storage/Columns.ts"
import { date, dieOnSqlError, iso } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, selectFrom } from "../storage/Table.ts"
import { touchRows } from "../storage/Touch.ts"
import { ApiKeysRepo, type Authenticated, type KeyOwnerId, type KeyWithActor } from "./ApiKeysRepo.ts"
import { familyLock, lookUp, membershipOf, present, stateOf } from "./Credentials.ts"

export const layer = Layer.effect(
  ApiKeysRepo,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const insert = insertInto(sql, apiKeys)
    return ApiKeysRepo.of({
      insert: (key) => dieOnSqlError(insert(key)),
      ofPerson: (personId) => live(sql, sql`person_id = ${personId}`),
      ofWorkspace: (workspaceId) => liveWithActors(sql, sql`k.workspace_id = ${workspaceId}`),
      actingIn: (workspaceId) =>
        liveWithActors(
          sql,
          sql`(k.workspace_id = ${workspaceId} or k.person_id in (
            select person_id from members where workspace_id = ${workspaceId} and active))`
        ),
      madeBy: madeBy(sql),
      end: end(sql),
      cutOff: cutOff(sql),
      madeWith: (maker) => live(sql, sql`maker_id = ${maker}`),
      publisherOf: publisherOf(sql),
      endExpired: endExpired(sql),
      holdMaker: holdMaker(sql),
      holdFamilies: holdFamilies(sql),
      holdFamilyOf: holdFamilyOf(sql),
      holdChain: holdChain(sql),
      ofToken: ofToken(sql),
      authenticate: authenticate(sql),
      state: state(sql),
      touch: touchRows(sql, apiKeys, "lastUsedAt", "wait")
    })
  })
)

const readRow = readerOf(apiKeys)

const isLive = (sql: PgClient.PgClient, now: Timestamp, of: "" | "k." = "") =>
  sql`${sql.literal(of)}revoked_at is null
    and (${sql.literal(of)}expires_at is null or ${sql.literal(of)}expires_at > ${date(now)})`

/** What was made with which credential: keys, and the trusted publishers that give some. */
const made = `(select id, maker_id from api_keys union all select id, maker_id from trusted_publishers)`

/** Keys that work, newest first. */
const live = (sql: PgClient.PgClient, owner: Statement.Fragment) =>
  Effect.flatMap(present, (now) =>
    sql<SelectedRow>`${selectFrom(sql, apiKeys)} where ${owner} and ${isLive(sql, now)}
      order by created_at desc, id desc`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )
  )

/** The same, with who made them. */
const liveWithActors = (
  sql: PgClient.PgClient,
  owner: Statement.Fragment
): Effect.Effect<ReadonlyArray<KeyWithActor>> =>
  Effect.flatMap(present, (now) =>
    sql<SelectedRow & ActorRow>`select ${sql.literal(columnsOf(apiKeys, { of: "k" }))},
        ${actorColumns(sql, "k.created_by")}
      from api_keys k ${actorJoins(sql, "k.created_by")}
      where ${owner} and ${isLive(sql, now, "k.")} order by k.created_at desc, k.id desc`.pipe(
      Effect.map((rows) =>
        rows.map((row) => {
          const key = readRow(row)
          return { ...key, createdBy: key.createdByKind === null ? null : readActor(row) }
        })
      ),
      dieOnSqlError
    )
  )

const madeBy = (sql: PgClient.PgClient) => (workspaceId: WorkspaceId, personId: PersonId) =>
  sql<SelectedRow>`with recursive made as (
      select id from api_keys where workspace_id = ${workspaceId} and created_by_id = ${personId}
      union
      select k.id from made join api_keys k on k.workspace_id = ${workspaceId} and k.created_by_id = made.id
    )
    ${selectFrom(sql, apiKeys)} where id in (select id from made)`.pipe(
    Effect.map((rows) => rows.map(readRow)),
    dieOnSqlError
  )

const ownedBy = (sql: PgClient.PgClient, owner: KeyOwnerId | "anyone"): Statement.Fragment => {
  if (owner === "anyone") return sql.literal("true")
  return "personId" in owner ? sql`person_id = ${owner.personId}` : sql`workspace_id = ${owner.workspaceId}`
}

/** The rows are locked in the order of their ids, as those of `touch` are. */
const end = (sql: PgClient.PgClient): ApiKeysRepo["Service"]["end"] => {
  const hold = holdFamilies(sql)
  const cut = cutOff(sql)
  return (id, owner, { at, keptBy }) =>
    Effect.gen(function* () {
      yield* hold([id], "alone")
      const chain = sql`with recursive chain as (
          select id from api_keys where id = ${id} and ${isLive(sql, at)} and ${ownedBy(sql, owner)}
          union
          select k.id from chain c join api_keys k on k.maker_id = c.id
          where ${keptBy === undefined ? sql.literal("true") : sql.literal("k.workspace_id is null")}
        )`
      if (keptBy !== undefined) {
        yield* lockChains(sql, [id])
        const kept = yield* sql<{ readonly id: ApiKeyId }>`${chain}
          select k.id from chain c join api_keys k on k.maker_id = c.id where k.workspace_id is not null`
        yield* cut(
          kept.map((key) => key.id),
          keptBy
        )
      }
      const rows = yield* sql<SelectedRow>`${chain}, held as (
          select id from api_keys where id in (select id from chain) and ${isLive(sql, at)} order by id for update
        )
        update api_keys set revoked_at = ${date(at)} where id in (select id from held)
        returning ${sql.literal(columnsOf(apiKeys))}`
      return rows.map(readRow)
    }).pipe(dieOnSqlError)
}

/** Locks the keys, and what was made with them, in the order of their ids. */
const lockChains = (sql: PgClient.PgClient, ids: ReadonlyArray<string>) =>
  sql`with recursive chain as (
      select unnest(${uuids(ids)}::uuid[]) as id
      union select k.id from chain c join ${sql.literal(made)} k on k.maker_id = c.id
    )
    select from api_keys where id in (select id from chain) order by id for update`

const cutOff = (sql: PgClient.PgClient): ApiKeysRepo["Service"]["cutOff"] => {
  const hold = holdFamilies(sql)
  return (ids, keptBy) =>
    Effect.gen(function* () {
      if (ids.length === 0) return
      yield* hold(ids, "alone")
      yield* lockChains(sql, ids)
      yield* sql`with recursive kept as (
          select id, id as root from api_keys where id = any(${uuids(ids)}::uuid[]) and coalesce(family_id, id) <>
            coalesce((select coalesce(family_id, id) from api_keys where id = ${keptBy}), ${keptBy}::uuid)
          union
          select k.id, c.root from kept c join ${sql.literal(made)} k on k.maker_id = c.id and k.id <> all(${uuids(ids)}::uuid[])
        )
        update api_keys k set maker_id = case when k.id = c.root then null else k.maker_id end,
          family_id = nullif(c.root, k.id)
        from kept c where k.id = c.id`
    }).pipe(dieOnSqlError)
}

const publisherOf = (sql: PgClient.PgClient) => (id: string) =>
  sql<{ readonly id: string }>`select p.id from api_keys k join trusted_publishers p on p.id = k.maker_id
    where k.id = ${id}`.pipe(
    Effect.map(([row]) => row?.id),
    dieOnSqlError
  )

const endExpired =
  (sql: PgClient.PgClient): ApiKeysRepo["Service"]["endExpired"] =>
  (by, limit) =>
    // Keys that are in use are left to the next round: they are locked in the order of their ids elsewhere.
    sql<SelectedRow>`update api_keys set revoked_at = expires_at where id in (
        select id from api_keys where revoked_at is null and expires_at <= ${date(by)}
        order by id limit ${limit} for update skip locked
      ) returning ${sql.literal(columnsOf(apiKeys))}`.pipe(
      Effect.map((rows) => rows.map(readRow)),
      dieOnSqlError
    )

const holdFamily = (sql: PgClient.PgClient, family: string, how: "shared" | "alone") => {
  const lock = familyLock(sql, sql`${family}::text`)
  return how === "alone"
    ? sql`select pg_advisory_xact_lock(${lock})::text`
    : sql`select pg_advisory_xact_lock_shared(${lock})::text`
}

/** A credential may be in another family by the time that it is held: it was cut off meanwhile. */
const holdFamilies =
  (sql: PgClient.PgClient): ApiKeysRepo["Service"]["holdFamilies"] =>
  (ids, how) =>
    Effect.gen(function* () {
      const held = new Set<string>()
      while (true) {
        const found = yield* sql<{ readonly family: string }>`select distinct coalesce(k.family_id, c.id) as family
          from unnest(${uuids(ids)}::uuid[]) as c (id) left join api_keys k on k.id = c.id order by family`
        const next = found.filter(({ family }) => !held.has(family))
        if (next.length === 0) return
        for (const { family } of next) {
          yield* holdFamily(sql, family, how)
          held.add(family)
        }
      }
    }).pipe(dieOnSqlError)

const holdMaker = (sql: PgClient.PgClient): ApiKeysRepo["Service"]["holdMaker"] => {
  const find = (id: string) =>
    Effect.flatMap(present, (now) =>
      Effect.map(
        sql<{ readonly family: string; readonly expiresAt: Date | null }>`select coalesce(family_id, id) as family,
          expires_at as "expiresAt" from api_keys where id = ${id} and ${isLive(sql, now)}`,
        (rows) => rows[0]
      )
    )
  return (id) =>
    Effect.gen(function* () {
      // It may have ended, or be in another family, once the lock was waited for.
      for (let family: string | undefined; ;) {
        const found = yield* find(id)
        if (found === undefined) return undefined
        if (found.family === family) return { id, family, expiresAt: found.expiresAt && iso(found.expiresAt) }
        family = found.family
        yield* holdFamily(sql, family, "shared")
      }
    }).pipe(dieOnSqlError)
}

const holdFamilyOf = (sql: PgClient.PgClient): ApiKeysRepo["Service"]["holdFamilyOf"] => {
  const hold = holdFamilies(sql)
  return (id) =>
    Effect.gen(function* () {
      yield* hold([id], "shared")
      const [key] = yield* sql<{ readonly family: string }>`select coalesce(family_id, id) as family
        from api_keys where id = ${id}`
      return key?.family ?? id
    }).pipe(dieOnSqlError)
}

const holdChain = (sql: PgClient.PgClient): ApiKeysRepo["Service"]["holdChain"] => {
  const hold = holdFamilies(sql)
  return (id) =>
    Effect.gen(function* () {
      yield* hold([id], "alone")
      const rows = yield* sql<{ readonly id: string }>`with recursive chain as (
          select ${id}::uuid as id union select k.id from chain c join ${sql.literal(made)} k on k.maker_id = c.id
        )
        select id from chain`
      return rows.map((row) => row.id)
    }).pipe(dieOnSqlError)
}

const ofToken = (sql: PgClient.PgClient) => (tokenHash: string) =>
  sql<SelectedRow>`${selectFrom(sql, apiKeys)} where token_hash = ${tokenHash}`.pipe(
    Effect.map((rows) => rows.map(readRow)[0]),
    dieOnSqlError
  )

const findAuthenticated = (sql: PgClient.PgClient) => (asked: Statement.Fragment) =>
  sql<AuthenticatedRow>`select asked.place::int as place, k.id as "keyId", k.name as "keyName", k.scopes,
        k.expires_at as "expiresAt",
        p.id as "personId", p.name as "personName", p.email, w.id as "workspaceId", w.slug,
        w.name as "workspaceName",
        case when exists (select from credential_blocks b where b.workspace_id = w.id and b.credential_id = k.id) then null
          when k.person_id is not null then m.role when k.workspace_id = w.id then k.role end as role
      from ${asked}
      join api_keys k on k.token_hash = asked.token_hash and k.revoked_at is null
      left join persons p on p.id = k.person_id
      left join workspaces w on w.id = coalesce((select id from workspaces where slug = asked.slug), asked.id,
        case when asked.slug is null then k.workspace_id end)
      left join members m on m.workspace_id = w.id and m.person_id = k.person_id and m.active`

const authenticate = (sql: PgClient.PgClient) => {
  const find = lookUp(sql, findAuthenticated(sql), readAuthenticated)
  // Expiry is decided here, so that the look-ups of a moment need no time in common.
  return (tokenHash: string, workspace: string | undefined) =>
    Effect.zipWith(find({ tokenHash, workspace }), present, (found, now) =>
      found === undefined || (found.expiresAt !== null && found.expiresAt <= now) ? undefined : found.authenticated
    )
}

const state =
  (sql: PgClient.PgClient): ApiKeysRepo["Service"]["state"] =>
  (asked) =>
    Effect.flatMap(present, (now) =>
      stateOf(
        sql,
        asked,
        (asked) => sql`select f.*, f."expiresAt" <= ${date(now)} as "isOver" from (${findAuthenticated(sql)(asked)}) f`
      )
    )

interface AuthenticatedRow {
  /** Of the credential among those asked for, from 1. */
  readonly place: number
  readonly keyId: ApiKeyId
  readonly keyName: string
  readonly scopes: Scopes
  readonly expiresAt: Date | null
  readonly personId: PersonId | null
  readonly personName: string
  readonly email: string
  readonly workspaceId: WorkspaceId
  readonly slug: string
  readonly workspaceName: string
  readonly role: Role | null
}

const readAuthenticated = (
  row: AuthenticatedRow
): { readonly expiresAt: Timestamp | null; readonly authenticated: Authenticated } => ({
  expiresAt: row.expiresAt && iso(row.expiresAt),
  authenticated: {
    keyId: row.keyId,
    scopes: row.scopes,
    principal:
      row.personId === null
        ? { kind: "apiKey", id: row.keyId, name: row.keyName }
        : { kind: "user", id: row.personId, name: row.personName, email: row.email },
    membership: membershipOf({ id: row.workspaceId, slug: row.slug, name: row.workspaceName }, row.role)
  }
})
