import { Effect } from "effect"
import { PgClient } from "@effect/sql-pg"
import { EmbeddedDatabase } from "../../src/storage/EmbeddedDatabase.ts"
await Effect.runPromise(Effect.scoped(Effect.provide(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient
  const deep = (n: number) => sql`SELECT jsonb_typeof(${"[".repeat(n) + "]".repeat(n)}::jsonb) AS type`
  for (const n of [1000, 10000,20000, 30000,40000,50_000,60000,70000,80000, 200_000, 1_000_000]) {
    const r = yield* Effect.exit(deep(n)); console.log(n, r._tag === "Success" ? r.value : String(r.cause).slice(0,10) + (r.cause as any).reasons[0].error.reason.cause.message) 
  }
}), EmbeddedDatabase.layer({ dataDir: undefined }))) as any)
