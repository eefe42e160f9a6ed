import type { WebhookId, WorkspaceId } from "@delivery/domain/Ids"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { dieOnSqlError } from "../storage/Sql.ts"
import { SealedSecrets } from "../vault/SealedSecrets.ts"
import { secretPurpose } from "./Tries.ts"

/** The vault's `SealedSecrets` in a database: what signs events, and what still does so beside it. */
export const layer = Layer.effect(
  SealedSecrets,
  Effect.map(PgClient.PgClient, (sql) =>
    SealedSecrets.of({
      list: (after, limit) =>
        sql<Listed>`select place, id, workspace_id as "workspaceId", sealed from (
            select id::text || ':secret' as place, id, workspace_id, secret as sealed from webhooks
            union all
            select id::text || ':previous_secret', id, workspace_id, previous_secret from webhooks
              where previous_secret is not null
          ) w where place collate "C" > ${after} order by place collate "C" limit ${limit}`.pipe(
          Effect.map((rows) => rows.map(({ id, ...row }) => ({ ...row, purpose: secretPurpose(id) }))),
          dieOnSqlError
        ),
      replace: ({ place, sealed: before }, sealed) => {
        const [id, column = ""] = place.split(":")
        return sql`update webhooks set ${sql(column)} = ${sealed} where id = ${id} and ${sql(column)} = ${before}
          returning id`.pipe(
          Effect.map((rows) => rows.length > 0),
          dieOnSqlError
        )
      }
    })
  )
)

interface Listed {
  readonly place: string
  readonly id: WebhookId
  readonly workspaceId: WorkspaceId
  readonly sealed: Uint8Array
}
