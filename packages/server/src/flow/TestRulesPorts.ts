import { Effect, Layer } from "effect"
import { Messages } from "../agents/Messages.ts"
import { EnvironmentsRepo } from "../catalog/EnvironmentsRepo.ts"
import { Settings } from "../Config.ts"
import { Events } from "../events/Events.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { Comments } from "../planning/Comments.ts"
import { TeamsRepo } from "../planning/TeamsRepo.ts"
import { Tickets } from "../planning/Tickets.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { RunEnds } from "../runs/RunEnds.ts"
import { TestRunsRepo } from "../runs/TestRunsRepo.ts"
import { Storage } from "../storage/Storage.ts"
import { TestRulesRepo } from "./TestRulesRepo.ts"
import { applyRules } from "./TestRulesRuns.ts"

/** The `RunEnds` of `runs`: the rules that are for the run. */
export const layer = Layer.effect(
  RunEnds,
  Effect.gen(function* () {
    const repo = yield* TestRulesRepo
    return RunEnds.of({
      isWatched: (run) => Effect.map(repo.watched(run), (product) => product !== undefined),
      finished: applyRules({
        repo,
        runs: yield* TestRunsRepo,
        tickets: yield* Tickets,
        ticketsRepo: yield* TicketsRepo,
        comments: yield* Comments,
        messages: yield* Messages,
        members: yield* MembersRepo,
        environments: yield* EnvironmentsRepo,
        teams: yield* TeamsRepo,
        storage: yield* Storage,
        events: yield* Events,
        baseUrl: (yield* Settings).baseUrl
      })
    })
  })
)
