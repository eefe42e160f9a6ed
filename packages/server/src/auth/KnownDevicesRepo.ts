import type { PersonId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, type Effect } from "effect"
import { instant, type Row, table, text, uuid } from "../storage/Table.ts"

/** From where each person has signed in: a browser and its system, in words, in a network. */
export const knownDevices = table("known_devices", {
  personId: uuid<PersonId>(),
  device: text(),
  network: text(),
  seenAt: instant()
})

export type KnownDeviceRow = Row<typeof knownDevices>

/** Stores the devices of persons. */
export class KnownDevicesRepo extends Context.Service<
  KnownDevicesRepo,
  {
    /** Notes a sign-in; forgets devices that were last seen at `since` or before. Answers whether it is the first of the device. */
    readonly see: (device: KnownDeviceRow, since: Timestamp) => Effect.Effect<boolean>
  }
>()("@delivery/server/auth/KnownDevicesRepo") {}
