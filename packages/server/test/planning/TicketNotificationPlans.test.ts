import { maxUnreadCount, ticketNotificationPlace } from "@delivery/domain/planning/TicketNotification"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"

import { Effect, Layer } from "effect"
import { layerSqlStorage } from "../../src/App.ts"
import { TicketNotificationsRepo } from "../../src/planning/TicketNotificationsRepo.ts"
import type { Viewer } from "../../src/planning/Viewer.ts"
import { addMember, addWorkspace } from "../identity/Scene.ts"
import { layerPostgres } from "../support/Databases.ts"
import { addTeam } from "./Scene.ts"
import { addTicket } from "./TicketsScene.ts"

/** How PostgreSQL finds a page of what a person was told of tickets: by an index, in the order of the page, however much there is. */

const count = 50_000
const page = 101
const begin = Date.parse("2026-01-01T00:00:00.000Z")

/** One a second. Of each 1,000 one is unread, the newest of the first and so on. */
const unread = count / 1_000

layer(layerSqlStorage.pipe(Layer.provideMerge(layerPostgres)), { excludeTestServices: true })(
  "A page of ticket notifications",
  (it) => {
    it.effect("reads no more of an index than it must, and what is unread without what is read", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const repo = yield* TicketNotificationsRepo
        const workspace = yield* addWorkspace()
        const { principal } = yield* addMember(workspace, "member")
        const ticket = yield* addTicket(yield* addTeam(workspace.id))
        yield* sql`insert into ticket_notifications
            (id, workspace_id, person_id, kind, ticket_id, actor_kind, actor_id, read_at, created_at)
          select gen_random_uuid(), ${workspace.id}::uuid, ${principal.id}::uuid, 'ticket_assigned', ${ticket.id}::uuid,
            'apiKey', gen_random_uuid(), case when n % 1000 = 0 then null else now() end,
            to_timestamp((${begin}::bigint + n * 1000::bigint) / 1000.0)
          from generate_series(0, ${count}::int - 1) n`
        yield* sql`vacuum analyze ticket_notifications`
        const viewer: Viewer = { workspaceId: workspace.id, personId: principal.id, seesPrivateTeams: false }
        const scans = Effect.map(
          sql<{ readonly whole: number; readonly entries: number }>`select
            pg_stat_get_xact_numscans('ticket_notifications'::regclass)::integer as whole,
            (select sum(pg_stat_get_xact_tuples_returned(indexrelid))::integer from pg_index
              where indrelid = 'ticket_notifications'::regclass) as entries`,
          ([found]) => found!
        )
        /** What one reading answers, and how many entries of indexes it takes. */
        const reads = Effect.fnUntraced(function* (name: string, reading: Effect.Effect<number>, found: number) {
          // The connection may not have reported what it did before.
          const [before, read, after] = yield* sql.withTransaction(Effect.all([scans, reading, scans]))
          assert.deepStrictEqual([read, after.whole - before.whole], [found, 0], name)
          assert.isAtMost(after.entries - before.entries, found + 1, name)
        })
        const list = (onlyUnread: boolean, at?: number) =>
          Effect.map(
            repo.list(viewer, principal.id, {
              onlyUnread,
              limit: page,
              before: at === undefined ? undefined : ticketNotificationPlace(`${begin + at * 1_000}-${ticket.id}`)
            }),
            (rows) => rows.length
          )
        yield* reads("all", list(false), page)
        yield* reads("all behind the middle", list(false, count / 2 + 0.5), page)
        yield* reads("all behind the last page", list(false, 50.5), 51)
        yield* reads("unread", list(true), unread)
        yield* reads("unread behind the middle", list(true, count / 2 + 0.5), unread / 2 + 1)
        yield* reads("how many", repo.countUnread(viewer, principal.id, maxUnreadCount), unread)
        yield* reads("how many at most", repo.countUnread(viewer, principal.id, 10), 10)
      })
    )
  }
)
