import { Effect, Layer } from "effect"
import { MemoryStorage } from "../storage/MemoryStorage.ts"
import { signInFlows, SignInFlowsRepo } from "./SignInFlowsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  SignInFlowsRepo,
  Effect.map(MemoryStorage, (memory) => SignInFlowsRepo.of({ insert: insert(memory), use: use(memory) }))
)

const insert =
  (memory: Memory): SignInFlowsRepo["Service"]["insert"] =>
  (flow) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(signInFlows)
        rows.deleteWhere(({ expiresAt }) => expiresAt <= flow.createdAt)
        rows.set(flow.id, flow)
      })
    )

const use =
  (memory: Memory): SignInFlowsRepo["Service"]["use"] =>
  ({ browserHash, provider, stateHash }, now) =>
    memory.write((database) =>
      Effect.sync(() => {
        const rows = database.table(signInFlows)
        const flow = rows.find(
          (row) =>
            row.stateHash === stateHash &&
            row.browserHash === browserHash &&
            row.provider === provider &&
            row.expiresAt > now
        )
        if (flow !== undefined) rows.delete(flow.id)
        return flow
      })
    )
