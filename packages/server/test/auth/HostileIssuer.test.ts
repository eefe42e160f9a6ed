import { sessionCookie } from "@delivery/domain/identity/Authorization"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose"
import type { ServerResponse } from "node:http"
import { afterAll, assert } from "vitest"
import { IssuerLimits } from "../../src/auth/Issuers.ts"
import { DeliveryServer } from "../../src/testing/DeliveryServer.ts"
import { client, settingOf, TestBrowser } from "../support/Issuer.ts"
import { serve } from "../support/Served.ts"

/** What an issuer may send that is broken or hostile. The real issuer of the other suites sends none of it. */

const keys = await generateKeyPair("RS256", { extractable: true })
const strangers = await generateKeyPair("RS256")

interface Answers {
  readonly discovery: (url: string) => object | ((response: ServerResponse) => void)
  /** The claims of the ID token, made of those that are right. */
  readonly claims: (right: JWTPayload) => JWTPayload
  /** The ID token of the claims. */
  readonly token: (claims: JWTPayload) => Promise<string | undefined>
  readonly exchange: ((response: ServerResponse) => void) | undefined
  readonly userinfo: () => object | undefined | ((response: ServerResponse) => void)
  readonly keys: ((response: ServerResponse) => void) | undefined
}

const signed = (claims: JWTPayload, header: object = {}, key = keys.privateKey) =>
  new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "first", ...header }).sign(key)

const unsigned = (claims: JWTPayload) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  return `${part({ alg: "none" })}.${part(claims)}.`
}

const metadata = (url: string) => ({
  issuer: url,
  authorization_endpoint: `${url}/auth`,
  token_endpoint: `${url}/token`,
  jwks_uri: `${url}/jwks`,
  userinfo_endpoint: `${url}/me`,
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"]
})

const right: Answers = {
  discovery: metadata,
  claims: (claims) => claims,
  token: (claims) => signed(claims),
  exchange: undefined,
  userinfo: () => undefined,
  keys: undefined
}

let answers = right
/** The nonce of the flow that is on its way. */
let nonce = ""
let requests: Array<string> = []

const json = (response: ServerResponse, value: object, status = 200) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))

const issuer = await serve(async (url) => {
  const jwk = { ...(await exportJWK(keys.publicKey)), alg: "RS256", use: "sig", kid: "first" }
  const token = async (response: ServerResponse) => {
    const now = Math.floor(Date.now() / 1000)
    const claims = answers.claims({
      iss: url,
      sub: "owner",
      aud: client.id,
      nonce,
      iat: now,
      exp: now + 60,
      email: "owner@example.com",
      email_verified: true
    })
    json(response, { access_token: "access", token_type: "Bearer", id_token: await answers.token(claims) })
  }
  return (request, response) => {
    const [path] = (request.url ?? "").split("?")
    requests.push(path!)
    if (path === "/.well-known/openid-configuration") {
      const answer = answers.discovery(url)
      return typeof answer === "function" ? answer(response) : json(response, answer)
    }
    if (path === "/jwks") return answers.keys === undefined ? json(response, { keys: [jwk] }) : answers.keys(response)
    if (path === "/me") {
      const answer = answers.userinfo()
      if (typeof answer === "function") return answer(response)
      return json(response, answer ?? {}, answer === undefined ? 401 : 200)
    }
    if (path !== "/token") return response.writeHead(404).end()
    if (answers.exchange !== undefined) return answers.exchange(response)
    token(response).catch((error: Error) => response.destroy(error))
  }
})
afterAll(issuer.close)

/** A server that has not asked the issuer for anything yet, and waits so long for an answer. */
const newServer = (millis: number) =>
  DeliveryServer.layerMemory({ OIDC_CORP: settingOf(issuer), TRUSTED_PROXIES: "127.0.0.1/32" }).pipe(
    Layer.provide(Layer.succeed(IssuerLimits, { millis, bytes: 64 * 1024, refetchMillis: 0 }))
  )

const patient = 60_000
const impatient = 100

let addresses = 0
const newBrowser = () => new TestBrowser("nobody", { "x-forwarded-for": `10.2.${addresses >> 8}.${addresses++ & 255}` })

