import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What must hold before a version may go out, and what says whether it does. Servers of before the migration know none of it:
 * the tickets that they make block nothing, and products that read secrets from them count as ones that read all at once.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // By product and environment: whoever may only deploy cannot lose a policy by making the deployment anew.
  yield* sql`create table readiness_policies (
    workspace_id uuid not null references workspaces,
    product_id uuid not null references products,
    environment_id uuid not null references environments,
    from_id uuid references environments,
    requires jsonb not null,
    tickets text not null,
    secrets text not null,
    drift text not null,
    mutes text not null,
    freezes jsonb not null,
    updated_at timestamptz not null,
    constraint readiness_policies_key primary key (workspace_id, product_id, environment_id)
  )`
  yield* sql`alter table tickets add column blocks boolean not null default false`
  yield* sql`create index tickets_blocking on tickets (workspace_id, project_id) where blocks`
  yield* sql`alter table deployment_loads add column whole boolean not null default true`
  // Finds the newest run of a version with a coverage in each environment, of those that ran all of it. Runs without a coverage cost nothing.
  yield* sql`create index test_runs_evidence
    on test_runs (workspace_id, product_id, deployment_version, coverage, environment_id, number)
    where coverage is not null and result is not null and deployment_changed is distinct from true
      and selection = '{"folders":[],"caseIds":[]}' and (result = 'failed' or passed + flaky > 0)`
  // Releases of a period, whichever product they are of.
  yield* sql`create index deployment_releases_at on deployment_releases (workspace_id, at)`
})
