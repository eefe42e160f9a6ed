import type { SessionId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { makeWriteBehind } from "../storage/WriteBehind.ts"
import { SessionsRepo } from "./SessionsRepo.ts"

/** When sessions were last seen: written at most a second later, and what is not yet written counts. */
export class SessionUsage extends Context.Service<
  SessionUsage,
  {
    /** Notes that the session was used now. */
    readonly note: (id: SessionId) => Effect.Effect<void>
    /** When it was last seen: as stored, or later. */
    readonly latest: (id: SessionId, stored: Timestamp) => Timestamp
  }
>()("@delivery/server/identity/SessionUsage") {
  static readonly layer = Layer.effect(
    SessionUsage,
    Effect.gen(function* () {
      const repo = yield* SessionsRepo
      const { latest, note } = yield* makeWriteBehind<SessionId>(
        "session_usage",
        "The times at which sessions were last seen could not be stored.",
        repo.touch
      )
      return SessionUsage.of({ note, latest })
    })
  )
}
