import { Schema } from "effect"
import { Body } from "../Body.ts"
import { LoginId, PersonId } from "../Ids.ts"
import { isExactRedirect, isLoopback } from "../Loopback.ts"
import { isCodeChallenge, isCodeVerifier } from "../Pkce.ts"
import { KeyScopes, NewKeyScopes } from "../Scope.ts"
import { Text, undocumented, VisibleName } from "../Text.ts"
import { Timestamp, TimestampInput } from "../Timestamp.ts"

/** Sign-ins of the command line through a browser (docs/contract.md, Sign-in of the command line). */

/** How long a person has to decide, in milliseconds: 10 min. */
export const loginMillis = 10 * 60 * 1000

/** How long the key of a login works that asks for no other time, in milliseconds: 90 days. */
export const loginKeyMillis = 90 * 86_400_000

/** How long a program waits before it asks again whether somebody has decided, in seconds. */
export const loginIntervalSeconds = 5

const example = {
  id: LoginId.make("0197a1b2-0000-7000-8000-0000000000e8"),
  name: "delivery on laptop",
  host: "127.0.0.1:53682",
  challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  userCode: "7KQF-M2XR",
  keyExpiresAt: "2027-02-19T09:30:00.000Z",
  expiresAt: "2026-11-21T09:40:00.000Z"
}

/** What of a key a program asks for, or a person allows. */
const limits = {
  scopes: Schema.optionalKey(NewKeyScopes),
  keyExpiresAt: Schema.optionalKey(
    TimestampInput.annotate({ description: "When the key stops working, at most 2 years ahead." })
  )
}

const challenge = Schema.String.check(
  Schema.makeFilter<string>((text) => isCodeChallenge(text) || "Expected the SHA-256 of a verifier in base64url", {
    toJsonSchema: undocumented
  })
).annotate({ description: "The SHA-256 of the verifier in base64url (RFC 7636, `S256`)." })

const verifier = Schema.String.check(
  Schema.makeFilter<string>((text) => isCodeVerifier(text) || "Expected 43 to 128 letters, digits, or any of -._~", {
    toJsonSchema: undocumented
  })
).annotate({ description: "The text whose SHA-256 is the `codeChallenge` (RFC 7636). It is kept where it was made." })

const redirect = Schema.String.check(
  Schema.makeFilter<string>(
    (text) => (isExactRedirect(text) && isLoopback(text)) || "Expected an http URL at localhost, 127.0.0.1 or [::1]",
    { toJsonSchema: undocumented }
  )
).annotate({
  description:
    "Where the program listens on its own computer: http to `127.0.0.1`, `[::1]` or `localhost`, at any port. Without it, there is no browser on that computer, and the program asks until somebody has decided."
})

export const StartLogin = Body({
  name: VisibleName(80).annotate({ description: "The name of the key that is asked for. Name the computer in it." }),
  codeChallenge: challenge,
  redirectUri: Schema.optionalKey(redirect),
  ...limits
}).annotate({
  identifier: "StartLogin",
  description: "What the command line asks for. Without `keyExpiresAt`, the key works for 90 days.",
  examples: [
    { name: example.name, codeChallenge: example.challenge, redirectUri: `http://${example.host}/` },
    { name: example.name, codeChallenge: example.challenge, scopes: ["read", "publish"] }
  ]
})
export type StartLogin = typeof StartLogin.Type

/** A login that waits for somebody to decide. */
export const StartedLogin = Schema.Struct({
  id: LoginId,
  url: Schema.String.annotate({ description: "The page where a person decides. Open it, or show it." }),
  userCode: Schema.NullOr(Schema.String).annotate({
    description: "What the person types on the page, where there is no `redirectUri`; null where there is."
  }),
  expiresAt: Timestamp.annotate({ description: "Until when somebody can decide." }),
  interval: Schema.Int.annotate({ description: "How many seconds to wait between two requests for the key." })
}).annotate({
  identifier: "StartedLogin",
  description: "A login of the command line, which waits for somebody to decide.",
  examples: [
    {
      id: example.id,
      url: `https://delivery.example.com/cli#${example.id}`,
      userCode: example.userCode,
      expiresAt: example.expiresAt,
      interval: loginIntervalSeconds
    }
  ]
})
export type StartedLogin = typeof StartedLogin.Type

