import type { ProductId, TestRuleId, TestRunId, TicketId } from "@delivery/domain/Ids"
import { comparedCharacters, failureText } from "@delivery/domain/runs/ErrorGroups"
import { PgClient, PgTypes } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import type { StoredEvent } from "../events/EventsRepo.ts"
import { insertEvent } from "../events/EventStatements.ts"
import type { Viewer } from "../planning/Viewer.ts"
import { seesTeam } from "../planning/Visibility.ts"
import { provesSql } from "../runs/RunScope.ts"
import { testsDeployment } from "../runs/TestedAddress.ts"
import { texts } from "../storage/Columns.ts"
import { dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, insertInto, readerOf, type SelectedRow, updateById } from "../storage/Table.ts"
import {
  type CaseTicket,
  type ElsewhereFailure,
  type FailedTest,
  type FoundTestRule,
  lookedAt,
  lookedAtElsewhere,
  type TestRuleRow,
  testRules,
  TestRulesRepo,
  testRuleTickets,
  uncountedPass
} from "./TestRulesRepo.ts"

export const layer = Layer.effect(
  TestRulesRepo,
  Effect.map(PgClient.PgClient, (sql) =>
    TestRulesRepo.of({
      list: list(sql),
      find: find(sql),
      count: count(sql),
      insert: insert(sql),
      update: update(sql),
      delete: remove(sql),
      hold: hold(sql),
      watched: watched(sql),
      ofRun: ofRun(sql),
      others: others(sql),
      failures: failures(sql),
      statuses: statuses(sql),
      failsElsewhere: failsElsewhere(sql),
      about: about(sql),
      openOf: openOf(sql),
      made: made(sql),
      isAsked: isAsked(sql),
      link: link(sql)
    })
  )
)

type Repo = TestRulesRepo["Service"]

const readRow = readerOf(testRules)

type RuleRow = SelectedRow & ActorRow & Pick<FoundTestRule, "product" | "environment" | "team" | "project">

const readRule = (row: RuleRow): FoundTestRule => ({
  ...readRow(row),
  product: row.product,
  environment: row.environment,
  team: row.team,
  project: row.project,
  author: readActor(row)
})

/** The rules `r`, with what they refer to. */
const select = (sql: SqlClient.SqlClient): Statement.Fragment =>
  sql`select ${sql.literal(columnsOf(testRules, { of: "r" }))}, p.slug as product, e.slug as environment,
      team.key as team, project.slug as project, ${actorColumns(sql, "r.author")}
    from (select *, 'user' as author_kind from test_rules) r
    join products p on p.id = r.product_id
    join teams team on team.id = r.team_id
    left join environments e on e.id = r.environment_id
    left join projects project on project.id = r.project_id
    ${actorJoins(sql, "r.author")}`

const list = (sql: PgClient.PgClient) => (viewer: Viewer) =>
  sql<RuleRow>`${select(sql)} where r.workspace_id = ${viewer.workspaceId} and ${seesTeam(sql, viewer, "team")}
    order by r.id`.pipe(
    Effect.map((rows) => rows.map(readRule)),
    dieOnSqlError
  )

const find = (sql: PgClient.PgClient) => (viewer: Viewer, id: TestRuleId) =>
  sql<RuleRow>`${select(sql)} where r.id = ${id} and r.workspace_id = ${viewer.workspaceId}
    and ${seesTeam(sql, viewer, "team")}`.pipe(
    Effect.map((rows) => rows.map(readRule)[0]),
    dieOnSqlError
  )

const count = (sql: PgClient.PgClient) => (productId: ProductId) =>
  sql<{ readonly count: number }>`select count(*)::int as count from test_rules where product_id = ${productId}`.pipe(
    Effect.map(([row]) => row!.count),
    dieOnSqlError
  )

const record = (sql: PgClient.PgClient, event: StoredEvent) => sql`${insertEvent(sql, event)}`

const insert = (sql: PgClient.PgClient): Repo["insert"] => {
  const store = insertInto(sql, testRules)
  return (rule, event) => dieOnSqlError(Effect.andThen(store(rule), Effect.asVoid(record(sql, event))))
}

const update = (sql: PgClient.PgClient): Repo["update"] => {
  const changing = (Object.keys(testRules.columns) as ReadonlyArray<keyof TestRuleRow>).filter(
    (property) => !["id", "workspaceId", "createdAt"].includes(property)
  )
  const store = updateById(sql, testRules, changing)
  return (rule, event) => dieOnSqlError(Effect.andThen(store(rule), Effect.asVoid(record(sql, event))))
}

