import type { PersonId, ProductId, TeamId, TicketId, TicketStatusId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted } from "effect"
import { Migrator } from "effect/sql"
import { inject } from "vitest"
import { layerSqlStorage } from "../../src/App.ts"
import { OverdueMutes } from "../../src/flow/OverdueMutes.ts"
import { migrations } from "../../src/storage/Migrations.ts"
import { newId } from "../identity/Scene.ts"
import { createDatabase } from "../support/Databases.ts"
import { layerLiveClock } from "../support/Storages.ts"

/** Overdue mutes of servers that keep one product of each ticket: before the upgrade, and beside newer servers. */

const before = Migrator.make({})({
  loader: Migrator.fromRecord(
    Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) < 165))
  )
})

const makeTicket = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [workspaceId, teamId, statusId] = [newId<WorkspaceId>(), newId<TeamId>(), newId<TicketStatusId>()]
  const [ticketId, shop, till] = [newId<TicketId>(), newId<ProductId>(), newId<ProductId>()]
  yield* sql`insert into workspaces (id, slug, name, created_at, updated_at)
    values (${workspaceId}, 'main', 'Main', now(), now())`
  for (const [id, slug] of [
    [shop, "shop"],
    [till, "till"]
  ] as const) {
    yield* sql`insert into products (id, workspace_id, slug, name, type, created_at, updated_at)
      values (${id}, ${workspaceId}, ${slug}, 'Product', 'library', now(), now())`
  }
  yield* sql`insert into teams (id, workspace_id, key, name, visibility, created_at, updated_at)
    values (${teamId}, ${workspaceId}, 'ENG', 'Engineering', 'open', now(), now())`
  yield* sql`insert into ticket_statuses (id, workspace_id, team_id, name, name_key, category, position, is_default,
      created_at, updated_at)
    values (${statusId}, ${workspaceId}, ${teamId}, 'Backlog', 'backlog', 'backlog', 0, true, now(), now())`
  yield* sql`insert into tickets (id, workspace_id, team_id, number, title, status_id, rank, creator_kind, creator_id,
      created_at, updated_at)
    values (${ticketId}, ${workspaceId}, ${teamId}, 1, 'Flaky', ${statusId}, 'a1', 'user', ${newId<PersonId>()}, now(), now())`
  return { workspaceId, ticketId, shop, till }
})

type Scene = Effect.Success<typeof makeTicket>

/** What an older server does. */
const olderOf = Effect.fnUntraced(function* ({ ticketId, workspaceId }: Scene) {
  const sql = yield* PgClient.PgClient
  return {
    note: (productId: ProductId, cases: ReadonlyArray<string>, minutes: number) =>
      sql`insert into overdue_mutes (ticket_id, workspace_id, product_id, case_ids, until)
        values (${ticketId}, ${workspaceId}, ${productId}, ${sql.json(cases)}, ${new Date(minutes * 60_000)})
        on conflict (ticket_id) do update set product_id = excluded.product_id, case_ids = excluded.case_ids,
          until = excluded.until`,
    forget: sql`delete from overdue_mutes where ticket_id = ${ticketId}`,
    shown: Effect.map(
      sql<{ readonly productId: ProductId; readonly cases: ReadonlyArray<string> }>`
        select product_id as "productId", case_ids as cases from overdue_mutes`,
      (rows) => rows.map(({ cases, productId }) => [productId, cases])
    )
  }
})

const newerOf = Effect.fnUntraced(function* ({ shop, ticketId, till, workspaceId }: Scene) {
  const newer = yield* OverdueMutes
  const noted = (productId: ProductId) =>
    Effect.map(newer.noted(ticketId, productId), (mute) => mute && [mute.cases, Date.parse(mute.until) / 60_000])
  return {
    note: (productId: ProductId, cases: ReadonlyArray<string>, minutes: number) =>
      newer.note(ticketId, workspaceId, { productId, cases, until: timestamp(minutes * 60_000) }),
    forget: (productId: ProductId) => newer.forget(ticketId, productId),
    kept: Effect.all([noted(shop), noted(till)])
  }
})

it.live("overdue mutes of before are kept, and what an older server writes is taken over", () =>
  Effect.gen(function* () {
    const { url } = yield* createDatabase(inject("postgresUrl"))
    const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 3 })
    const scene = yield* Effect.gen(function* () {
      yield* before
      const made = yield* makeTicket
      yield* (yield* olderOf(made)).note(made.shop, ["a", "b"], 5)
      return made
    }).pipe(Effect.provide(client))
    const { shop, ticketId, till } = scene
    yield* Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [older, { forget, kept, note }] = [yield* olderOf(scene), yield* newerOf(scene)]
      assert.deepStrictEqual(yield* kept, [[["a", "b"], 5], undefined])

      // In place of what it knew of the product.
      yield* older.note(shop, ["b", "c"], 5)
      assert.deepStrictEqual(yield* kept, [[["b", "c"], 5], undefined])
      // It takes the other product for what the ticket has.
      yield* older.note(till, ["x"], 7)
      assert.deepStrictEqual(yield* kept, [
        [["b", "c"], 5],
        [["x"], 7]
      ])
      yield* older.note(shop, ["d"], 9)
      assert.deepStrictEqual(yield* kept, [
        [["b", "c", "d"], 5],
        [["x"], 7]
      ])
      yield* older.forget
      assert.deepStrictEqual(yield* kept, [undefined, [["x"], 7]])
      assert.deepStrictEqual(yield* older.shown, [[till, ["x"]]])

      // It is shown one product, as long as there is one.
      yield* note(shop, ["e"], 11)
      yield* note(till, ["x", "y"], 7)
      assert.deepStrictEqual(yield* older.shown, [[till, ["x", "y"]]])
      yield* forget(till)
      assert.deepStrictEqual(yield* older.shown, [[shop, ["e"]]])
      yield* forget(shop)
      assert.deepStrictEqual([yield* older.shown, yield* kept], [[], [undefined, undefined]])

      yield* note(shop, ["e"], 11)
      yield* note(till, ["x"], 7)
      yield* sql`delete from tickets where id = ${ticketId}`
      assert.deepStrictEqual([yield* older.shown, yield* kept], [[], [undefined, undefined]])
      assert.deepStrictEqual(yield* sql`select 1 from overdue_product_mutes`, [])
    }).pipe(Effect.provide(Layer.provide(Layer.provideMerge(layerSqlStorage, client), layerLiveClock)))
  }).pipe(Effect.provide(Logger.layer([])))
)
