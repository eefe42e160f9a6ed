import { Effect, Layer } from "effect"
import { Mail } from "../identity/Mail.ts"
import { inviteLetter } from "./Letters.ts"
import { Outbox } from "./Outbox.ts"
import { reasonOf, Throttles, tooMuchMail } from "./Throttles.ts"

export const layer = Layer.effect(
  Mail,
  Effect.gen(function* () {
    const { hasRoom, isSet, post } = yield* Outbox
    const throttles = yield* Throttles
    return Mail.of({
      sendInvite: isSet ? (mail) => Effect.asVoid(post(Effect.succeed(inviteLetter(mail)), "invites")) : undefined,
      admitInvite: (workspaceId, to, by) =>
        Effect.flatMap(hasRoom("invites"), (isRoom) =>
          isRoom ? throttles.invite(workspaceId, to, by) : Effect.fail(tooMuchMail)
        ).pipe(
          Effect.mapError((over) => ({
            ...over,
            message: `${reasonOf(over)} Try again in ${over.retryAfter} s, or use deliver: link.`
          }))
        )
    })
  })
)
