import { isId, isSlug } from "@delivery/domain/Text"
import { PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import type { SqlClient, Statement } from "effect/sql"
import { batched } from "../storage/Batched.ts"
import { column, texts } from "../storage/Columns.ts"
import { dieOnSqlError, prepared } from "../storage/Sql.ts"

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
    find(sql`unnest(${hashes}::text[], ${slugs}::text[], ${ids}::uuid[])
      with ordinality as asked (token_hash, slug, id, place)`)
  )
  return batched(
    sql,
    (asked: ReadonlyArray<Credential>) =>
      statement(
        texts(asked, ({ tokenHash }) => tokenHash),
        texts(asked, ({ workspace }) => (workspace === undefined || isId(workspace) ? null : workspace)),
        column(asked, PgTypes.OID.uuid, ({ workspace }) =>
          workspace !== undefined && isId(workspace) ? workspace : null
        )
      ).pipe(
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
