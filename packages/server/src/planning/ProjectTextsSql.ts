import { isSlug } from "@delivery/domain/Text"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { actorColumns, actorJoins, type ActorRow, readActor } from "../access/Actors.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { columnsOf, readerOf, type SelectedRow } from "../storage/Table.ts"
import { makingRoom } from "./EarlierTexts.ts"
import { type ProjectTextDetails, projectTexts, ProjectTextsRepo } from "./ProjectTextsRepo.ts"
import { seesProject } from "./Visibility.ts"

export const layer = Layer.effect(
  ProjectTextsRepo,
  Effect.map(PgClient.PgClient, (sql) => ProjectTextsRepo.of({ keep: keep(sql), list: list(sql) }))
)

type Repo = ProjectTextsRepo["Service"]

const keep =
  (sql: PgClient.PgClient): Repo["keep"] =>
  ({ authorId, authorKind, projectId, replacedAt, text, workspaceId }) =>
    sql`${makingRoom(sql, { table: "project_texts", of: "project_id", id: projectId }, text)}
      insert into project_texts (workspace_id, project_id, number, text, author_kind, author_id, replaced_at)
      select ${workspaceId}::uuid, ${projectId}::uuid, coalesce((select max(number) from held), 0) + 1,
        ${text}::text, ${authorKind}::text, ${authorId}::uuid, ${date(replacedAt)}::timestamptz`.pipe(
      Effect.asVoid,
      dieOnSqlError
    )

type SelectedText = SelectedRow & ActorRow

const readText = readerOf(projectTexts)

const list = (sql: PgClient.PgClient): Repo["list"] => {
  const columns = sql`${sql.literal(columnsOf(projectTexts, { of: "e" }))}, ${actorColumns(sql, "e.author")}`
  const joins = actorJoins(sql, "e.author")
  return (viewer, slug, { below, limit }) =>
    !isSlug(slug)
      ? Effect.undefined
      : sql<SelectedText>`select ${columns}
          from projects p left join lateral (
              select * from project_texts where project_id = p.id
                ${below === undefined ? sql`` : sql`and number < ${below}`}
              order by number desc limit ${limit}
            ) e on true ${joins}
          where p.workspace_id = ${viewer.workspaceId} and p.slug = ${slug} and ${seesProject(sql, viewer, "p")}
          order by e.number desc`.pipe(
          Effect.map((rows) =>
            // A project without earlier documents is one row of nulls; a project that is not there is none.
            rows.length === 0
              ? undefined
              : rows
                  .filter(({ number }) => number !== null)
                  .map((row): ProjectTextDetails => ({ ...readText(row), author: readActor(row) }))
          ),
          dieOnSqlError
        )
}