/** Where a browser ends that goes away and comes back while the issuer answers so. */
const goThrough = async (
  baseUrl: string,
  browser: TestBrowser,
  changes: Partial<Answers>,
  {
    change = () => {},
    query = ""
  }: { readonly change?: (answer: URLSearchParams) => void; readonly query?: string } = {}
) => {
  answers = { ...right, ...changes }
  requests = []
  const started = (await browser.visit(`${baseUrl}/auth/v1/oidc/corp/start${query}`)).headers.get("location")!
  if (started.startsWith("/")) return started
  const page = new URL(started)
  nonce = page.searchParams.get("nonce")!
  const answer = new URLSearchParams({ code: "code", state: page.searchParams.get("state")! })
  change(answer)
  return (await browser.visit(`${baseUrl}/auth/v1/oidc/corp/callback?${answer}`)).headers.get("location")
}

/** Where a new browser ends that signs in while the issuer answers so, and whether it is signed in then. */
const signIn = async (baseUrl: string, changes: Partial<Answers>, change?: (answer: URLSearchParams) => void) => {
  const browser = newBrowser()
  const location = await goThrough(baseUrl, browser, changes, change && { change })
  return { location, isSignedIn: browser.cookie(baseUrl, sessionCookie) !== undefined }
}

const failed = { location: "/sign-in#error=failed", isSignedIn: false }
const unavailable = { location: "/sign-in#error=unavailable", isSignedIn: false }

/** Signed in is nobody, whether the answer was a wrong one, or none that could be used. */
const assertNobody = ({ isSignedIn, location }: Awaited<ReturnType<typeof signIn>>) =>
  assert.deepStrictEqual([isSignedIn, location?.replace("unavailable", "failed")], [false, failed.location])
const signedIn = { location: "/", isSignedIn: true }

const claim = (changed: JWTPayload): Partial<Answers> => ({ claims: (claims) => ({ ...claims, ...changed }) })
const without = (name: string): Partial<Answers> => ({
  claims: (claims) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name))
})

const past = () => Math.floor(Date.now() / 1000) - 3600

const wrongTokens: Readonly<Record<string, () => Partial<Answers>>> = {
  "of another issuer": () => claim({ iss: "https://other.example" }),
  "of an issuer whose address is almost the same": () => claim({ iss: `${issuer.url}/` }),
  "for another client": () => claim({ aud: "other" }),
  "for several clients": () => claim({ aud: [client.id, "other"] }),
  "for several clients, given to another": () => claim({ aud: [client.id, "other"], azp: "other" }),
  "given to another client": () => claim({ azp: "other" }),
  "with the nonce of another flow": () => claim({ nonce: "x".repeat(43) }),
  "without a nonce": () => without("nonce"),
  "without an audience": () => without("aud"),
  "without a subject": () => without("sub"),
  "without an end": () => without("exp"),
  "with an empty subject": () => claim({ sub: "" }),
  "with a number as subject": () => claim({ sub: 7 as never }),
  "with a long subject": () => claim({ sub: "s".repeat(256) }),
  "with a subject that no database keeps": () => claim({ sub: "owner\u0000" }),
  "with half a character as subject": () => claim({ sub: "owner\ud800" }),
  "that has expired": () => claim({ iat: past() - 60, exp: past() }),
  "that is not signed": () => ({ token: async (claims) => unsigned(claims) }),
  "that is signed with the client's secret": () => ({
    token: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(client.secret.padEnd(32)))
  }),
  "that is signed by a stranger": () => ({ token: (claims) => signed(claims, {}, strangers.privateKey) }),
  "that is signed with a key that nobody published": () => ({ token: (claims) => signed(claims, { kid: "other" }) }),
  "whose algorithm the issuer does not use": () => ({ token: (claims) => signed(claims, { alg: "PS256" }) }),
  "that was changed": () => ({
    token: async (claims) => {
      const [header, , signature] = (await signed(claims)).split(".")
      const changed = Buffer.from(JSON.stringify({ ...claims, sub: "other" })).toString("base64url")
      return `${header}.${changed}.${signature}`
    }
  }),
  "that is none": () => ({ token: async () => "token" }),
  "that is missing": () => ({ token: async () => undefined })
}

