import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { throttles, ThrottlesRepo } from "./ThrottlesRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  ThrottlesRepo,
  Effect.map(MemoryStorage, (memory) => ThrottlesRepo.of({ count: count(memory), giveBack: giveBack(memory) }))
)

const count =
  (memory: Memory): ThrottlesRepo["Service"]["count"] =>
  (subject, now, since) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(throttles)
        rows.deleteWhere(({ startedAt }) => startedAt <= since)
        const known = rows.get(subject)
        const counter = { subject, count: (known?.count ?? 0) + 1, startedAt: known?.startedAt ?? now }
        rows.set(subject, counter)
        return counter
      })
    )

const giveBack =
  (memory: Memory): ThrottlesRepo["Service"]["giveBack"] =>
  ({ startedAt, subject }) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(throttles)
        const counter = rows.get(subject)
        if (counter?.startedAt === startedAt) rows.set(subject, { ...counter, count: counter.count - 1 })
      })
    )
