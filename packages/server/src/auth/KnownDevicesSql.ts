import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteExpired } from "../storage/Expiry.ts"
import { date, dieOnSqlError } from "../storage/Sql.ts"
import { type KnownDeviceRow, knownDevices, KnownDevicesRepo } from "./KnownDevicesRepo.ts"

export const layer = Layer.effect(
  KnownDevicesRepo,
  Effect.map(SqlClient.SqlClient, (sql) => KnownDevicesRepo.of({ see: see(sql) }))
)

const see = (sql: SqlClient.SqlClient) => {
  const deleteOld = deleteExpired(sql, knownDevices, { key: ["personId", "device", "network"], until: "seenAt" })
  return ({ device, network, personId, seenAt }: KnownDeviceRow, since: Timestamp) =>
    Effect.gen(function* () {
      yield* deleteOld(since)
      // A row that was inserted has no transaction that changed it.
      const [row] = yield* sql<{ readonly isNew: boolean }>`insert into known_devices
          (person_id, device, network, seen_at) values (${personId}, ${device}, ${network}, ${date(seenAt)})
        on conflict (person_id, device, network) do update set seen_at = excluded.seen_at
        returning xmax = 0 as "isNew"`
      return row!.isNew
    }).pipe(dieOnSqlError)
}
