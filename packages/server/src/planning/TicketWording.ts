import { Effect, Layer } from "effect"
import { paced } from "../storage/Paced.ts"
import { Storage } from "../storage/Storage.ts"
import { background } from "../telemetry/Background.ts"
import { TicketsRepo } from "./TicketsRepo.ts"

/**
 * Stores the words of tickets that servers of before the search wrote, while they run beside newer ones: at start and each
 * minute.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const repo = yield* TicketsRepo
    const storage = yield* Storage
    const steps = paced(storage.transaction(repo.wordTickets), { share: 0.5 })
    const round = yield* background("ticket_words", "Tickets could not be prepared for the search.", steps)
    yield* round.pipe(Effect.andThen(Effect.sleep("1 minute")), Effect.forever, Effect.forkScoped)
  })
)
