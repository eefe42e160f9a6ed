import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteExpired } from "../storage/Expiry.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { exchangedTokens, ExchangedTokensRepo } from "./ExchangedTokensRepo.ts"

export const layer = Layer.effect(
  ExchangedTokensRepo,
  Effect.map(SqlClient.SqlClient, (sql) => ExchangedTokensRepo.of({ use: use(sql) }))
)

const use = (sql: SqlClient.SqlClient): ExchangedTokensRepo["Service"]["use"] => {
  const deleteOld = deleteExpired(sql, exchangedTokens, { key: ["tokenHash"], until: "expiresAt" })
  return ({ expiresAt, tokenHash }, now) =>
    deleteOld(now).pipe(
      Effect.andThen(sql`insert into exchanged_tokens (token_hash, expires_at) values (${tokenHash}, ${date(expiresAt)})
        on conflict do nothing returning 1`),
      Effect.map((rows) => rows.length > 0),
      dieOnSqlError
    )
}
