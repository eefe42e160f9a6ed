import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Limits of API keys, and by which credential keys, invites and sign-ins were made. Keys made before have all scopes, do not
 * expire, and were made by none. The maker is a key or a session; the family is the first maker of a chain.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table api_keys
    add column scopes jsonb,
    add column expires_at timestamptz,
    add column maker_id uuid,
    add column family_id uuid`
  yield* sql`create index api_keys_maker on api_keys (maker_id) where maker_id is not null`
  yield* sql`alter table invites add column maker_id uuid`
  yield* sql`create index invites_maker on invites (maker_id) where maker_id is not null`
  yield* sql`alter table sign_ins
    add column maker_id uuid,
    add column expires_at timestamptz`
  yield* sql`create index sign_ins_maker on sign_ins (maker_id) where maker_id is not null`
})
