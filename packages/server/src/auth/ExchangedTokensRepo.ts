import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, type Row, table, text } from "../storage/Table.ts"

/** Tokens of CI that were exchanged for a key, by the hash of their issuer and id, until they have expired. */
export const exchangedTokens = table("exchanged_tokens", { tokenHash: text(), expiresAt: instant() })

type ExchangedTokenRow = Row<typeof exchangedTokens>

/** Stores which tokens were exchanged. */
export class ExchangedTokensRepo extends Context.Service<
  ExchangedTokensRepo,
  {
    /** Uses a token up, and forgets those that have expired. Of those who try at once, one gets true. */
    readonly use: (token: ExchangedTokenRow, now: Timestamp) => Effect.Effect<boolean>
  }
>()("@delivery/server/auth/ExchangedTokensRepo") {}