const remove =
  (sql: PgClient.PgClient): Repo["delete"] =>
  (id, event) =>
    dieOnSqlError(Effect.andThen(sql`delete from test_rules where id = ${id}`, Effect.asVoid(record(sql, event))))

const hold = (sql: PgClient.PgClient) => (productId: ProductId) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`test rules:${productId}`}, 0))::text`.pipe(
    Effect.asVoid,
    dieOnSqlError
  )

/** Whether the rule `r` is for the run `t`. */
const isFor = (sql: PgClient.PgClient): Statement.Fragment =>
  sql`r.workspace_id = t.workspace_id and r.product_id = t.product_id
    and (r.environment_id is null or r.environment_id = t.environment_id)
    and (r.branch is null or r.branch = t.git_branch) and (r.coverage is null or r.coverage = t.coverage)
    and ${testsDeployment(sql, "t")}`

const watched = (sql: PgClient.PgClient) => (run: TestRunId) =>
  sql<{ readonly productId: ProductId }>`select t.product_id as "productId" from test_runs t
    where t.id = ${run} and exists (select 1 from test_rules r where r.state = 'active' and ${isFor(sql)})`.pipe(
    Effect.map(([row]) => row?.productId),
    dieOnSqlError
  )

const ofRun = (sql: PgClient.PgClient) => (run: TestRunId) =>
  sql<RuleRow>`${select(sql)} join test_runs t on t.id = ${run}
    where r.state = 'active' and ${isFor(sql)} order by r.id`.pipe(
    Effect.map((rows) => rows.map(readRule)),
    dieOnSqlError
  )

const others = (sql: PgClient.PgClient) => (rule: TestRuleRow) =>
  sql<RuleRow>`${select(sql)} where r.state = 'active' and r.workspace_id = ${rule.workspaceId}
    and r.product_id = ${rule.productId} and r.id <> ${rule.id} order by r.id`.pipe(
    Effect.map((rows) => rows.map(readRule)),
    dieOnSqlError
  )

interface FailedRow extends Omit<FailedTest, "error"> {
  readonly errorMessage: string | null
  readonly errorStack: string | null
}

const failures = (sql: PgClient.PgClient) => {
  const most = sql.literal(String(comparedCharacters))
  return (run: TestRunId) =>
    sql<FailedRow>`select t.case_id as "caseId", t.title, t.file,
        t.files || coalesce(t.attempt_files, '[]'::jsonb) as files,
        left(t.attempt_error_message, ${most}) as "errorMessage", left(t.attempt_error_stack, ${most}) as "errorStack"
      from test_run_tests t where t.run_id = ${run} and t.status = 'failed' order by t.case_id collate "C"`.pipe(
      Effect.map((rows) =>
        rows.map(({ errorMessage, errorStack, files, ...test }) => ({
          ...test,
          files: [...new Set(files)],
          error: failureText({ errorMessage, errorStack })
        }))
      ),
      dieOnSqlError
    )
}

const statuses =
  (sql: PgClient.PgClient): Repo["statuses"] =>
  (rule, named, caseIds, limit, ticket) => {
    const [run, since] = [named ?? null, ticket ?? null]
    return sql<{ readonly caseId: string; readonly statuses: ReadonlyArray<string> }>`with newest as materialized (
        select t.id, t.number, t.environment_id, t.git_branch, t.coverage, t.finished_at from test_runs t
        where t.workspace_id = ${rule.workspaceId} and t.product_id = ${rule.productId} and t.result is not null
          and ${testsDeployment(sql, "t")}
        order by t.number desc limit ${sql.literal(String(lookedAt))}
      ), counted as materialized (
        (select ${run}::uuid as id, null::integer as number, null::timestamptz as finished_at where ${run}::uuid is not null)
        union all
        (select t.id, t.number, t.finished_at from newest t
          where t.id is distinct from ${run} and (${rule.environmentId}::uuid is null or t.environment_id = ${rule.environmentId})
            and (${rule.branch}::text is null or t.git_branch = ${rule.branch})
            and (${rule.coverage}::text is null or t.coverage = ${rule.coverage})
            and (${since}::uuid is null or t.finished_at >= (select created_at from tickets where id = ${since}))
          order by t.number desc limit ${PgTypes.int4(run === null ? limit : limit - 1)})
      )
      select t.case_id as "caseId", array_agg(case when t.status = 'passed' and not ${sql.literal(provesSql)} then ${uncountedPass} else t.status end
          order by c.finished_at desc nulls first, c.number desc nulls first) as statuses
      from counted c join test_runs r on r.id = c.id join test_run_tests t on t.run_id = c.id
        and t.case_id in (select unnest(${texts(caseIds, (caseId) => caseId)}))
      where t.status <> 'skipped' group by t.case_id`.pipe(
      Effect.map((rows) => new Map(rows.map((row) => [row.caseId, row.statuses]))),
      dieOnSqlError
    )
  }

const failsElsewhere =
  (sql: PgClient.PgClient): Repo["failsElsewhere"] =>
  (rule, caseIds, since) =>
    sql<ElsewhereFailure>`with elsewhere as materialized (
        select t.id, t.number, t.environment_id, t.git_branch from test_runs t
        where t.workspace_id = ${rule.workspaceId} and t.product_id = ${rule.productId} and t.result is not null
          and (t.environment_id <> ${rule.environmentId}::uuid or t.git_branch <> ${rule.branch}::text
            or (${rule.coverage}::text is not null and t.coverage is distinct from ${rule.coverage}))
          and t.finished_at >= (select created_at from tickets where id = ${since}) and ${testsDeployment(sql, "t")}
        order by t.number desc limit ${sql.literal(String(lookedAtElsewhere))}
      ), latest as (
        select distinct on (c.environment_id, c.git_branch, t.case_id) c.number, c.environment_id, c.git_branch, t.status
        from elsewhere c join test_runs r on r.id = c.id join test_run_tests t on t.run_id = c.id
          and t.case_id in (select unnest(${texts(caseIds, (caseId) => caseId)}))
        where t.status <> 'skipped' and (t.status <> 'passed' or ${sql.literal(provesSql)})
        order by c.environment_id, c.git_branch, t.case_id, c.number desc
      )
      select latest.number, e.name as environment, latest.git_branch as branch
      from latest join environments e on e.id = latest.environment_id
      where latest.status = 'failed' order by latest.number desc limit 1`.pipe(
      Effect.map((rows) => rows[0]),
      dieOnSqlError
    )

const ticketColumns = `t.id, t.team_id as "teamId", s.category, coalesce(t.cases->'caseIds', '[]') as "caseIds",
  t.completion, made.rule_id as "ruleId"`

const ticketTables = `tickets t join teams team on team.id = t.team_id and team.archived_at is null
  join ticket_statuses s on s.id = t.status_id`

/** As many as the operator `?|` finds soon: it looks at each id of a ticket for each of them. */
const fewCases = 50

/** Whether the ticket `t` is about one of the tests. */
export const isAbout = (sql: PgClient.PgClient, caseIds: ReadonlyArray<string>): Statement.Fragment => {
  const ids = texts(caseIds, (caseId) => caseId)
  return caseIds.length <= fewCases
    ? sql`t.cases->'caseIds' ?| ${ids}`
    : // Found by their hashes: compared one by one, thousands of tests in thousands of a ticket would take seconds.
      sql`exists (select 1 from jsonb_array_elements_text(t.cases->'caseIds') as tested (id)
        where tested.id in (select unnest(${ids})))`
}

const about =
  (sql: PgClient.PgClient): Repo["about"] =>
  (viewer, productId, caseIds) =>
    sql<CaseTicket>`select ${sql.literal(ticketColumns)} from ${sql.literal(ticketTables)}
      left join test_rule_tickets made on made.ticket_id = t.id
      where t.cases is not null and ${isAbout(sql, caseIds)}
        and t.workspace_id = ${viewer.workspaceId} and t.cases->>'productId' = ${productId}
        and ${seesTeam(sql, viewer, "team")}
      order by t.id`.pipe(dieOnSqlError)

const openOf =
  (sql: PgClient.PgClient): Repo["openOf"] =>
  (viewer, rule) =>
    sql<CaseTicket>`select ${sql.literal(ticketColumns)} from test_rule_tickets made
      join (${sql.literal(ticketTables)}) on t.id = made.ticket_id
      where made.rule_id = ${rule} and t.cases is not null and s.category not in ('completed', 'canceled')
        and ${seesTeam(sql, viewer, "team")}
      order by t.id`.pipe(dieOnSqlError)

const made =
  (sql: PgClient.PgClient): Repo["made"] =>
  (rule, limit) =>
    sql<{ readonly id: TicketId }>`select ticket_id as id from test_rule_tickets where rule_id = ${rule}
      order by ticket_id desc limit ${limit}`.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      dieOnSqlError
    )

const isAsked = (sql: PgClient.PgClient) => (ticket: TicketId) =>
  sql`select 1 from messages where ticket_id = ${ticket} and status in ('queued', 'delivered') limit 1`.pipe(
    Effect.map((rows) => rows.length > 0),
    dieOnSqlError
  )

const link = (sql: PgClient.PgClient): Repo["link"] => {
  const store = insertInto(sql, testRuleTickets)
  return ({ id, workspaceId }, ticketId) => dieOnSqlError(store({ ticketId, workspaceId, ruleId: id }))
}
