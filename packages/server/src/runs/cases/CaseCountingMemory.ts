import { Effect, Layer } from "effect"
import { CaseCountingRepo } from "./CaseCountingRepo.ts"

/** In memory each read looks through the runs: there is nothing to count behind them. */
export const layer = Layer.succeed(CaseCountingRepo, {
  countRuns: () => Effect.succeed(false),
  recount: () => Effect.succeed(false),
  refreshDay: () => Effect.succeed(false),
  workspaces: Effect.succeed([]),
  recountAll: () => Effect.succeed(0),
  isBehind: Effect.succeed(false)
})