const asking = {
  name: Schema.String.annotate({
    description: "The name that the program gives the key. Nobody has checked it."
  }),
  host: Schema.NullOr(Schema.String).annotate({
    description: "Where the program listens on the computer of the browser; null where it is on another computer."
  })
}

/** Who asks, as whoever has the id of the login is told before they sign in. */
export const AskingProgram = Schema.Struct(asking).annotate({
  identifier: "AskingProgram",
  description: "The program that asks to be signed in.",
  examples: [{ name: example.name, host: example.host }]
})
export type AskingProgram = typeof AskingProgram.Type

/** What the command line asks for, until somebody has decided. */
export const Login = Schema.Struct({
  id: LoginId,
  ...asking,
  address: Schema.String.annotate({ description: "The network address from which the program asks." }),
  scopes: KeyScopes.annotate({ description: "What the key is to be limited to; null: nothing." }),
  keyExpiresAt: Timestamp.annotate({ description: "When the key is to stop working." }),
  createdAt: Timestamp,
  expiresAt: Timestamp.annotate({ description: "Until when you can decide." })
}).annotate({
  identifier: "Login",
  description: "What the command line asks of you: an API key.",
  examples: [
    {
      id: example.id,
      name: example.name,
      host: null,
      address: "203.0.113.7",
      scopes: ["read", "publish"],
      keyExpiresAt: example.keyExpiresAt,
      createdAt: "2026-11-21T09:30:00.000Z",
      expiresAt: example.expiresAt
    }
  ]
})
export type Login = typeof Login.Type

const Allow = Body({
  allow: Schema.Literal(true),
  person: Schema.optionalKey(
    PersonId.annotate({
      description: "The id of the person to whom the request was shown. If somebody else is signed in now, it is 409."
    })
  ),
  userCode: Schema.optionalKey(
    Text(100).annotate({
      description: "The code that the terminal shows, where the program is on another computer: required there."
    })
  ),
  name: Schema.optionalKey(VisibleName(80).annotate({ description: "Another name for the key." })),
  ...limits
}).annotate({
  identifier: "AllowLogin",
  description: "Gives the program a key: with at most the scopes that it asks for, and for at most as long.",
  examples: [{ allow: true, userCode: example.userCode }]
})

const Refuse = Body({ allow: Schema.Literal(false) }).annotate({
  identifier: "RefuseLogin",
  description: "Refuses the program.",
  examples: [{ allow: false }]
})

export const DecideLogin = Schema.Union([Allow, Refuse]).annotate({
  identifier: "DecideLogin",
  description: "Whether the program gets a key.",
  message: "Expected an object",
  examples: [{ allow: true, scopes: ["read"] }]
})
export type DecideLogin = typeof DecideLogin.Type

/** How the program learns what was decided. */
export const DecidedLogin = Schema.Struct({
  location: Schema.NullOr(Schema.String).annotate({
    description:
      "Where to send the browser: to the program, with `state` (the id of the login) and `code` or `error=access_denied`. Null where the program asks by itself."
  })
}).annotate({
  identifier: "DecidedLogin",
  description: "How the program learns what you have decided.",
  examples: [{ location: `http://${example.host}/?error=access_denied&state=${example.id}` }]
})
export type DecidedLogin = typeof DecidedLogin.Type

export const RedeemLogin = Body({
  codeVerifier: verifier,
  code: Schema.optionalKey(
    Text(200).annotate({ description: "The code (`otk_...`) that came to the `redirectUri`, if there is one." })
  )
}).annotate({
  identifier: "RedeemLogin",
  description: "Shows that the program is the one that asked.",
  examples: [{ codeVerifier: example.verifier, code: "otk_2Lx9Wc5Bn8Yd3Pa6Ue0H4fGhTz0sVq1Jm7Rk4e7Y1a" }]
})
export type RedeemLogin = typeof RedeemLogin.Type