/** A body that goes on after its first byte for as long as its reader does. */
const endless = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json" })
  const chunk = Buffer.alloc(16 * 1024, " ")
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on("drain", write)
  write()
}

const brokenAnswers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "is of the wrong kind": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
  "is no JSON": (response) => response.writeHead(200, { "content-type": "application/json" }).end("{"),
  "is a list": (response) => json(response, []),
  "is empty": (response) => response.writeHead(204).end(),
  "is an error": (response) => json(response, { error: "invalid_grant", error_description: "no" }, 400),
  "is a fault": (response) => json(response, { error: "server_error" }, 503),
  "leads elsewhere": (response) => response.writeHead(302, { location: `${issuer.url}/jwks` }).end(),
  "is too long": endless,
  "breaks off": (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" }).write("{")
    response.socket!.end()
  }
}

const lateAnswers: typeof brokenAnswers = {
  "does not come": () => {},
  "stops in the middle": (response) => {
    response.writeHead(200, { "content-type": "application/json" }).write("{")
  }
}

layer(newServer(patient), { excludeTestServices: true })("A hostile issuer", (it) => {
  const test = (name: string, body: (baseUrl: string) => Promise<void>) =>
    it.effect(name, () => Effect.flatMap(DeliveryServer, ({ baseUrl }) => Effect.promise(() => body(baseUrl))))

  test("one that does what it should signs in", async (baseUrl) => {
    assert.deepStrictEqual(await signIn(baseUrl, {}), signedIn)
    assert.notInclude(requests, "/me")
    assert.deepStrictEqual(await signIn(baseUrl, claim({ azp: client.id, aud: [client.id] })), signedIn)
  })

  for (const [name, changes] of Object.entries(wrongTokens)) {
    test(`an ID token ${name} signs nobody in`, async (baseUrl) => {
      assertNobody(await signIn(baseUrl, changes()))
    })
  }

  for (const [name, exchange] of Object.entries(brokenAnswers)) {
    test(`an answer to the code that ${name} signs nobody in`, async (baseUrl) => {
      assertNobody(await signIn(baseUrl, { exchange }))
    })
  }

  test("an address is asked for where the ID token has none, of the same account alone", async (baseUrl) => {
    const asked = (userinfo: object): Partial<Answers> => ({
      claims: ({ email: _, email_verified: __, ...claims }) => ({ ...claims, sub: "asked" }),
      userinfo: () => userinfo
    })
    const person = { email: "owner@example.com", email_verified: true }
    assert.deepStrictEqual(await signIn(baseUrl, asked({ sub: "other", ...person })), failed)
    assert.deepStrictEqual(await signIn(baseUrl, asked(person)), failed)
    assert.deepStrictEqual(await signIn(baseUrl, { claims: asked({}).claims! }), failed)
    const unverified = { location: "/sign-in#error=address_not_verified", isSignedIn: false }
    assert.deepStrictEqual(await signIn(baseUrl, asked({ sub: "asked", email: person.email })), unverified)
    assert.deepStrictEqual(await signIn(baseUrl, asked({ sub: "asked", ...person })), signedIn)
  })

  for (const [name, answer] of Object.entries(brokenAnswers)) {
    test(`an answer about an account that ${name} signs nobody in`, async (baseUrl) => {
      const { claims } = without("email")
      assertNobody(await signIn(baseUrl, { claims: claims!, userinfo: () => answer }))
    })
  }

  test("an address that lower case makes somebody else's is not verified", async (baseUrl) => {
    const unverified = { location: "/sign-in#error=address_not_verified", isSignedIn: false }
    // The Kelvin sign becomes a k, and the others are taken for the letters that they look like.
    for (const email of [
      "owner@example.com ",
      "\u00a0owner@example.com",
      "\uff4fwner@example.com",
      "owner@example\uff0ecom",
      "\u212aim@example.com"
    ]) {
      assert.deepStrictEqual(await signIn(baseUrl, claim({ sub: `as ${email}`, email })), unverified, email)
    }
    for (const verified of ["false", "yes", 1, {}, null, undefined]) {
      const claims = claim({ sub: "unverified", email_verified: verified })
      assert.deepStrictEqual(await signIn(baseUrl, claims), unverified, String(verified))
    }
  })

  test("a proof of long ago proves nothing again, and neither does one that does not say when it was", async (baseUrl) => {
    const browser = newBrowser()
    assert.strictEqual(await goThrough(baseUrl, browser, {}), "/")
    const token = browser.cookie(baseUrl, sessionCookie)
    const query = "?purpose=sudo"
    for (const proof of [claim({ auth_time: past() }), {}, claim({ auth_time: "now" as never })]) {
      assert.strictEqual(await goThrough(baseUrl, browser, proof, { query }), failed.location)
      assert.strictEqual(browser.cookie(baseUrl, sessionCookie), token)
    }
    const now = Math.floor(Date.now() / 1000)
    assert.strictEqual(await goThrough(baseUrl, browser, claim({ auth_time: now }), { query }), "/")
    assert.notStrictEqual(browser.cookie(baseUrl, sessionCookie), token)
  })

  test("a sign-in without a question is no fresh proof where the issuer says when it asked", async (baseUrl) => {
    const sudoUntil = async (changes: Partial<Answers>) => {
      const browser = newBrowser()
      assert.strictEqual(await goThrough(baseUrl, browser, changes), "/")
      const answer = await browser.visit(`${baseUrl}/auth/v1/session`)
      return ((await answer.json()) as { session: { sudoUntil: string | null } }).session.sudoUntil
    }
    const now = Math.floor(Date.now() / 1000)
    for (const time of [past(), now - 16 * 60]) assert.isNull(await sudoUntil(claim({ auth_time: time })))
    const until = Date.parse((await sudoUntil(claim({ auth_time: now - 10 * 60 })))!)
    assert.strictEqual(until, (now + 5 * 60) * 1000)
    assert.isNotNull(await sudoUntil({}))
    assert.isBelow(Date.parse((await sudoUntil(claim({ auth_time: 1e12 })))!), (now + 20 * 60) * 1000)
  })

  test("an error with the wrong state is no refusal", async (baseUrl) => {
    const refused = (state?: string) => (answer: URLSearchParams) => {
      answer.delete("code")
      answer.set("error", "access_denied")
      if (state !== undefined) answer.set("state", state)
    }
    assert.deepStrictEqual(await signIn(baseUrl, {}, refused("x".repeat(43))), failed)
    assert.deepStrictEqual(await signIn(baseUrl, {}, refused()), { ...failed, location: "/sign-in#error=denied" })
    assert.notInclude(requests, "/token")
  })

  test("a parameter that is there twice signs nobody in", async (baseUrl) => {
    answers = right
    const browser = newBrowser()
    const page = new URL((await browser.visit(`${baseUrl}/auth/v1/oidc/corp/start`)).headers.get("location")!)
    const state = page.searchParams.get("state")!
    const callback = `${baseUrl}/auth/v1/oidc/corp/callback?code=a&code=b&state=${state}`
    const answer = await browser.visit(callback)
    assert.notStrictEqual(answer.headers.get("location"), "/")
    assert.isUndefined(browser.cookie(baseUrl, sessionCookie))
  })
})

