import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schedule } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import identity from "./migrations/0001_identity.ts"
import catalog from "./migrations/0002_catalog.ts"
import testing from "./migrations/0003_testing.ts"
import vault from "./migrations/0010_vault.ts"
import retries from "./migrations/0015_retries.ts"
import semaphores from "./migrations/0020_semaphores.ts"
import agents from "./migrations/0030_agents.ts"
import planning from "./migrations/0040_planning.ts"
import agentSignIns from "./migrations/0050_agents.ts"
import messages from "./migrations/0055_messages.ts"
import testRunSearch from "./migrations/0061_test_run_search.ts"
import testRunResults from "./migrations/0062_test_run_results.ts"
import testRunFilters from "./migrations/0063_test_run_filters.ts"
import semaphorePlans from "./migrations/0064_semaphore_plans.ts"
import runningRuns from "./migrations/0065_running_runs.ts"
import persons from "./migrations/0070_persons.ts"
import credentials from "./migrations/0071_credentials.ts"
import sessions from "./migrations/0072_sessions.ts"
import agentOauth from "./migrations/0073_agent_oauth.ts"
import oauthClients from "./migrations/0076_oauth_clients.ts"
import credentialBlocks from "./migrations/0077_credential_blocks.ts"
import audit from "./migrations/0078_audit.ts"
import mail from "./migrations/0079_mail.ts"
import passkeys from "./migrations/0080_passkeys.ts"
import authorizations from "./migrations/0081_authorizations.ts"
import identities from "./migrations/0082_identities.ts"
import mailCounts from "./migrations/0083_mail_counts.ts"
import expiredKeys from "./migrations/0084_expired_keys.ts"
import runMakers from "./migrations/0085_run_makers.ts"
import refusedEntries from "./migrations/0086_refused_entries.ts"
import releases from "./migrations/0087_releases.ts"
import eventPositions from "./migrations/0088_event_positions.ts"
import runRetention from "./migrations/0089_run_retention.ts"
import webhooks from "./migrations/0090_webhooks.ts"
import slowWebhooks from "./migrations/0091_slow_webhooks.ts"
import baseBranch from "./migrations/0092_base_branch.ts"
import cases from "./migrations/0093_cases.ts"
import deploymentTokens from "./migrations/0095_deployment_tokens.ts"
import trustedPublishers from "./migrations/0096_trusted_publishers.ts"
import runCi from "./migrations/0098_run_ci.ts"
import runShards from "./migrations/0099_run_shards.ts"
import logins from "./migrations/0100_logins.ts"
import ticketSearch from "./migrations/0105_ticket_search.ts"
import semaphoreHours from "./migrations/0106_semaphore_hours.ts"
import ticketNotifications from "./migrations/0107_ticket_notifications.ts"
import ticketMutes from "./migrations/0110_ticket_mutes.ts"
import messageEvidence from "./migrations/0113_message_evidence.ts"
import ticketEvidence from "./migrations/0112_ticket_evidence.ts"
import testRules from "./migrations/0111_test_rules.ts"
import overdueMutes from "./migrations/0116_overdue_mutes.ts"
import readiness from "./migrations/0120_readiness.ts"
import ticketAttachments from "./migrations/0130_ticket_attachments.ts"
import agentPublishers from "./migrations/0150_agent_publishers.ts"
import viewLooks from "./migrations/0155_view_looks.ts"
import retriedElsewhere from "./migrations/0160_retried_elsewhere.ts"
import semaphoreCalls from "./migrations/0161_semaphore_calls.ts"
import overdueProductMutes from "./migrations/0165_overdue_product_mutes.ts"
import ticketTexts from "./migrations/0166_ticket_texts.ts"
import replacedDataKeys from "./migrations/0175_replaced_data_keys.ts"
import testRunRequests from "./migrations/0180_test_run_requests.ts"
import unreadTicketNotifications from "./migrations/0181_unread_ticket_notifications.ts"
import commentSearch from "./migrations/0182_comment_search.ts"
import endedMuteNotifications from "./migrations/0184_ended_mute_notifications.ts"
import projectTexts from "./migrations/0185_project_texts.ts"
import shorterRunErrors from "./migrations/0186_shorter_run_errors.ts"
import unresolvedRuns from "./migrations/0187_unresolved_runs.ts"
import releaseOverrides from "./migrations/0188_release_overrides.ts"
import personalViews from "./migrations/0189_personal_views.ts"
import latestRuns from "./migrations/0190_latest_runs.ts"
import testedElsewhere from "./migrations/0191_tested_elsewhere.ts"
import decidingRuns from "./migrations/0193_deciding_runs.ts"
import uncountedRuns from "./migrations/0194_uncounted_runs.ts"
import approvals from "./migrations/0195_approvals.ts"
import ruleCompletion from "./migrations/0196_rule_completion.ts"
import interruptedRuns from "./migrations/0197_interrupted_runs.ts"
import readinessLooks from "./migrations/0198_readiness_looks.ts"
import savedFilters from "./migrations/0199_saved_filters.ts"
import releaseReadiness from "./migrations/0200_release_readiness.ts"
import testTimes from "./migrations/0202_test_times.ts"

