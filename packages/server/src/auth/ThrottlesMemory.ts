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
  (subject, limit, now, since) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(throttles)
        rows.deleteWhere(({ startedAt }) => startedAt <= since)
        const known = rows.get(subject)
        const { count, startedAt } = known ?? { count: 0, startedAt: now }
        const isCounted = count < limit
        if (isCounted) rows.set(subject, { subject, count: count + 1, startedAt })
        return { subject, startedAt, isCounted }
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
