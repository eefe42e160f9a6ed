import type { SignedIn, SignInMethods } from "@delivery/domain/auth/Session"
import type { Identity } from "@delivery/domain/auth/SingleSignOn"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { createHash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { afterAll, assert } from "vitest"
import { type Http, onServers } from "../support/Http.ts"
import { TestBrowser } from "../support/Issuer.ts"
import { serve } from "../support/Served.ts"
import { servers } from "../support/Servers.ts"

/**
 * Signing in by GitHub. GitHub itself is not asked: a peer answers as GitHub's documentation and recorded answers of
 * github.com have it, at the paths of GitHub Enterprise, and checks what GitHub checks.
 */

interface User {
  readonly id: number
  readonly login: string
  readonly name: string | null
}

interface Address {
  readonly email: string
  readonly primary: boolean
  readonly verified: boolean
  readonly visibility: string | null
}

const octocat = { id: 583_231, login: "octocat", name: "The Octocat" }
const primary = { email: "Owner@Example.com", primary: true, verified: true, visibility: "private" }
const other = { email: "octocat@users.noreply.github.com", primary: false, verified: true, visibility: null }

let user: User = octocat
let emails: ReadonlyArray<Address> | number = [other, primary]
let challenges = new Map<string, string>()

const json = (response: ServerResponse, value: object, status = 200) =>
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(value))

const secret = "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432"

/** A wrong code is a 200, as GitHub has it. */
const exchange = async (request: IncomingMessage, response: ServerResponse, url: string) => {
  const form = new URLSearchParams(await text(request))
  assert.strictEqual(request.headers.accept, "application/json")
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url")
  const isRight =
    form.get("client_id") === "Iv1.0123456789abcdef" &&
    form.get("client_secret") === secret &&
    form.get("redirect_uri")?.endsWith("/auth/v1/oidc/github/callback") === true &&
    challenges.get(form.get("code") ?? "") === challenge
  challenges.delete(form.get("code") ?? "")
  if (!isRight) {
    return json(response, {
      error: "bad_verification_code",
      error_description: "The code passed is incorrect or expired.",
      error_uri: `${url}/apps/managing-oauth-apps/troubleshooting#bad-verification-code`
    })
  }
  return json(response, {
    access_token: "gho_16C7e42F292c6912E7710c838347Ae178B4a",
    token_type: "bearer",
    scope: "user:email"
  })
}

const peer = await serve((url) => (request, response) => {
  const { pathname } = new URL(request.url!, url)
  if (pathname === "/login/oauth/access_token" && request.method === "POST") {
    return void exchange(request, response, url).catch((error: Error) => response.destroy(error))
  }
  const isKnown =
    request.headers.authorization === "Bearer gho_16C7e42F292c6912E7710c838347Ae178B4a" &&
    request.headers["user-agent"] !== undefined
  if (!isKnown) return json(response, { message: "Bad credentials", status: "401" }, 401)
  if (pathname === "/api/v3/user")
    return json(response, { ...user, node_id: "MDQ6VXNlcjU4MzIzMQ==", email: null, type: "User" })
  if (pathname === "/api/v3/user/emails" && typeof emails !== "number") return json(response, emails as object)
  return json(response, { message: "Not Found", status: "404" }, typeof emails === "number" ? emails : 404)
})
afterAll(peer.close)

let addresses = 0
const signIn = async (
  { baseUrl }: Http,
  browser = new TestBrowser("nobody", { "x-forwarded-for": `10.3.0.${addresses++}` }),
  change: (answer: URLSearchParams) => void = () => {}
) => {
  const { headers } = await browser.visit(`${baseUrl}/auth/v1/oidc/github/start?returnTo=/here`)
  const page = new URL(headers.get("location")!)
  assert.strictEqual(page.origin + page.pathname, `${peer.url}/login/oauth/authorize`)
  const { client_id, code_challenge, code_challenge_method, redirect_uri, response_type, scope, state } =
    Object.fromEntries(page.searchParams)
  assert.deepStrictEqual(
    [client_id, code_challenge_method, redirect_uri, response_type, scope],
    ["Iv1.0123456789abcdef", "S256", `${baseUrl}/auth/v1/oidc/github/callback`, "code", "user:email"]
  )
  const code = `code${challenges.size}`
  challenges.set(code, code_challenge!)
  const answer = new URLSearchParams({ code, state: state! })
  change(answer)
  const { headers: back } = await browser.visit(`${redirect_uri}?${answer}`)
  return { location: back.get("location"), session: browser.cookie(baseUrl, sessionCookie), browser }
}

