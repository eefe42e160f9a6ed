import type { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import { columnName, recordFrom, recordOf } from "../storage/Table.ts"
import { deploymentReleases, type NewRelease, type ReleaseRow } from "./ReleaseRows.ts"

/** Parts of the statements that change a version: they store the release with its commits. */

const properties = Object.keys(deploymentReleases.columns) as ReadonlyArray<keyof ReleaseRow>
const columns = properties.map(columnName).join(", ")

/** A release as a record that `releasesFrom` reads. */
export const releaseRecord = ({ commits, ...release }: NewRelease) => ({
  ...recordFrom(deploymentReleases, properties, release),
  commits: commits.map(({ mentions, ...commit }) => ({
    ...commit,
    mentions: mentions.map(({ number, teamKey }) => ({ team_key: teamKey, number }))
  }))
})

/** Selects the releases of an array of records in JSON, with their `commits`. */
export const releasesFrom = (sql: PgClient.PgClient, records: Statement.Fragment): Statement.Fragment =>
  sql`select * from json_to_recordset(${records})
    as release (${sql.literal(recordOf(deploymentReleases, properties))}, commits json)`

/**
 * The CTEs that insert the releases of the CTE `from`, with their commits, but for those that a version has. All insert
 * commits in one order, so that two statements cannot deadlock.
 */
export const insertReleases = (sql: PgClient.PgClient, from: string): Statement.Fragment =>
  sql.literal(`released as (
      insert into deployment_releases (${columns}) select ${columns} from ${from}
    ), commits_of as (
      select c.id, r.workspace_id, r.product_id, r.version, c.sha, c.subject, c.author, c.at, c.mentions
      from ${from} r cross join json_to_recordset(r.commits)
        as c (id uuid, sha text, subject text, author text, at timestamptz, mentions json)
    ), committed as (
      insert into version_commits (id, workspace_id, product_id, version, sha, subject, author, at)
      select id, workspace_id, product_id, version, sha, subject, author, at from commits_of
      order by workspace_id, product_id, version, sha, id
      on conflict (workspace_id, product_id, version, sha) do nothing
      returning id
    ), mentioned as (
      insert into commit_mentions (workspace_id, commit_id, team_key, number)
      select c.workspace_id, c.id, m.team_key, m.number
      from commits_of c join committed on committed.id = c.id
        cross join json_to_recordset(c.mentions) as m (team_key text, number integer)
    )`)
