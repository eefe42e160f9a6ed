import type { WebhookAttempt } from "@delivery/domain/webhooks/Webhook"
import type { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import { keptAttempts } from "./WebhooksRepo.ts"

/** Whether the workspace has blocked the credential that the webhook `w` was made with (docs/contract.md, Credentials). */
export const isBlocked = `exists (select from credential_blocks b
  where b.workspace_id = w.workspace_id and b.credential_id = w.maker_id)`

/** The attempts of a delivery with one more, of which the newest are kept. */
export const withAttempt = (sql: PgClient.PgClient, attempts: string, attempt: WebhookAttempt): Statement.Fragment =>
  sql`(select jsonb_agg(kept.one order by kept.number) from (
    select one, number from jsonb_array_elements(${sql.literal(attempts)} || ${sql.json([attempt])}::jsonb)
      with ordinality as a (one, number) order by number desc limit ${keptAttempts}) as kept)`