const given = (fields: { readonly user?: User; readonly emails?: ReadonlyArray<Address> | number } = {}) => {
  user = fields.user ?? octocat
  emails = fields.emails ?? [other, primary]
  challenges = new Map()
}

const refusedAt = (error: string) => `/sign-in#error=${error}`

onServers(
  servers,
  "Signing in by GitHub",
  (test) => {
    test("the primary address, which GitHub has verified, signs in, and the number of the account afterwards", async (owner) => {
      given()
      const { body } = await owner.as(undefined).send<SignInMethods>("GET", "/auth/v1/methods")
      assert.deepStrictEqual(body.providers, [{ id: "github", name: "GitHub", url: "/auth/v1/oidc/github/start" }])
      const { location, session } = await signIn(owner)
      assert.strictEqual(location, "/here")
      const by = owner.as(session)
      const { person, session: begun } = await by.get<SignedIn>("/auth/v1/session")
      assert.deepStrictEqual([person.email, begun.method], ["owner@example.com", "github"])
      const { identities } = await by.get<{ identities: ReadonlyArray<Identity> }>("/auth/v1/identities")
      const [{ id: _, createdAt: __, lastUsedAt: ___, ...identity }] = identities as [Identity]
      assert.deepEqual(identity, {
        provider: "github",
        issuer: peer.url,
        subject: "583231",
        email: "owner@example.com"
      })
      // Names and addresses change.
      given({ user: { id: octocat.id, login: "renamed", name: null }, emails: [] })
      const again = await signIn(owner)
      assert.strictEqual(again.location, "/here")
      assert.strictEqual((await owner.as(again.session).get<SignedIn>("/auth/v1/session")).person.id, person.id)
      // Somebody else took the name.
      given({ user: { ...octocat, id: 1 }, emails: [] })
      assert.strictEqual((await signIn(owner)).location, refusedAt("address_not_verified"))
    })

    test("no other address signs in", async (owner) => {
      for (const emails of [
        [{ ...primary, verified: false }],
        [{ ...primary, primary: false }],
        [
          { ...primary, primary: false },
          { ...other, primary: true, verified: false }
        ]
      ]) {
        given({ user: { ...octocat, id: 2 }, emails })
        assert.strictEqual((await signIn(owner)).location, refusedAt("address_not_verified"))
      }
      given({
        user: { ...octocat, id: 2 },
        emails: [
          { ...other, primary: true },
          { ...primary, primary: false }
        ]
      })
      assert.strictEqual((await signIn(owner)).location, refusedAt("no_account"))
    })

    test("what is not as GitHub has it signs nobody in", async (owner) => {
      for (const status of [401, 403, 404, 500]) {
        given({ emails: status })
        assert.strictEqual((await signIn(owner)).location, refusedAt(status < 500 ? "failed" : "unavailable"))
      }
      for (const id of ["583231", 1.5, null]) {
        given({ user: { ...octocat, id: id as never } })
        assert.strictEqual((await signIn(owner)).location, refusedAt("failed"))
      }
    })

    test("a wrong code, a used state and a refusal sign nobody in", async (owner) => {
      given()
      const wrong = await signIn(owner, undefined, (answer) => answer.set("code", "wrong"))
      assert.deepStrictEqual([wrong.location, wrong.session], [refusedAt("failed"), undefined])
      const denied = await signIn(owner, undefined, (answer) => {
        answer.delete("code")
        answer.set("error", "access_denied")
        answer.set("error_description", "The user has denied your application access.")
      })
      assert.strictEqual(denied.location, refusedAt("denied"))
      let state = ""
      const { browser } = await signIn(owner, undefined, (answer) => (state = answer.get("state")!))
      const used = await signIn(owner, browser, (answer) => answer.set("state", state))
      assert.strictEqual(used.location, refusedAt("failed"))
    })

    test("GitHub may say who it is, and nobody else may", async (owner) => {
      given()
      const named = (iss: string) => signIn(owner, undefined, (answer) => answer.set("iss", iss))
      assert.strictEqual((await named(`${peer.url}/login/oauth`)).location, "/here")
      assert.strictEqual((await named("https://github.com/login/oauth")).location, refusedAt("failed"))
    })
  },
  { GITHUB_OAUTH: `Iv1.0123456789abcdef,${secret},${peer.url}`, TRUSTED_PROXIES: "127.0.0.1/32" }
)
