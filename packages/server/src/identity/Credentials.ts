import type { Person } from "@delivery/domain/identity/Actor"
import type { Membership } from "@delivery/domain/identity/Authorization"
import type { Role } from "@delivery/domain/identity/Role"
import type { PersonId } from "@delivery/domain/Ids"
import { isId, isSlug } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { PgTypes } from "@effect/sql-pg"
import { Clock, Effect } from "effect"
import { HttpRouter } from "effect/http"
import type { SqlClient, Statement } from "effect/sql"
import { batched } from "../storage/Batched.ts"
import { column, texts } from "../storage/Columns.ts"
import { persons } from "../access/ActorRows.ts"
import type { MemoryDatabase } from "../storage/MemoryStorage.ts"
import { dieOnSqlError, prepared } from "../storage/Sql.ts"
import { memberKey, members } from "./MembersRepo.ts"
import { workspaces } from "./WorkspacesRepo.ts"

/** What a request shows: a token, and the workspace (slug or id) of its path. */
export interface Credential {
  readonly tokenHash: string
  readonly workspace: string | undefined
}

/**
 * The workspace (slug or id) that the path of a request names, if it names one. One that cannot be is looked up as one that
 * nobody has: it must not become the caller's own.
 */
export const workspaceOfPath = Effect.map(HttpRouter.params, ({ slug }) =>
  slug === undefined || isId(slug) || isSlug(slug) ? slug : ""
)

/** The time at which it is decided what works. */
export const present = Effect.map(Clock.currentTimeMillis, timestamp)

/** The membership with the role; undefined where there is no workspace, or no role in it. */
export const membershipOf = (
  workspace: Omit<Membership, "role"> | undefined,
  role: Role | null | undefined
): Membership | undefined =>
  workspace === undefined || role == null
    ? undefined
    : { id: workspace.id, slug: workspace.slug, name: workspace.name, role }

/** In the memory storage: the workspace (slug or id) that was asked for. */
export const findWorkspace = (database: MemoryDatabase, ref: string | null | undefined) =>
  ref == null ? undefined : database.table(workspaces).find((row) => row.id === ref || row.slug === ref)

/** In the memory storage: the person, and their active membership in the workspace. */
export const findPerson = (
  database: MemoryDatabase,
  id: PersonId,
  workspace: Omit<Membership, "role"> | undefined
): { readonly person: Person; readonly membership: Membership | undefined } => {
  const { email, name } = database.table(persons).get(id)!
  const member = database.table(members).get(memberKey(workspace?.id, id))
  return {
    person: { id, name, email },
    membership: membershipOf(workspace, member?.active === true ? member.role : null)
  }
}

/**
 * Looks up whose credentials are, those of requests that come at the same time in one statement.
 *
 * @param asked The credentials as a table `asked (token_hash, slug, id, place)`, for the statement to begin from.
 * @param find The rows found, each with the `place` of its credential; none for what nobody may use.
 */
export const lookUp = <Row extends { readonly place: number }, A>(
  sql: SqlClient.SqlClient,
  find: (asked: Statement.Fragment) => Statement.Statement<Row>,
  read: (row: Row) => A
): ((credential: Credential) => Effect.Effect<A | undefined>) => {
  const statement = prepared(sql, (hashes: PgTypes.Parameter, slugs: PgTypes.Parameter, ids: PgTypes.Parameter) =>
    find(askedTable(sql, hashes, slugs, ids))
  )
  return batched(
    sql,
    (asked: ReadonlyArray<Credential>) =>
      statement(...askedColumns(asked)).pipe(
        Effect.map((rows) => {
          const found = new Map(rows.map((row) => [row.place, row]))
          return asked.map((_, index) => {
            const row = found.get(index + 1)
            return row && read(row)
          })
        }),
        dieOnSqlError
      ),
    // With one, a slow look-up would hold up all.
    { running: 2 }
  )
}

const askedTable = (sql: SqlClient.SqlClient, ...columns: ReadonlyArray<PgTypes.Parameter>): Statement.Fragment =>
  sql`unnest(${columns[0]}::text[], ${columns[1]}::text[], ${columns[2]}::uuid[])
    with ordinality as asked (token_hash, slug, id, place)`

const askedColumns = (asked: ReadonlyArray<Credential>) =>
  [
    texts(asked, ({ tokenHash }) => tokenHash),
    texts(asked, ({ workspace }) => (workspace === undefined || isId(workspace) ? null : workspace)),
    column(asked, PgTypes.OID.uuid, ({ workspace }) => (workspace !== undefined && isId(workspace) ? workspace : null))
  ] as const

/** The columns of lists that are asked about again and again. */
const knownColumns = new WeakMap<ReadonlyArray<Credential>, ReturnType<typeof askedColumns>>()

const columnsOfList = (asked: ReadonlyArray<Credential>) => {
  const columns = knownColumns.get(asked) ?? askedColumns(asked)
  knownColumns.set(asked, columns)
  return columns
}

/** The number by which the family of a credential, by the id of its first one, is locked (`ApiKeysRepo.holdFamilies`). */
export const familyLock = (sql: SqlClient.SqlClient, family: Statement.Fragment): Statement.Fragment =>
  sql`hashtextextended('credentials:' || ${family}, 0)`

/** A text that changes when the rows do that are found for some credentials. */
export const stateOf = (
  sql: SqlClient.SqlClient,
  asked: ReadonlyArray<Credential>,
  find: (asked: Statement.Fragment) => Statement.Fragment
): Effect.Effect<string> =>
  asked.length === 0
    ? Effect.succeed("")
    : sql<{
        readonly state: string
      }>`select coalesce(md5(string_agg(found::text, ' ' order by found.place)), '') as state
        from (${find(askedTable(sql, ...columnsOfList(asked)))}) found`.pipe(
        Effect.map(([found]) => `${asked.length} ${found!.state}`),
        dieOnSqlError
      )
