import { DeliveryApi } from "@delivery/domain/Api"
import { NotFound } from "@delivery/domain/Errors"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { Effect, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../Config.ts"
import { handlersOf } from "../http/LeanContext.ts"
import { keepsCookies } from "../http/OwnPages.ts"
import { makeAuthenticateSession } from "../identity/SessionAuthentication.ts"
import { deviceOf } from "./Devices.ts"
import { type Begun, type Browser, Sessions } from "./Sessions.ts"
import { type Throttled, tooManyAttempts } from "./Throttles.ts"

const browser = Effect.map(HttpServerRequest.HttpServerRequest, ({ cookies, headers, remoteAddress }): Browser => ({
  device: deviceOf(headers["user-agent"]),
  address: Option.getOrElse(remoteAddress, () => "unknown"),
  token: cookies[sessionCookie]
}))

const cookieOptions = { secure: true, httpOnly: true, sameSite: "lax", path: "/" } as const

const answering = (
  change: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
) => HttpEffect.appendPreResponseHandler((_, response) => Effect.succeed(change(response)))

const clearCookie = answering(HttpServerResponse.expireCookieUnsafe(sessionCookie, cookieOptions))

/** Answers who is signed in, and has the browser keep the token. */
const withCookie = ({ millis, signedIn, token }: Begun) =>
  Effect.as(
    answering(HttpServerResponse.setCookieUnsafe(sessionCookie, token, { ...cookieOptions, maxAge: millis })),
    signedIn
  )

/** `TooManyRequests` with the header that says when to try again. */
const refuse = (throttled: Throttled) =>
  Effect.andThen(
    answering(HttpServerResponse.setHeader("retry-after", String(throttled.retryAfter))),
    Effect.fail(tooManyAttempts(throttled))
  )

/** The handlers of signing in. */
export const layer = handlersOf(DeliveryApi, "auth", (handlers) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const authenticated = yield* makeAuthenticateSession
    const available = keepsCookies((yield* Settings).baseUrl)
    return handlers
      .handle("methods", () =>
        Effect.succeed({
          available,
          reason: available ? null : ("insecure_base_url" as const),
          mail: false,
          passkeys: false,
          providers: []
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
  })
)