/** By number and name. */
export const migrations = {
  "0001_identity": identity,
  "0002_catalog": catalog,
  "0003_testing": testing,
  "0010_vault": vault,
  "0015_retries": retries,
  "0020_semaphores": semaphores,
  "0030_agents": agents,
  "0040_planning": planning,
  "0050_agents": agentSignIns,
  "0055_messages": messages,
  "0061_test_run_search": testRunSearch,
  "0062_test_run_results": testRunResults,
  "0063_test_run_filters": testRunFilters,
  "0064_semaphore_plans": semaphorePlans,
  "0065_running_runs": runningRuns,
  "0070_persons": persons,
  "0071_credentials": credentials,
  "0072_sessions": sessions,
  "0073_agent_oauth": agentOauth,
  "0076_oauth_clients": oauthClients,
  "0077_credential_blocks": credentialBlocks,
  "0078_audit": audit,
  "0079_mail": mail,
  "0080_passkeys": passkeys,
  "0081_authorizations": authorizations,
  "0082_identities": identities,
  "0083_mail_counts": mailCounts,
  "0084_expired_keys": expiredKeys,
  "0085_run_makers": runMakers,
  "0086_refused_entries": refusedEntries,
  "0087_releases": releases,
  "0088_event_positions": eventPositions,
  "0089_run_retention": runRetention,
  "0090_webhooks": webhooks,
  "0091_slow_webhooks": slowWebhooks,
  "0092_base_branch": baseBranch,
  "0093_cases": cases,
  "0095_deployment_tokens": deploymentTokens,
  "0096_trusted_publishers": trustedPublishers,
  "0098_run_ci": runCi,
  "0099_run_shards": runShards,
  "0100_logins": logins,
  "0105_ticket_search": ticketSearch,
  "0106_semaphore_hours": semaphoreHours,
  "0107_ticket_notifications": ticketNotifications,
  "0110_ticket_mutes": ticketMutes,
  "0111_test_rules": testRules,
  "0112_ticket_evidence": ticketEvidence,
  "0113_message_evidence": messageEvidence,
  "0116_overdue_mutes": overdueMutes,
  "0120_readiness": readiness,
  "0130_ticket_attachments": ticketAttachments,
  "0150_agent_publishers": agentPublishers,
  "0155_view_looks": viewLooks,
  "0160_retried_elsewhere": retriedElsewhere,
  "0161_semaphore_calls": semaphoreCalls,
  "0165_overdue_product_mutes": overdueProductMutes,
  "0166_ticket_texts": ticketTexts,
  "0175_replaced_data_keys": replacedDataKeys,
  "0180_test_run_requests": testRunRequests,
  "0181_unread_ticket_notifications": unreadTicketNotifications,
  "0182_comment_search": commentSearch,
  "0184_ended_mute_notifications": endedMuteNotifications,
  "0185_project_texts": projectTexts,
  "0186_shorter_run_errors": shorterRunErrors,
  "0187_unresolved_runs": unresolvedRuns,
  "0188_release_overrides": releaseOverrides,
  "0189_personal_views": personalViews,
  "0190_latest_runs": latestRuns,
  "0191_tested_elsewhere": testedElsewhere,
  "0193_deciding_runs": decidingRuns,
  "0194_uncounted_runs": uncountedRuns,
  "0195_approvals": approvals,
  "0196_rule_completion": ruleCompletion,
  "0197_interrupted_runs": interruptedRuns,
  "0198_readiness_looks": readinessLooks,
  "0199_saved_filters": savedFilters,
  "0200_release_readiness": releaseReadiness,
  "0202_test_times": testTimes
}

/** The number of the latest migration. */
export const latest = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

/** Whether all migrations have run on the database. */
export const isUpToDate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql<{ readonly isMade: boolean }>`select
    to_regclass('effect_sql_migrations') is not null as "isMade"`
  if (table?.isMade !== true) return false
  const [last] = yield* sql<{ readonly number: number | null }>`select max(migration_id) as number
    from effect_sql_migrations`
  return (last?.number ?? 0) >= latest
})

const run = Migrator.make({})({ loader: Migrator.fromRecord(migrations) })

/** Whether a lock was not to be had in time. */
const isLocked = (error: { readonly cause?: unknown }): boolean => {
  const cause = isSqlError(error) ? error : error.cause
  return isSqlError(cause) && cause.reason._tag === "LockTimeoutError"
}

/**
 * Beside a server of the version before, all that wait for each other would be a deadlock, of which PostgreSQL ends a request or this one
 * after a second. So this gives up every lock that it has before that, and begins again.
 */
const runBeside = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`set lock_timeout = '400ms'`
  return yield* Effect.retry(run, { while: isLocked, schedule: Schedule.spaced("200 millis") })
})

/**
 * Brings the database up to date, under a lock that lets several servers start at once. On PostgreSQL over a connection
 * of its own: a migration may take longer than a statement of a request.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { applicationName, url } = (yield* PgClient.PgClient).config
    const done = yield* url === undefined
      ? run
      : Effect.provide(runBeside, PgClient.layer({ url, applicationName, maxConnections: 1 }))
    if (done.length > 0) yield* Effect.logInfo(`Applied ${done.length} migrations.`)
  })
)