layer(Layer.empty, { excludeTestServices: true })("The description of an issuer", (it) => {
  const test = (name: string, body: (baseUrl: string) => Promise<void>) =>
    it.effect(name, () =>
      Effect.flatMap(DeliveryServer, ({ baseUrl }) => Effect.promise(() => body(baseUrl))).pipe(
        Effect.provide(newServer(patient), { local: true })
      )
    )

  test("is asked for when somebody signs in, once", async (baseUrl) => {
    requests = []
    assert.strictEqual((await fetch(`${baseUrl}/auth/v1/methods`)).status, 200)
    assert.deepStrictEqual(requests, [])
    answers = right
    const starts = Array.from({ length: 20 }, () => newBrowser().visit(`${baseUrl}/auth/v1/oidc/corp/start`))
    for (const { status } of await Promise.all(starts)) assert.strictEqual(status, 303)
    assert.deepStrictEqual(requests, ["/.well-known/openid-configuration"])
    assert.deepStrictEqual(await signIn(baseUrl, {}), signedIn)
    assert.deepStrictEqual(requests, ["/token", "/jwks"])
  })

  test("must be its own, and lead to places where it may be asked", async (baseUrl) => {
    const others: ReadonlyArray<(url: string) => object> = [
      (url) => ({ ...metadata(url), issuer: "https://other.example" }),
      (url) => ({ ...metadata(url), issuer: `${url}/other` }),
      (url) => ({ ...metadata(url), authorization_endpoint: "javascript:alert(1)" }),
      (url) => ({ ...metadata(url), authorization_endpoint: undefined }),
      (url) => ({ ...metadata(url), jwks_uri: undefined }),
      (url) => ({ ...metadata(url), token_endpoint: "file:///etc/passwd" })
    ]
    // What failed is not kept.
    for (const discovery of [...others, ...Object.values(brokenAnswers).map((answer) => () => answer)]) {
      assertNobody(await signIn(baseUrl, { discovery }))
    }
    assert.deepStrictEqual(await signIn(baseUrl, {}), signedIn)
  })

  test("has keys that are asked for until they are there, and none that everybody knows", async (baseUrl) => {
    const [shared, ofClient] = [Buffer.alloc(32, 7), Buffer.from(client.secret.padEnd(32))]
    const oct = (key: Buffer) => ({ kty: "oct", k: key.toString("base64url"), kid: "first", alg: "HS256" })
    const withKeys = (...listed: ReadonlyArray<object>) => ({
      keys: (response: ServerResponse) => json(response, { keys: listed })
    })
    const hmac = (key: Buffer): Partial<Answers> => ({
      token: (claims) => new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(key)
    })
    for (const changes of [
      ...Object.values(brokenAnswers).map((answer) => ({ keys: answer })),
      withKeys(),
      withKeys({}, { kty: "RSA" }),
      { ...withKeys(oct(shared)), ...hmac(shared) },
      { ...withKeys(oct(ofClient)), ...hmac(ofClient) }
    ]) {
      assertNobody(await signIn(baseUrl, changes))
    }
  })

  test("takes no turn of other requests while it is waited for", async (baseUrl) => {
    let describe = () => {}
    answers = {
      ...right,
      discovery: (url) => (response) => {
        describe = () => json(response, metadata(url))
      }
    }
    // More than are worked on at once.
    const waiting = Array.from({ length: 300 }, () => newBrowser().visit(`${baseUrl}/auth/v1/oidc/corp/start`))
    for (let asked = 0; asked < 20; asked++) assert.strictEqual((await fetch(`${baseUrl}/auth/v1/methods`)).status, 200)
    describe()
    for (const answer of await Promise.all(waiting)) {
      assert.isTrue(answer.headers.get("location")!.startsWith(`${issuer.url}/auth?`))
    }
  })
})

layer(newServer(impatient), { excludeTestServices: true })("An issuer that is late", (it) => {
  const test = (name: string, body: (baseUrl: string) => Promise<void>) =>
    it.effect(name, () => Effect.flatMap(DeliveryServer, ({ baseUrl }) => Effect.promise(() => body(baseUrl))))

  test("signs nobody in", async (baseUrl) => {
    for (const answer of Object.values(lateAnswers)) {
      assert.deepStrictEqual(await signIn(baseUrl, { discovery: () => answer }), unavailable)
    }
    const { claims } = without("email")
    const lates = Object.values(lateAnswers)
    // Keys that came once are kept.
    for (const changes of [
      ...lates.map((exchange) => ({ exchange })),
      ...lates.map((keys) => ({ keys })),
      ...lates.map((late) => ({ claims: claims!, userinfo: () => late }))
    ]) {
      assert.deepStrictEqual(await signIn(baseUrl, changes), unavailable)
    }
  })
})
