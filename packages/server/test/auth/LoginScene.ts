import type { DecidedLogin, DecideLogin, StartedLogin, StartLogin } from "@delivery/domain/auth/Logins"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import { hash, randomBytes } from "node:crypto"
import { assert } from "vitest"
import type { Http } from "../support/Http.ts"

/** The command line that signs in through a browser, as its requests. */

export const newVerifier = (): string => randomBytes(32).toString("base64url")

const challengeOf = (verifier: string): string => hash("sha256", verifier, "base64url")

export const redirectUri = "http://127.0.0.1:53682/done"

let networks = 0
/** Another network address each time: of one, only so many begin. The server trusts the tests as its proxy. */
export const newNetwork = () => ({ "x-forwarded-for": `10.8.${networks >> 8}.${networks++ & 255}` })

export const proxied = { TRUSTED_PROXIES: "127.0.0.1/32,::1/128" }

export const startBody = (verifier: string, fields: Partial<StartLogin> = {}): StartLogin => ({
  name: "delivery on laptop",
  codeChallenge: challengeOf(verifier),
  ...fields
})

export interface StartedByProgram extends StartedLogin {
  readonly verifier: string
}

/** Begins a login, with a browser on the same computer unless it says otherwise. */
export const startLogin = async (
  http: Http,
  { isDevice = false, ...fields }: Partial<StartLogin> & { readonly isDevice?: boolean } = {}
): Promise<StartedByProgram> => {
  const verifier = newVerifier()
  const json = startBody(verifier, { ...(isDevice ? {} : { redirectUri }), ...fields })
  const headers = newNetwork()
  const answer = await http.as(undefined).send<StartedLogin>("POST", "/auth/v1/cli/logins", { json, headers })
  assert.strictEqual(answer.status, 201, answer.text)
  return { ...answer.body, verifier }
}

export const decideLogin = (session: Http, id: string, json: DecideLogin | object) =>
  session.send<DecidedLogin>("POST", `/auth/v1/cli/logins/${id}`, { json, headers: newNetwork() })

/** Fetches the key. */
export const redeemLogin = (http: Http, id: string, json: object, headers = newNetwork()) =>
  http.as(undefined).send<NewApiKey>("POST", `/auth/v1/cli/logins/${id}/token`, { json, headers })

/** What the browser brings to the program. */
export const answerAt = ({ location }: DecidedLogin): Readonly<Record<string, string>> => {
  assert.isTrue(location!.startsWith(`${redirectUri}?`), location!)
  return Object.fromEntries(new URL(location!).searchParams)
}

/** Has the person of the session allow the login. Answers what the program needs to fetch its key. */
export const allowLogin = async (session: Http, login: StartedByProgram, fields: object = {}) => {
  const userCode = login.userCode === null ? {} : { userCode: login.userCode }
  const { body, status, text } = await decideLogin(session, login.id, { allow: true, ...userCode, ...fields })
  assert.strictEqual(status, 200, text)
  const code = body.location === null ? {} : { code: answerAt(body)["code"]! }
  return { codeVerifier: login.verifier, ...code }
}
