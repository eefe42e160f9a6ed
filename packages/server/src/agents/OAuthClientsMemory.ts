import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { type OAuthClientRow, oauthClients, OAuthClientsRepo } from "./OAuthClientsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  OAuthClientsRepo,
  Effect.map(MemoryStorage, (memory) =>
    OAuthClientsRepo.of({
      insert: insert(memory),
      find: (id) => memory.read((database) => database.table(oauthClients).get(id)),
      use: use(memory)
    })
  )
)

const insert = (memory: Memory) => (client: OAuthClientRow, unusedUntil: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(oauthClients)
      const unused = rows.filter(({ createdAt, usedAt }) => usedAt === null && createdAt <= unusedUntil)
      for (const { id } of unused) rows.delete(id)
      rows.set(client.id, client)
    })
  )

const use = (memory: Memory) => (id: string, at: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const rows = database.table(oauthClients)
      const client = rows.get(id)
      if (client !== undefined) rows.set(id, { ...client, usedAt: at })
    })
  )
