import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { type KnownDeviceRow, KnownDevicesRepo } from "./KnownDevicesRepo.ts"

export const layer = Layer.effect(
  KnownDevicesRepo,
  Effect.map(SqlClient.SqlClient, (sql) => KnownDevicesRepo.of({ see: see(sql) }))
)

const see =
  (sql: SqlClient.SqlClient) =>
  ({ device, network, personId, seenAt }: KnownDeviceRow, since: Timestamp) =>
    Effect.gen(function* () {
      yield* sql`delete from known_devices where (person_id, device, network) in (
        select person_id, device, network from known_devices where seen_at < ${date(since)}
          limit 100 for update skip locked)`
      // A row that was inserted has no transaction that changed it.
      const [row] = yield* sql<{ readonly isNew: boolean }>`insert into known_devices
          (person_id, device, network, seen_at) values (${personId}, ${device}, ${network}, ${date(seenAt)})
        on conflict (person_id, device, network) do update set seen_at = excluded.seen_at
        returning xmax = 0 as "isNew"`
      return row!.isNew
    }).pipe(dieOnSqlError)
