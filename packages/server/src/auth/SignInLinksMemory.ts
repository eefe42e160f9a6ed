import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { signInLinks, SignInLinksRepo } from "./SignInLinksRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  SignInLinksRepo,
  Effect.map(MemoryStorage, (memory) => SignInLinksRepo.of({ insert: insert(memory), use: use(memory) }))
)

const insert =
  (memory: Memory): SignInLinksRepo["Service"]["insert"] =>
  (link) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(signInLinks)
        rows.deleteWhere(({ expiresAt }) => expiresAt <= link.createdAt)
        rows.set(link.id, link)
      })
    )

const use =
  (memory: Memory): SignInLinksRepo["Service"]["use"] =>
  (tokenHash, now, only) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(signInLinks)
        const link = rows.find(
          (row) => row.tokenHash === tokenHash && row.expiresAt > now && (only === undefined || row.personId === only)
        )
        if (link !== undefined) rows.delete(link.id)
        return link?.personId
      })
    )
