import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { readEvidence } from "./Evidence.ts"
import { EvidenceRepo } from "./EvidenceRepo.ts"

export const layer = handlersOf(DeliveryApi, "evidence", (handlers) =>
  Effect.gen(function* () {
    const get = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
    const turns = yield* ListTurns
    // With up to 5,000 tests and the runs of each, it takes its turn as long lists do.
    return handlers.handle("get", ({ params }) => Effect.andThen(turns.take, get(params.ticket)))
  })
)
