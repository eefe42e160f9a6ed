import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * An address belongs to one person among those who have proven theirs; others may share it. The person who was made
 * first, by the operator's settings, has proven theirs. Addresses are stored in lower case, so they compare without case.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table persons add column email_verified_at timestamptz`
  yield* sql`update persons set email_verified_at = created_at
    where id = (select id from persons order by created_at, id limit 1)`
  yield* sql`alter table persons drop constraint persons_email_key`
  yield* sql`create unique index persons_verified_email_key on persons (email) where email_verified_at is not null`
  yield* sql`create index persons_email on persons (email)`

  yield* sql`alter table invites add column delivery text not null default 'link' check (delivery in ('mail', 'link'))`

  // Null: not known, or the operator of the host. Of older account keys, events know who made them.
  yield* sql`alter table api_keys add column created_by_kind text check (created_by_kind in ('user', 'apiKey')),
    add column created_by_id uuid`
  yield* sql`update api_keys k set created_by_kind = e.actor_kind, created_by_id = e.actor_id
    from events e
    where k.workspace_id = e.workspace_id and e.kind = 'key_created' and e.subject_id = k.id::text
      and e.actor_kind in ('user', 'apiKey')`
  yield* sql`create index api_keys_created_by on api_keys (workspace_id, created_by_id) where workspace_id is not null`
})
