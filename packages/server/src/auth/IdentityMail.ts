import { Effect, Layer } from "effect"
import { Mail } from "../identity/Mail.ts"
import { inviteLetter } from "./Letters.ts"
import { Outbox } from "./Outbox.ts"
import { maxInvites, Throttles } from "./Throttles.ts"

export const layer = Layer.effect(
  Mail,
  Effect.gen(function* () {
    const { hasRoom, isSet, post } = yield* Outbox
    const throttles = yield* Throttles
    return Mail.of({
      sendInvite: isSet ? (mail) => Effect.asVoid(post(Effect.succeed(inviteLetter(mail)), "invites")) : undefined,
      admitInvite: Effect.fnUntraced(function* (workspaceId, to, by) {
        const refuse = (retryAfter: number, what: string) =>
          Effect.fail({
            _tag: "Throttled" as const,
            retryAfter,
            message: `${what} Try again in ${retryAfter} s, or use deliver: link.`
          })
        if (!(yield* hasRoom("invites"))) return yield* refuse(60, "The server has too many mails to send.")
        yield* throttles
          .invite(workspaceId, to, by)
          .pipe(
            Effect.catch(({ of, retryAfter }) =>
              refuse(
                retryAfter,
                of === "invites"
                  ? `You had ${maxInvites} invites mailed in an hour, which is the limit.`
                  : "Too many invites were mailed to this address."
              )
            )
          )
      })
    })
  })
)
