import { Effect, Layer } from "effect"
import { Mail } from "../identity/Mail.ts"
import { inviteLetter } from "./Letters.ts"
import { Outbox } from "./Outbox.ts"
import { Throttles } from "./Throttles.ts"

export const layer = Layer.effect(
  Mail,
  Effect.gen(function* () {
    const { isSet, post } = yield* Outbox
    const throttles = yield* Throttles
    return Mail.of({
      sendInvite: isSet ? (mail) => Effect.asVoid(post(Effect.succeed(inviteLetter(mail)))) : undefined,
      admitInvite: (workspaceId, to) =>
        Effect.mapError(throttles.invite(workspaceId, to), (over) => ({
          ...over,
          message: `Too many invites were mailed to this address. Try again in ${over.retryAfter} s, or use deliver: link.`
        }))
    })
  })
)
