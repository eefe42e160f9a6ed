import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { readEvidence } from "./Evidence.ts"
import { EvidenceRepo } from "./EvidenceRepo.ts"

export const layer = handlersOf(DeliveryApi, "evidence", (handlers) =>
  Effect.gen(function* () {
    const get = readEvidence({ repo: yield* EvidenceRepo, tickets: yield* TicketsRepo })
    return handlers.handle("get", ({ params }) => get(params.ticket))
  })
)
