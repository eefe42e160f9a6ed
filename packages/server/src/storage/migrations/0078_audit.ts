import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The audit of a workspace. The time of an entry is that in its id, a UUIDv7, so that one index gives the order and each
 * further one a filter in that order. There is no reference to workspaces: its check would cost every read of the vault more
 * than all indexes do.
 *
 * What was recorded of the vault until now goes with it: what was read and written in a product is one entry. Nothing is known
 * of addresses and credentials then.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table audit_entries (
    id uuid not null,
    workspace_id uuid not null,
    action text not null,
    outcome text not null check (outcome in ('allowed', 'refused')),
    actor_id uuid,
    actor jsonb not null,
    credential jsonb,
    address text,
    subject_type text not null,
    subject_id text not null,
    subject_label text not null,
    environments jsonb,
    versions jsonb,
    changes jsonb,
    request_id text,
    primary key (workspace_id, id)
  )`
  yield* sql`with parts as (
      select a.*, of.product_id, of.environments, of.versions,
        row_number() over (partition by a.id order by of.product_id) as place
      from vault_audit a left join lateral (
        select (entry ->> 'product')::uuid as product_id,
          jsonb_agg(coalesce(e.slug, entry ->> 'environment') order by e.slug) as environments,
          jsonb_agg(entry -> 'version' order by e.slug) as versions
        from jsonb_array_elements(a.entries) entry
        left join environments e on e.id = (entry ->> 'environment')::uuid
        group by 1
      ) of on true
    )
    insert into audit_entries (id, workspace_id, action, outcome, actor_id, actor, subject_type, subject_id,
      subject_label, environments, versions, changes, request_id)
    select case a.place when 1 then a.id else (left(a.id::text, 32) || lpad(to_hex(a.place), 4, '0'))::uuid end,
      a.workspace_id,
      case when a.new_name is not null then 'secret_renamed' when a.action = 'read' then 'secret_read'
        when a.action = 'create' then 'secret_created' when a.action = 'delete' then 'secret_deleted'
        else 'secret_changed' end,
      'allowed', a.actor_id,
      case when person.id is not null
          then jsonb_build_object('kind', 'user', 'id', person.id, 'name', person.name, 'email', person.email)
        when key.id is not null then jsonb_build_object('kind', 'apiKey', 'id', key.id, 'name', key.name)
        else '{"kind": "removed"}'::jsonb end,
      'secret', coalesce((select s.id::text from secrets s where s.product_id = a.product_id
        and s.name = coalesce(a.new_name, a.name) order by s.created_at desc limit 1), ''),
      coalesce(a.new_name, a.name) || coalesce(' of ' || product.name, ''), a.environments, a.versions,
      case when a.new_name is not null then jsonb_build_array(jsonb_build_object('field', 'name', 'from', a.name,
        'to', a.new_name)) end,
      nullif(a.request_id, 'none')
    from parts a
    left join products product on product.id = a.product_id
    left join persons person on a.actor_kind = 'user' and person.id = a.actor_id
    left join api_keys key on a.actor_kind = 'apiKey' and key.id = a.actor_id`
  yield* sql`create index audit_entries_actor on audit_entries (workspace_id, actor_id, id)`
  yield* sql`create index audit_entries_action on audit_entries (workspace_id, action, id)`
  yield* sql`create index audit_entries_subject on audit_entries (workspace_id, subject_id, id)`
})
