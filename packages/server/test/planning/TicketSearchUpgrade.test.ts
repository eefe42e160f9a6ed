import type { PersonId, TeamId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { wordsOf } from "@delivery/domain/planning/TicketSearch"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted } from "effect"
import { Migrator } from "effect/sql"
import { inject } from "vitest"
import { layerSqlStorage } from "../../src/App.ts"
import { TicketsRepo } from "../../src/planning/TicketsRepo.ts"
import { migrations } from "../../src/storage/Migrations.ts"
import { newId } from "../identity/Scene.ts"
import { createDatabase } from "../support/Databases.ts"
import { layerLiveClock } from "../support/Storages.ts"
import { seesAll } from "./Scene.ts"

/** The words of tickets and comments that there were before their search. */

const before = Migrator.make({})({
  loader: Migrator.fromRecord(
    Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) < 105))
  )
})

/** More than the migration takes at once. */
const count = 120

const makeTickets = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [workspaceId, teamId, statusId] = [newId<WorkspaceId>(), newId<TeamId>(), newId<TicketStatusId>()]
  yield* sql`insert into workspaces (id, slug, name, created_at, updated_at)
    values (${workspaceId}, 'main', 'Main', now(), now())`
  yield* sql`insert into teams (id, workspace_id, key, name, visibility, created_at, updated_at)
    values (${teamId}, ${workspaceId}, 'ENG', 'Engineering', 'open', now(), now())`
  yield* sql`insert into ticket_statuses (id, workspace_id, team_id, name, name_key, category, position, is_default,
      created_at, updated_at)
    values (${statusId}, ${workspaceId}, ${teamId}, 'Backlog', 'backlog', 'backlog', 0, true, now(), now())`
  yield* sql`insert into tickets (id, workspace_id, team_id, number, title, description, status_id, rank, creator_kind,
      creator_id, created_at, updated_at)
    select gen_random_uuid(), ${workspaceId}::uuid, ${teamId}::uuid, n, 'Straße ' || n || '/ΣΊΣΥΦΟΣ',
      case when n % 3 = 0 then null else E'Ünïcode\n' || n || '-times' end, ${statusId}::uuid, 'a' || lpad(n::text, 4, '0'),
      'user', ${newId<PersonId>()}::uuid, now(), now()
    from generate_series(1, ${count}::int) n`
  yield* sql`insert into comments (id, workspace_id, ticket_id, body, author_kind, author_id, created_at)
    select gen_random_uuid(), workspace_id, id, 'Said of ' || number, 'user', creator_id, created_at from tickets
      where number <= 60`
  return workspaceId
})

it.live("are the same as those of tickets that are written", () =>
  Effect.gen(function* () {
    const { url } = yield* createDatabase(inject("postgresUrl"))
    const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 3 })
    const workspaceId = yield* Effect.andThen(before, makeTickets).pipe(Effect.provide(client))
    yield* Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const repo = yield* TicketsRepo
      const stored = sql`select *, title_words::text, words::text from ticket_words order by ticket_id`
      const migrated = yield* stored
      assert.lengthOf(migrated, count)
      const find = (q: string) => repo.search(seesAll(workspaceId), { words: wordsOf(q), identifier: undefined }, {})
      assert.deepStrictEqual(
        (yield* find("eng 77 σίσυφος")).map(({ number }) => number),
        [77]
      )
      assert.lengthOf(yield* find("ünï times straße"), 80)
      // Comments are not waited for.
      assert.lengthOf(yield* find("said"), 0)
      while (yield* sql.withTransaction(repo.wordComments));
      assert.lengthOf(yield* find("said"), 60)
      yield* sql`insert into unworded_tickets select id from tickets`
      yield* sql`update ticket_words set title_words = '', words = ''`
      while (yield* sql.withTransaction(repo.wordTickets));
      assert.deepStrictEqual(yield* stored, migrated)
    }).pipe(Effect.provide(Layer.provide(Layer.provideMerge(layerSqlStorage, client), layerLiveClock)))
  }).pipe(Effect.provide(Logger.layer([])))
)
