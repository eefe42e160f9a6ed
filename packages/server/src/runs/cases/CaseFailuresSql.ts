import type { SqlClient, Statement } from "effect/sql"

/**
 * Selects, of the tests of a run with one of the statuses, what their last failed attempt says (`failureText`): `case_id`, `title`,
 * `error_message`, and `error_stack` where there is no message.
 *
 * @param options.run The name of the row of the run in the statement, which must have `id` and `retry_count`.
 * @param options.characters How many of each text.
 */
export const lastFailures = (
  sql: SqlClient.SqlClient,
  options: {
    readonly run: string
    readonly statuses: ReadonlyArray<"failed" | "flaky">
    readonly characters: number
  }
): Statement.Fragment => {
  const { characters, run, statuses } = options
  return sql.literal(`select t.case_id, t.title, left(said.message, ${characters}) as error_message,
      case when coalesce(said.message, '') = '' then left(said.stack, ${characters}) end as error_stack
    from test_run_tests t
    left join lateral (
      select true as ran, a.error_message, a.error_stack from test_run_attempts a
      where a.run_id = t.run_id and a.case_id = t.case_id and a.status = 'failed' order by a.number desc limit 1
    ) retried on ${run}.retry_count > 0
    cross join lateral (
      select case when retried.ran then retried.error_message else t.attempt_error_message end as message,
        case when retried.ran then retried.error_stack else t.attempt_error_stack end as stack
    ) said
    where t.run_id = ${run}.id and t.status in (${statuses.map((status) => `'${status}'`).join(", ")})`)
}
