import type { AskForLink, SignInProof } from "@delivery/domain/auth/Session"
import { Effect } from "effect"
import { browser, keepSecret, refuse } from "./Cookies.ts"
import { MailedProofs } from "./MailedProofs.ts"
import { Sessions } from "./Sessions.ts"

/** The handlers of what is mailed, and of invites to a proven address. */
export const mailHandlers = Effect.gen(function* () {
  const mailed = yield* MailedProofs
  const sessions = yield* Sessions
  return {
    askForLink: ({ payload }: { readonly payload: AskForLink }) =>
      browser.pipe(
        Effect.flatMap((browser) => mailed.askForLink(payload, browser)),
        Effect.flatMap(keepSecret),
        Effect.as({}),
        Effect.catchTag("Throttled", refuse)
      ),
    askForProof: () =>
      browser.pipe(Effect.flatMap(mailed.askForProof), Effect.as({}), Effect.catchTag("Throttled", refuse)),
    proveAddress: ({ payload }: { readonly payload: SignInProof }) =>
      browser.pipe(
        Effect.flatMap((browser) => sessions.proveAddress(payload, browser)),
        Effect.catchTag("Throttled", refuse)
      ),
    acceptReceivedInvite: ({ params }: { readonly params: { readonly invite: string } }) =>
      sessions.acceptReceived(params.invite)
  }
})
