import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { type KnownDeviceRow, knownDevices, KnownDevicesRepo } from "./KnownDevicesRepo.ts"

const keyOf = ({ device, network, personId }: KnownDeviceRow): string => `${personId} ${network} ${device}`

export const layer = Layer.effect(
  KnownDevicesRepo,
  Effect.map(MemoryStorage, (memory) =>
    KnownDevicesRepo.of({
      see: (device, since) =>
        memory.write((database) =>
          Effect.sync(() => {
            const rows = database.table(knownDevices)
            rows.deleteWhere(({ seenAt }) => seenAt <= since)
            const isNew = rows.get(keyOf(device)) === undefined
            rows.set(keyOf(device), device)
            return isNew
          })
        )
    })
  )
)
