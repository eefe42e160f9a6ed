import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Passkeys of persons, and the challenges that their devices are to sign. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table passkeys (
    id uuid primary key,
    person_id uuid not null references persons,
    name text not null,
    credential_id text not null constraint passkeys_credential_id_key unique,
    public_key text not null,
    counter double precision not null,
    transports jsonb not null,
    backup_eligible boolean not null,
    synced boolean not null,
    created_at timestamptz not null,
    last_used_at timestamptz
  )`
  yield* sql`create index passkeys_person on passkeys (person_id)`
  yield* sql`create table passkey_challenges (
    challenge_hash text primary key,
    purpose text not null check (purpose in ('sign_in', 'sudo', 'add')),
    person_id uuid references persons,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`
  yield* sql`create index passkey_challenges_expiry on passkey_challenges (expires_at)`
})
