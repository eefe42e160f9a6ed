import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import type { DeploymentId, EnvironmentId, EventId, PersonId, ProductId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect, Logger, Redacted } from "effect"
import { Migrator, type SqlClient } from "effect/sql"
import { inject } from "vitest"
import { migrations } from "../../src/storage/Migrations.ts"
import { createDatabase } from "../support/Databases.ts"
import { minute, newId } from "../identity/Scene.ts"

/**
 * What servers did before there were releases, and what they do beside newer servers: they change the row of a deployment
 * and store an event, and number nothing.
 */

const migrate = (upTo: number) =>
  Migrator.make({})({
    loader: Migrator.fromRecord(
      Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) <= upTo))
    )
  })

const [before, now] = [85, 9_999]

const onNewDatabase = <A, E>(effect: Effect.Effect<A, E, PgClient.PgClient | SqlClient.SqlClient>) =>
  Effect.gen(function* () {
    const { url } = yield* createDatabase(inject("postgresUrl"))
    return yield* effect.pipe(
      Effect.provide([PgClient.layer({ url: Redacted.make(url), maxConnections: 3 }), Logger.layer([])])
    )
  })

/** A workspace with a product and environments, in the tables of before. */
const makeWorkspace = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [workspaceId, personId, productId] = [newId<WorkspaceId>(), newId<PersonId>(), newId<ProductId>()]
  const at = new Date(0)
  yield* sql`insert into workspaces (id, slug, name, created_at, updated_at) values (${workspaceId}, 'main', 'Main', ${at}, ${at})`
  yield* sql`insert into products (id, workspace_id, slug, name, type, created_at, updated_at)
    values (${productId}, ${workspaceId}, 'shop', 'Shop', 'library', ${at}, ${at})`
  const tell = (
    id: DeploymentId,
    kind: string,
    minutes: number,
    changes: ReadonlyArray<{ readonly field: string; readonly from: string | null; readonly to: string | null }>
  ) =>
    sql`insert into events (id, workspace_id, kind, actor_kind, actor_id, subject_type, subject_id, subject_label,
        subject_path, changes, created_at)
      values (${newId<EventId>()}, ${workspaceId}, ${kind}, 'user', ${personId}, 'deployment', ${id}, '', '',
        ${sql.json(changes)}, ${new Date(minute(minutes))})`
  const deploy = Effect.fnUntraced(function* (version: string | null, isTold = true) {
    const [id, environmentId] = [newId<DeploymentId>(), newId<EnvironmentId>()]
    yield* sql`insert into environments (id, workspace_id, slug, name, class, created_at, updated_at)
      values (${environmentId}, ${workspaceId}, ${environmentId}, 'Environment', 'production', ${at}, ${at})`
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`insert into deployments (id, workspace_id, product_id, environment_id, version, version_updated_at,
            created_at, updated_at)
          values (${id}, ${workspaceId}, ${productId}, ${environmentId}, ${version}, ${at}, ${at}, ${at})`
        if (isTold) yield* tell(id, "deployment_created", 0, [])
      })
    )
    return id
  })
  const change = (id: DeploymentId, from: string | null, to: string | null, minutes: number) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const changedAt = new Date(minute(minutes))
        yield* sql`update deployments set version = ${to}, version_updated_at = ${changedAt}, updated_at = ${changedAt}
          where id = ${id}`
        yield* tell(id, "deployment_updated", minutes, [
          { field: "baseUrl", from: null, to: "https://shop.example" },
          { field: "version", from, to }
        ])
      })
    )
  const releasesOf = (id: DeploymentId) =>
    Effect.map(
      sql<{ number: number; version: string | null; at: Date; actorId: string | null; release: number }>`
        select r.number, r.version, r.at, r.actor_id as "actorId", d.release from deployment_releases r
        join deployments d on d.id = r.deployment_id where d.id = ${id} order by r.number`,
      (rows) => {
        assert.strictEqual(rows.at(-1)?.release ?? 0, rows.length)
        for (const { actorId } of rows) assert.oneOf(actorId, [personId, null])
        return rows.map(({ actorId, at, number, version }) => [
          number,
          version,
          at.getTime() / 60_000,
          actorId === personId
        ])
      }
    )
  return { sql, deploy, change, tell, releasesOf }
})

it.live("what happened before is filled in from the events", () =>
  onNewDatabase(
    Effect.gen(function* () {
      yield* migrate(before)
      const { change, deploy, releasesOf, sql, tell } = yield* makeWorkspace
      const changed = yield* deploy("v1")
      yield* change(changed, "v1", "v2", 5)
      yield* tell(changed, "deployment_updated", 6, [{ field: "baseUrl", from: null, to: "https://x.example" }])
      yield* change(changed, "v2", null, 7)
      yield* change(changed, null, "v2", 7)
      const unchanged = yield* deploy("v1")
      const empty = yield* deploy(null)
      const later = yield* deploy(null)
      yield* change(later, null, "v1", 9)
      // Its events are lost.
      const untold = yield* deploy("v1", false)
      yield* sql`update deployments set version = 'v2', version_updated_at = ${new Date(minute(3))} where id = ${untold}`
      yield* migrate(now)
      assert.deepStrictEqual(yield* releasesOf(changed), [
        [1, "v1", 0, true],
        [2, "v2", 5, true],
        [3, null, 7, true],
        [4, "v2", 7, true]
      ])
      assert.deepStrictEqual(yield* releasesOf(unchanged), [[1, "v1", 0, true]])
      assert.deepStrictEqual(yield* releasesOf(empty), [])
      assert.deepStrictEqual(yield* releasesOf(later), [[1, "v1", 9, true]])
      assert.deepStrictEqual(yield* releasesOf(untold), [[1, "v2", 0, false]])
    })
  )
)

it.live("what an older server changes beside a newer one is numbered, and told by its event", () =>
  onNewDatabase(
    Effect.gen(function* () {
      yield* migrate(now)
      const { change, deploy, releasesOf, sql } = yield* makeWorkspace
      const id = yield* deploy("v1")
      const other = yield* deploy(null)
      yield* change(id, "v1", "v2", 5)
      // A newer server numbers its own.
      yield* sql`with changed as (
          update deployments set version = 'v3', release = release + 1 where id = ${id} returning *
        ) insert into deployment_releases (workspace_id, deployment_id, number, product_id, environment_id, version, at)
          select workspace_id, id, release, product_id, environment_id, version, ${new Date(minute(6))} from changed`
      yield* change(id, "v3", "v2", 7)
      yield* change(id, "v2", "v2", 8)
      yield* Effect.all(
        ["v4", "v5", "v6"].map((version) => change(id, null, version, 9)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual((yield* releasesOf(id)).slice(0, 4), [
        [1, "v1", 0, true],
        [2, "v2", 5, true],
        [3, "v3", 6, false],
        [4, "v2", 7, true]
      ])
      assert.deepStrictEqual(
        (yield* releasesOf(id)).map(([number]) => number),
        [1, 2, 3, 4, 5, 6, 7]
      )
      yield* sql`update deployments set base_url = 'https://shop.example' where id = ${other}`
      assert.deepStrictEqual(yield* releasesOf(other), [])
    })
  )
)
