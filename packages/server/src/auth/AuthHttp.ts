import { DeliveryApi } from "@delivery/domain/Api"
import { NotFound } from "@delivery/domain/Errors"
import { Effect } from "effect"
import { Settings } from "../Config.ts"
import { handlersOf } from "../http/Handlers.ts"
import { keepsCookies } from "../http/OwnPages.ts"
import { makeAuthenticateSession } from "../identity/SessionAuthentication.ts"
import { browser, clearCookie, refuse, withCookie } from "./Cookies.ts"
import { MailedProofs } from "./MailedProofs.ts"
import { mailHandlers } from "./MailHttp.ts"
import { passkeyHandlers } from "./PasskeysHttp.ts"
import { offersPasskeys } from "./RelyingParty.ts"
import { Sessions } from "./Sessions.ts"
import { SingleSignOn } from "./SingleSignOn.ts"
import { singleSignOnHandlers } from "./SingleSignOnHttp.ts"

/** The handlers of signing in. */
export const layer = handlersOf(DeliveryApi, "auth", (handlers) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const authenticated = yield* makeAuthenticateSession
    const { isOffered: mail } = yield* MailedProofs
    const { baseUrl } = yield* Settings
    const available = keepsCookies(baseUrl)
    const passkeys = offersPasskeys(baseUrl)
    const { providers } = yield* SingleSignOn
    return handlers
      .handle("methods", () =>
        Effect.succeed({
          available,
          reason: available ? null : ("insecure_base_url" as const),
          mail,
          passkeys,
          providers
        })
      )
      .handle("consumeLink", ({ payload }) =>
        browser.pipe(
          Effect.flatMap((browser) => sessions.consumeLink(payload, browser)),
          Effect.flatMap(withCookie),
          Effect.catchTag("Throttled", refuse)
        )
      )
      .handle("acceptInvite", ({ payload }) =>
        Effect.gen(function* () {
          const from = yield* browser
          // A cookie that no longer works is none: its browser would send it for ever.
          const as = yield* Effect.catch(authenticated(from.token ?? ""), () => Effect.undefined)
          const accepted = yield* sessions.acceptInvite(payload, as, from)
          return "token" in accepted ? yield* withCookie(accepted) : accepted
        }).pipe(
          // The session ended meanwhile.
          Effect.catchTag("Unauthorized", () => Effect.fail(NotFound.of("invite")))
        )
      )
      .handle("previewInvite", ({ payload }) => sessions.previewInvite(payload))
      .handle("sudo", ({ payload }) =>
        browser.pipe(
          Effect.flatMap((browser) => sessions.sudo(payload, browser)),
          Effect.flatMap(withCookie),
          Effect.catchTag("Throttled", refuse)
        )
      )
      .handle("session", () => sessions.current)
      .handle("sessions", () => Effect.map(sessions.list, (sessions) => ({ sessions })))
      .handle("endSession", ({ params }) =>
        Effect.flatMap(sessions.end(params.session), ({ wasCurrent }) => (wasCurrent ? clearCookie : Effect.void))
      )
      .handle("endOtherSessions", () => sessions.endOthers)
      .handle("signOut", () => Effect.andThen(Effect.flatMap(browser, sessions.signOut), clearCookie))
      .handleAll({ ...(yield* mailHandlers), ...(yield* passkeyHandlers), ...(yield* singleSignOnHandlers) })
  })
)
