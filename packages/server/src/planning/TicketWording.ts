import { Effect, Layer } from "effect"
import { paced } from "../storage/Paced.ts"
import { Storage } from "../storage/Storage.ts"
import { background } from "../telemetry/Background.ts"
import { TicketsRepo } from "./TicketsRepo.ts"

/**
 * Stores the words of tickets and comments that servers of before their search wrote, while they run beside newer ones: at start
 * and each minute.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const repo = yield* TicketsRepo
    const storage = yield* Storage
    const steps = (words: Effect.Effect<boolean>) => paced(storage.transaction(words), { share: 0.5 })
    const all = Effect.andThen(steps(repo.wordTickets), steps(repo.wordComments))
    const round = yield* background("ticket_words", "Tickets could not be prepared for the search.", all)
    yield* round.pipe(Effect.andThen(Effect.sleep("1 minute")), Effect.forever, Effect.forkScoped)
  })
)
