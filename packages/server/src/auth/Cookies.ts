import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { Effect, Option } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { failFor } from "../http/RetryAfter.ts"
import { deviceOf } from "./Devices.ts"
import type { AskingBrowser } from "./MailedProofs.ts"
import type { Begun, Browser } from "./Sessions.ts"
import { type Throttled, tooManyAttempts } from "./Throttles.ts"

/** What the handlers of the room share: the browser that asks, and the cookie that it keeps. */

/** What a browser keeps that asked for a mail. */
const askedCookie = "__Host-delivery_asked"

/** Where the request comes from. */
export const browser = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ cookies, headers, remoteAddress }): Browser => ({
    device: deviceOf(headers["user-agent"]),
    address: Option.getOrElse(remoteAddress, () => "unknown"),
    token: cookies[sessionCookie],
    asked: cookies[askedCookie]
  })
)

const cookieOptions = { secure: true, httpOnly: true, sameSite: "lax", path: "/" } as const

const answering = (
  change: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
) => HttpEffect.appendPreResponseHandler((_, response) => Effect.succeed(change(response)))

/** Has the browser forget the token. */
export const clearCookie = answering(HttpServerResponse.expireCookieUnsafe(sessionCookie, cookieOptions))

/** Answers who is signed in, and has the browser keep the token. */
export const withCookie = ({ announce = Effect.void, millis, signedIn, token }: Begun) =>
  announce.pipe(
    Effect.andThen(
      answering(HttpServerResponse.setCookieUnsafe(sessionCookie, token, { ...cookieOptions, maxAge: millis }))
    ),
    Effect.as(signedIn)
  )

/** Has the browser keep the secret with which it asked for a mail. */
export const keepSecret = ({ millis, secret }: AskingBrowser) =>
  answering(HttpServerResponse.setCookieUnsafe(askedCookie, secret, { ...cookieOptions, maxAge: millis }))

/** `TooManyRequests` with the header that says when to try again. */
export const refuse = (throttled: Throttled) => failFor(throttled.retryAfter, tooManyAttempts(throttled))
