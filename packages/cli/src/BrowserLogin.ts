import { loginMillis, type StartedLogin } from "@delivery/domain/auth/Logins"
import { Scope, scopeNames } from "@delivery/domain/Scope"
import { firstCharacters, visible } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Duration, Effect, Schedule, Schema } from "effect"
import { HttpClientError } from "effect/http"
import { hash, randomBytes } from "node:crypto"
import { hostname } from "node:os"
import { callAt } from "./Calls.ts"
import { callFailure, Failure } from "./Failure.ts"
import { makeLoginListener } from "./LoginListener.ts"
import { openPage } from "./OpenPage.ts"
import { note, oneLine } from "./Output.ts"

/** A key that a person gives this computer in a browser, on it or on another (docs/contract.md, Sign-in of the command line). */

export interface AskedKey {
  readonly url: string
  /** Separated by commas; undefined for all. */
  readonly scopes: string | undefined
  /** For how many days it is to work; undefined for as many as the service proposes. */
  readonly days: number | undefined
}

const scopesOf = (text: string | undefined) =>
  text === undefined
    ? Effect.undefined
    : Effect.mapError(
        Schema.decodeUnknownEffect(Schema.Array(Scope))(text.split(",").map((scope) => scope.trim())),
        () => Failure.usage(`--scopes takes some of ${scopeNames.join(", ")}, separated by commas.`)
      )

/** Without what the service refuses in a name, and no longer than it takes. */
const keyName = (): string => firstCharacters(visible(`delivery on ${oneLine(hostname())}`), 80)

const withKey = "Or give it a key: `delivery login --with-key`."

const refused = Failure.notSignedIn("The sign-in was refused in the browser. You are not signed in.")

/** Why there is no key, in the words of a sign-in. */
const loginFailure =
  (url: string) =>
  (error: unknown): Failure => {
    if (HttpClientError.isHttpClientError(error) && error.response?.status === 404) {
      return new Failure({ message: `${url} has no sign-in through a browser. ${withKey}` })
    }
    const { _tag, message, reason } = error as {
      readonly _tag: string
      readonly message: string
      readonly reason?: string
    }
    // A code came that is not the one of a decision, or does not work any more.
    if (_tag === "Unauthorized" || reason === "authorization_pending") {
      return Failure.notSignedIn(
        "The sign-in did not work: it took too long, or you have signed out in the browser. Run `delivery login` again."
      )
    }
    if (_tag !== "Forbidden") return callFailure({ url })(error)
    return reason === "access_denied" ? refused : new Failure({ message: `${url}: ${message} ${withKey}` })
  }

/** A login that somebody is to decide about, and the verifier by which its key is fetched. */
interface Begun extends StartedLogin {
  readonly codeVerifier: string
}

const begin = Effect.fnUntraced(function* ({ days, scopes, url }: AskedKey, redirectUri?: string) {
  const codeVerifier = randomBytes(32).toString("base64url")
  const chosen = yield* scopesOf(scopes)
  const payload = {
    name: keyName(),
    codeChallenge: hash("sha256", codeVerifier, "base64url"),
    ...(redirectUri === undefined ? {} : { redirectUri }),
    ...(chosen === undefined ? {} : { scopes: chosen }),
    ...(days === undefined ? {} : { keyExpiresAt: timestamp((yield* Clock.currentTimeMillis) + days * dayMillis) })
  }
  const started = yield* callAt({ url, apiKey: null }, ({ logins }) =>
    Effect.mapError(logins.start({ payload }), loginFailure(url))
  )
  return { ...started, codeVerifier } satisfies Begun
})

const dayMillis = 86_400_000

/** Whether to ask once more: nobody has decided yet, or the service has too much to do, or cannot be reached just now. */
const isToWait = (error: unknown): boolean => {
  if (HttpClientError.isHttpClientError(error)) return error.response === undefined
  const { _tag, reason } = error as { readonly _tag?: string; readonly reason?: unknown }
  return reason === "authorization_pending" || _tag === "TooManyRequests"
}

/** Fetches the key by a code, or without one as soon as somebody has decided. */
const fetchKey = (url: string, { codeVerifier, id, interval }: Begun, code?: string) =>
  callAt({ url, apiKey: null }, ({ logins }) => {
    const params = { login: id }
    const redeemed =
      code === undefined
        ? Effect.retry(logins.redeem({ params, payload: { codeVerifier } }), {
            while: isToWait,
            schedule: Schedule.spaced(Duration.seconds(interval))
          })
        : logins.redeem({ params, payload: { codeVerifier, code } })
    return Effect.mapError(redeemed, loginFailure(url))
  })

const inTime = <A, R>(waiting: Effect.Effect<A, Failure, R>): Effect.Effect<A, Failure, R> =>
  Effect.catchTag(Effect.timeout(waiting, Duration.millis(loginMillis)), "TimeoutError", () =>
    Effect.fail(Failure.notSignedIn("Nobody has decided within 10 minutes. Run `delivery login` again."))
  )

/** With the browser of this computer. */
export const loginWithBrowser = Effect.fnUntraced(function* (asked: AskedKey) {
  const { answerTo, redirectUri } = yield* makeLoginListener
  const begun = yield* begin(asked, redirectUri)
  const address = oneLine(begun.url)
  yield* note(`Decide in the browser: ${address}\nWithout a browser on this computer, use: delivery login --device`)
  // A browser may last as long as its window.
  yield* Effect.forkDetach(openPage(begun.url))
  const { code } = yield* inTime(answerTo(begun.id))
  return yield* code === undefined ? refused : fetchKey(asked.url, begun, code)
}, Effect.scoped)

/** With a browser anywhere, where somebody types the code that is shown here. */
export const loginWithCode = Effect.fnUntraced(function* (asked: AskedKey) {
  const begun = yield* begin(asked)
  yield* note(`Open in a browser: ${oneLine(begun.url)}\nand type this code there: ${oneLine(begun.userCode ?? "")}`)
  return yield* inTime(fetchKey(asked.url, begun))
})
