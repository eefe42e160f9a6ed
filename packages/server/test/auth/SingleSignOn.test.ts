import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { SignedIn, SignInMethods } from "@delivery/domain/auth/Session"
import type { Identity } from "@delivery/domain/auth/SingleSignOn"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import { afterAll, assert } from "vitest"
import {
  assertId,
  type Http,
  join,
  newLink,
  newWorkspace,
  onEachServer,
  refusal,
  signIn,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"
import { type Account, type Issuer, settingOf, startIssuer, TestBrowser } from "../support/Issuer.ts"

/** Single sign-on by a real issuer, over HTTP (docs/contract.md, Single sign-on). */

const corp = await startIssuer({ name: "corp" })
/** It takes the secret in the body alone, and says the address in the ID token. */
const partner = await startIssuer({ name: "partner_2", authentication: "client_secret_post", isWhole: true })
afterAll(() => Promise.all([corp.close(), partner.close()]))

const settings = {
  OIDC_CORP: settingOf(corp),
  OIDC_PARTNER_2: settingOf(partner),
  // Nobody listens there.
  OIDC_GONE: "http://127.0.0.1:9,delivery,secret",
  TRUSTED_PROXIES: "127.0.0.1/32"
}

let addresses = 0
/** A browser at a network address of its own: what fails counts for the address. */
const newBrowser = (subject = "nobody"): TestBrowser =>
  new TestBrowser(subject, { "x-forwarded-for": `10.1.${addresses >> 8}.${addresses++ & 255}` })

/** An account at the issuer: its subject. */
const newAccount = (account: Account, { accounts }: Issuer = corp): string => {
  const subject = unique("subject")
  accounts.set(subject, account)
  return subject
}

const ownPage = { "sec-fetch-site": "same-origin" }
const path = (provider: string, query = "") => `/auth/v1/oidc/${provider}/start${query}`
const isCallback = (url: string) => /\/auth\/v1\/oidc\/\w+\/callback\?/.test(url)

/** The address at which the browser comes back from the provider. */
const away = async ({ baseUrl }: Http, browser: TestBrowser, query = "", provider = "corp"): Promise<string> => {
  const answer = await browser.visit(baseUrl + path(provider, query), { headers: ownPage })
  assert.strictEqual(answer.status, 303, await answer.text())
  return browser.follow(answer.headers.get("location")!, isCallback)
}

/** Where the browser is sent when it has come back. */
const back = async (browser: TestBrowser, callback: string): Promise<string | null> => {
  const answer = await browser.visit(callback)
  assert.strictEqual(answer.status, 303, await answer.text())
  assert.strictEqual(answer.headers.get("cache-control"), "no-store")
  return answer.headers.get("location")
}

const goThrough = async (owner: Http, browser: TestBrowser, query = "", provider = "corp") =>
  back(browser, await away(owner, browser, query, provider))

const refusedAt = (error: string) => `/sign-in#error=${error}`

const sessionOf = (owner: Http, browser: TestBrowser): Http => owner.as(browser.cookie(owner.baseUrl, sessionCookie))

const withSession = (owner: Http, session: Http, subject: string): TestBrowser => {
  const browser = newBrowser(subject)
  browser.setCookie(owner.baseUrl, sessionCookie, session.key!)
  return browser
}

const current = (by: Http) => by.get<SignedIn>("/auth/v1/session")
const identitiesOf = async (by: Http) =>
  (await by.get<{ identities: ReadonlyArray<Identity> }>("/auth/v1/identities")).identities

/** A new person who has proven their address by an account of the issuer: with their browser. */
const newcomer = async (owner: Http) => {
  const email = `${unique("newcomer")}@example.com`
  const workspace = await newWorkspace(owner)
  await workspace.post<NewInvite>("invites", { email, role: "member" })
  const subject = newAccount({ email, email_verified: true, name: "Kim" })
  const browser = newBrowser(subject)
  assert.strictEqual(await goThrough(owner, browser), "/")
  return { email, subject, browser, workspace, session: sessionOf(owner, browser) }
}

onEachServer(
  "Single sign-on",
  (test) => {
    test("the ways to sign in name the providers", async (owner) => {
      const { body } = await owner.as(undefined).send<SignInMethods>("GET", "/auth/v1/methods")
      assert.deepStrictEqual(body.providers, [
        { id: "corp", name: "Corp", url: path("corp") },
        { id: "gone", name: "Gone", url: path("gone") },
        { id: "partner_2", name: "Partner 2", url: path("partner_2") }
      ])
    })

    test("a verified address that a person has proven signs them in, and the account does from then on", async (owner) => {
      const email = "owner@example.com"
      const subject = newAccount({ email: "Owner@Example.com", email_verified: true })
      const browser = newBrowser(subject)
      assert.strictEqual(
        await goThrough(owner, browser, "?returnTo=%2Fworkspaces%2Fmain%3Fa%3Db%23c"),
        "/workspaces/main?a=b#c"
      )
      const session = sessionOf(owner, browser)
      const { person, session: begun } = await current(session)
      assert.deepInclude(person, { email })
      assert.strictEqual(begun.method, "oidc")
      assert.isNotNull(begun.sudoUntil)
      const { createdAt, id, lastUsedAt, ...identity } = (await identitiesOf(session)).find(
        (identity) => identity.subject === subject
      )!
      assertId(id)
      assert.strictEqual(createdAt, lastUsedAt)
      assert.deepEqual(identity, { provider: "corp", issuer: corp.url, subject, email })
      // The issuer names accounts by their subject; addresses change.
      corp.accounts.set(subject, { email: "other@example.com", email_verified: false })
      const again = newBrowser(subject)
      assert.strictEqual(await goThrough(owner, again), "/")
      assert.strictEqual((await current(sessionOf(owner, again))).person.id, person.id)
      const used = (await identitiesOf(session)).find((identity) => identity.id === id)!
      assert.deepInclude(used, { createdAt, email: "other@example.com" })
      assert.isAbove(Date.parse(used.lastUsedAt), Date.parse(createdAt))
    })

    test("an issuer that takes the secret in the body, and says the address in the ID token, signs in as well", async (owner) => {
      const { browser, email, session } = await newcomer(owner)
      browser.becomes(newAccount({ email, email_verified: true }, partner))
      assert.strictEqual(await goThrough(owner, browser, "", "partner_2"), "/")
      assert.strictEqual((await current(sessionOf(owner, browser))).person.email, email)
      // It ended the session that the browser had.
      await session.refuse("401", "GET", "/auth/v1/session")
      const providers = (await identitiesOf(sessionOf(owner, browser))).map(({ provider }) => provider)
      assert.deepStrictEqual(providers, ["corp", "partner_2"])
    })

    test("an address signs nobody in that is not verified, not proven, or not there", async (owner) => {
      const unproven = await join(owner, "viewer")
      const { email } = (await current(await signIn(owner, unproven.id))).person
      for (const [account, error] of [
        [{ email: "owner@example.com", email_verified: false }, "address_not_verified"],
        [{ email: "owner@example.com" }, "address_not_verified"],
        [{}, "address_not_verified"],
        [{ email: "not an address", email_verified: true }, "address_not_verified"],
        [{ email, email_verified: true }, "no_account"],
        [{ email: `${unique("nobody")}@example.com`, email_verified: true }, "no_account"]
      ] as const) {
        const browser = newBrowser(newAccount(account))
        assert.strictEqual(await goThrough(owner, browser), refusedAt(error), JSON.stringify(account))
        assert.isUndefined(browser.cookie(owner.baseUrl, sessionCookie))
      }
    })

    test("whoever is invited becomes a new person with a proven address, in no workspace, and joins by the invite", async (owner) => {
      const workspace = await newWorkspace(owner)
      const email = `${unique("invited")}@example.com`
      const { token } = await workspace.post<NewInvite>("invites", { email, role: "member" })
      const browser = newBrowser(newAccount({ email, email_verified: true, name: " Kim\u0000 " }))
      assert.strictEqual(await goThrough(owner, browser), "/")
      const session = sessionOf(owner, browser)
      const { person, workspaces } = await current(session)
      // The name of the account can be no name here.
      assert.deepInclude(person, { email, name: email.slice(0, email.indexOf("@")) })
      assert.isNotNull(person.emailVerifiedAt)
      assert.deepStrictEqual(workspaces, [])
      await session.in(workspace.workspace).refuse("404 workspace", "GET", "")
      const joined = await session.send<SignedIn>("POST", "/auth/v1/invites/accept", { json: { token, name: "Kim" } })
      assert.strictEqual(joined.status, 201, joined.text)
      assert.strictEqual(joined.body.person.id, person.id)
    })

    test("a revoked invite makes nobody", async (owner) => {
      const workspace = await newWorkspace(owner)
      const email = `${unique("invited")}@example.com`
      const { id } = await workspace.post<NewInvite>("invites", { email, role: "member" })
      await workspace.send("POST", `invites/${id}/revoke`)
      assert.strictEqual(
        await goThrough(owner, newBrowser(newAccount({ email, email_verified: true }))),
        refusedAt("no_account")
      )
    })

    test("a session adds an account to its ways in, which proves its address, and nobody else's", async (owner) => {
      const person = await join(owner, "viewer")
      const session = await signIn(owner, person.id)
      const { email } = (await current(session)).person
      const subject = newAccount({ email, email_verified: true })
      const browser = withSession(owner, session, subject)
      assert.strictEqual(await goThrough(owner, browser, "?purpose=link&returnTo=/account"), "/account")
      assert.strictEqual(sessionOf(owner, browser).key, session.key)
      assert.isNotNull((await current(session)).person.emailVerifiedAt)
      assert.deepStrictEqual(
        (await identitiesOf(session)).map((identity) => identity.subject),
        [subject]
      )
      // Once more changes nothing.
      assert.strictEqual(await goThrough(owner, browser, "?purpose=link"), "/")
      assert.lengthOf(await identitiesOf(session), 1)
      // Of an address that is not theirs, and not verified: they choose it while they are signed in.
      browser.becomes(newAccount({ email: "owner@example.com", email_verified: false }))
      assert.strictEqual(await goThrough(owner, browser, "?purpose=link"), "/")
      assert.lengthOf(await identitiesOf(session), 2)
      assert.strictEqual((await current(session)).person.email, email)
      const other = withSession(owner, await signIn(owner, (await join(owner, "viewer")).id), subject)
      assert.strictEqual(await goThrough(owner, other, "?purpose=link"), refusedAt("other_person"))
      assert.deepStrictEqual(await identitiesOf(sessionOf(owner, other)), [])
    })

    test("a person signs in by at most 10 accounts, also where they come at once", async (owner) => {
      const session = await signIn(owner, (await join(owner, "viewer")).id)
      const add = (subject: string) => goThrough(owner, withSession(owner, session, subject), "?purpose=link")
      const accounts = Array.from({ length: 14 }, () => newAccount({ email_verified: false }))
      for (const account of accounts.slice(0, 8)) assert.strictEqual(await add(account), "/")
      const answers = await Promise.all(accounts.slice(8).map(add))
      assert.deepStrictEqual(answers.toSorted(), ["/", "/", ...Array<string>(4).fill(refusedAt("too_many"))])
      const linked = await identitiesOf(session)
      assert.lengthOf(linked, 10)
      // One that is there already works as before, and another takes the place of one that is removed.
      assert.strictEqual(await add(accounts[0]!), "/")
      assert.strictEqual((await session.send("DELETE", `/auth/v1/identities/${linked[3]!.id}`)).status, 204)
      assert.strictEqual(await add(newAccount({ email_verified: false })), "/")
    })

    test("adding an account and proving again need a session, and a page of the service", async (owner) => {
      const session = await signIn(owner, (await join(owner, "viewer")).id)
      const visitor = owner.as(undefined)
      for (const purpose of ["link", "sudo"]) {
        const at = path("corp", `?purpose=${purpose}`)
        assert.strictEqual(refusal(await visitor.send("GET", at)), "401")
        assert.strictEqual(refusal(await owner.send("GET", at)), "401")
        for (const site of ["cross-site", "same-site", "none"]) {
          const answer = await session.send("GET", at, { headers: { "sec-fetch-site": site } })
          assert.strictEqual(refusal(answer), "403 cross_site")
        }
      }
      // Whoever only signs in may come from anywhere.
      const headers = { "sec-fetch-site": "cross-site" }
      assert.strictEqual((await visitor.send("GET", path("corp"), { headers })).status, 303)
      assert.strictEqual(refusal(await visitor.send("GET", path("corp", "?purpose=other"))), "400 purpose")
      assert.strictEqual(refusal(await visitor.send("GET", path("none"))), "404 provider")
      assert.strictEqual(refusal(await visitor.send("GET", "/auth/v1/oidc/none/callback?state=a")), "404 provider")
    })

    test("no page of another site loads the addresses into itself, and it uses up no attempt", async (owner) => {
      const browser = newBrowser(newAccount({ email: "owner@example.com", email_verified: true }))
      const callback = await away(owner, browser)
      const start = owner.baseUrl + path("corp")
      for (const [site, destination, isRefused] of [
        ["cross-site", "image", true],
        ["cross-site", "iframe", true],
        ["same-site", "empty", true],
        ["cross-site", "document", false],
        ["same-origin", "empty", false]
      ] as const) {
        const headers = { "sec-fetch-site": site, "sec-fetch-dest": destination }
        assert.strictEqual((await browser.visit(start, { headers })).status, isRefused ? 403 : 303, destination)
        // More than may fail.
        for (let attempt = 0; attempt < (isRefused ? 25 : 0); attempt++) {
          const answer = await browser.visit(attempt === 0 ? callback : `${callback}x`, { headers })
          const { reason } = (await answer.json()) as { readonly reason?: string }
          assert.deepStrictEqual([answer.status, reason], [403, "cross_site"])
        }
      }
      assert.strictEqual(await back(browser, callback), "/")
    })

    test("an account is added to the session that it was asked for, and to no other", async (owner) => {
      const session = await signIn(owner, (await join(owner, "viewer")).id)
      const subject = newAccount({})
      const browser = withSession(owner, session, subject)
      const callback = await away(owner, browser, "?purpose=link")
      const other = await signIn(owner, (await join(owner, "viewer")).id)
      browser.setCookie(owner.baseUrl, sessionCookie, other.key!)
      assert.strictEqual(await back(browser, callback), refusedAt("failed"))
      assert.deepStrictEqual([await identitiesOf(session), await identitiesOf(other)], [[], []])
      const ended = withSession(owner, session, subject)
      const late = await away(owner, ended, "?purpose=link")
      await session.delete("/auth/v1/session")
      assert.strictEqual(await back(ended, late), refusedAt("failed"))
    })

    test("who refuses at the provider comes back with that, and any other error of it is a failure", async (owner) => {
      for (const [error, shown] of [
        ["access_denied", "denied"],
        ["server_error", "failed"],
        ["login_required", "failed"]
      ] as const) {
        assert.strictEqual(await goThrough(owner, newBrowser(error)), refusedAt(shown))
      }
    })

    test("a state works once, in its browser, at its provider, and nothing else does", async (owner) => {
      const subject = newAccount({ email: "owner@example.com", email_verified: true })
      const browser = newBrowser(subject)
      const callback = await away(owner, browser)
      const changed = (change: (url: URL) => void) => {
        const url = new URL(callback)
        change(url)
        return url.href
      }
      const failed = refusedAt("failed")
      // Of another browser: one that never went away, and one on a way of its own.
      assert.strictEqual(await back(newBrowser(), callback), failed)
      const other = newBrowser(subject)
      const others = await away(owner, other)
      assert.strictEqual(await back(other, callback), failed)
      for (const wrong of [
        changed(({ searchParams }) => searchParams.set("state", "x".repeat(43))),
        changed(({ searchParams }) => searchParams.set("state", "")),
        changed(({ searchParams }) => searchParams.delete("state")),
        changed((url) => (url.pathname = url.pathname.replace("corp", "partner_2"))),
        `${owner.baseUrl}/auth/v1/oidc/corp/callback?error=access_denied`,
        `${owner.baseUrl}/auth/v1/oidc/corp/callback`
      ]) {
        assert.strictEqual(await back(browser, wrong), failed, wrong)
      }
      assert.isUndefined(browser.cookie(owner.baseUrl, sessionCookie))
      // None of it has used the state up.
      assert.strictEqual(await back(browser, callback), "/")
      assert.strictEqual(await back(browser, callback), failed)
      assert.strictEqual(await back(other, others), "/")
    })

    test("a cookie of another form is none, and where a request says that it goes decides nothing", async (owner) => {
      const subject = newAccount({ email: "owner@example.com", email_verified: true })
      const flow = "__Host-delivery_flow"
      for (const planted of ["", "x", "x".repeat(42), "x".repeat(44), `${"x".repeat(42)}%`, "x".repeat(4_000)]) {
        const browser = newBrowser(subject)
        browser.setCookie(owner.baseUrl, flow, planted)
        const callback = await away(owner, browser)
        assert.match(browser.cookie(owner.baseUrl, flow)!, /^[\w-]{43}$/)
        assert.notStrictEqual(browser.cookie(owner.baseUrl, flow), planted)
        const stranger = newBrowser(subject)
        stranger.setCookie(owner.baseUrl, flow, planted)
        assert.strictEqual(await back(stranger, callback), refusedAt("failed"))
        assert.strictEqual(await back(browser, callback), "/")
      }
      const elsewhere = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        forwarded: "host=evil.example"
      }
      const answer = await newBrowser().visit(owner.baseUrl + path("corp"), { headers: elsewhere })
      const page = new URL(answer.headers.get("location")!)
      assert.strictEqual(page.searchParams.get("redirect_uri"), `${owner.baseUrl}/auth/v1/oidc/corp/callback`)
    })

    test("no cache keeps a refusal", async (owner) => {
      for (const [at, expected] of [
        [path("corp", "?purpose=link"), "401"],
        [path("corp", "?purpose=other"), "400 purpose"],
        [path("none"), "404 provider"],
        ["/auth/v1/oidc/none/callback", "404 provider"],
        ["/auth/v1/identities", "401"]
      ] as const) {
        const answer = await owner.as(undefined).send("GET", at)
        assert.deepStrictEqual([refusal(answer), answer.headers["cache-control"]], [expected, "no-store"], at)
      }
    })

    test("a code works once, and in the flow that it was given for", async (owner) => {
      const browser = newBrowser(newAccount({ email: "owner@example.com", email_verified: true }))
      const first = new URL(await away(owner, browser))
      const second = new URL(await away(owner, browser))
      const code = first.searchParams.get("code")!
      const codeOfSecond = second.searchParams.get("code")!
      second.searchParams.set("code", code)
      assert.strictEqual(await back(browser, second.href), refusedAt("failed"))
      // The issuer ends a code that was shown with a wrong verifier, or leaves it good: neither signs in twice.
      const third = new URL(await away(owner, browser))
      third.searchParams.set("code", codeOfSecond)
      assert.strictEqual(await back(browser, third.href), refusedAt("failed"))
      const fourth = await away(owner, browser)
      assert.strictEqual(await back(browser, fourth), "/")
      const fifth = new URL(await away(owner, browser))
      fifth.searchParams.set("code", new URL(fourth).searchParams.get("code")!)
      assert.strictEqual(await back(browser, fifth.href), refusedAt("failed"))
    })

    test("an answer of another issuer is refused, and so is one that hides its issuer", async (owner) => {
      for (const change of [
        (answer: URLSearchParams) => answer.set("iss", partner.url),
        (answer: URLSearchParams) => answer.set("iss", `${corp.url}/`),
        (answer: URLSearchParams) => answer.delete("iss")
      ]) {
        const browser = newBrowser(newAccount({ email: "owner@example.com", email_verified: true }))
        const callback = new URL(await away(owner, browser))
        assert.strictEqual(callback.searchParams.get("iss"), corp.url)
        change(callback.searchParams)
        assert.strictEqual(await back(browser, callback.href), refusedAt("failed"))
      }
    })

    test("the browser goes to a path of the service, whatever it asked for", async (owner) => {
      const { browser } = await newcomer(owner)
      for (const hostile of [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/\t/evil.example",
        "/%2Fevil"
      ]) {
        assert.strictEqual(await goThrough(owner, browser, `?returnTo=${encodeURIComponent(hostile)}`), "/", hostile)
      }
    })

    test("what the browser takes to the provider has a challenge, a state and a nonce, and no secret", async (owner) => {
      const browser = newBrowser()
      const answer = await browser.visit(owner.baseUrl + path("corp"))
      const page = new URL(answer.headers.get("location")!)
      const { code_challenge, nonce, state, ...rest } = Object.fromEntries(page.searchParams)
      for (const random of [code_challenge, nonce, state]) assert.match(random!, /^[\w-]{43}$/)
      assert.deepStrictEqual(rest, {
        client_id: "delivery",
        code_challenge_method: "S256",
        redirect_uri: `${owner.baseUrl}/auth/v1/oidc/corp/callback`,
        response_type: "code",
        scope: "openid email profile"
      })
      const [cookie] = answer.headers.getSetCookie()
      assert.match(cookie!, /^__Host-delivery_flow=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
    })

    test("an identity is removed, unless it is the last way in", async (owner) => {
      const { browser, session } = await newcomer(owner)
      const [first] = await identitiesOf(session)
      const at = `/auth/v1/identities/${first!.id}`
      await session.refuse("409 last_method", "DELETE", at)
      assert.deepStrictEqual((await session.get<SignedIn>("/auth/v1/session")).waysIn, ["identity"])
      const stranger = (await newcomer(owner)).session
      await stranger.refuse("404 identity", "DELETE", at)
      await session.refuse("404 identity", "DELETE", "/auth/v1/identities/none")
      await owner.refuse("401", "DELETE", at)
      browser.becomes(newAccount({}, partner))
      assert.strictEqual(await goThrough(owner, browser, "?purpose=link", "partner_2"), "/")
      await session.delete(at)
      const left = await identitiesOf(session)
      assert.deepStrictEqual(
        left.map(({ provider }) => provider),
        ["partner_2"]
      )
      await session.refuse("409 last_method", "DELETE", `/auth/v1/identities/${left[0]!.id}`)
      // The account may come back by its address.
      const again = newBrowser(first!.subject)
      assert.strictEqual(await goThrough(owner, again), "/")
      assert.strictEqual((await current(sessionOf(owner, again))).person.id, (await current(session)).person.id)
    })

    test("the audit tells of accounts, of the address that one proved, and of proofs that failed", async (owner) => {
      const workspace = await newWorkspace(owner)
      const member = await join(workspace, "viewer")
      const session = await signIn(workspace, member.id)
      const { person, session: begun } = await current(session)
      const browser = withSession(owner, session, newAccount({ email: person.email, email_verified: true }))
      assert.strictEqual(await goThrough(owner, browser, "?purpose=link"), "/")
      browser.becomes(newAccount({}, partner))
      assert.strictEqual(await goThrough(owner, browser, "?purpose=sudo", "partner_2"), refusedAt("other_account"))
      assert.strictEqual(await goThrough(owner, browser, "?purpose=link", "partner_2"), "/")
      const [first, second] = await identitiesOf(session)
      await session.delete(`/auth/v1/identities/${first!.id}`)
      const { entries } = await workspace.get<AuditPage>(`audit?actor=${member.id}`)
      assert.deepStrictEqual(
        entries
          .slice(0, 5)
          .map(({ action, credential, outcome, subject }) => [
            action,
            subject.type,
            subject.id,
            subject.label,
            outcome,
            credential?.id
          ]),
        [
          ["identity_removed", "identity", first!.id, "corp", "allowed", begun.id],
          ["identity_added", "identity", second!.id, "partner_2", "allowed", begun.id],
          ["proof_failed", "person", person.id, person.name, "refused", begun.id],
          ["address_proven", "person", person.id, person.name, "allowed", begun.id],
          ["identity_added", "identity", first!.id, "corp", "allowed", begun.id]
        ]
      )
    })

    test("of two who remove the last two ways in at once, one succeeds", async (owner) => {
      for (let round = 0; round < 5; round++) {
        const { browser, session } = await newcomer(owner)
        browser.becomes(newAccount({}, partner))
        await goThrough(owner, browser, "?purpose=link", "partner_2")
        const answers = await Promise.all(
          (await identitiesOf(session)).map(({ id }) => session.send("DELETE", `/auth/v1/identities/${id}`))
        )
        assert.deepStrictEqual(answers.map(refusal).toSorted(), ["204", "409 last_method"])
      }
    })

    test("two browsers of one account that nobody knows yet become one person", async (owner) => {
      for (let round = 0; round < 5; round++) {
        const workspace = await newWorkspace(owner)
        const email = `${unique("invited")}@example.com`
        await workspace.post<NewInvite>("invites", { email, role: "member" })
        const subject = newAccount({ email, email_verified: true })
        const browsers = [newBrowser(subject), newBrowser(subject)]
        const callbacks = await Promise.all(browsers.map((browser) => away(owner, browser)))
        const locations = await Promise.all(browsers.map((browser, at) => back(browser, callbacks[at]!)))
        assert.deepStrictEqual(locations, ["/", "/"])
        const [one, other] = await Promise.all(browsers.map((browser) => current(sessionOf(owner, browser))))
        assert.strictEqual(one!.person.id, other!.person.id)
        assert.lengthOf(await identitiesOf(sessionOf(owner, browsers[0]!)), 1)
      }
    })

    test("a provider that is gone takes nothing away from the other ways in", async (owner) => {
      const browser = newBrowser()
      const answer = await browser.visit(owner.baseUrl + path("gone"))
      assert.deepStrictEqual([answer.status, answer.headers.get("location")], [303, refusedAt("unavailable")])
      assert.deepStrictEqual(answer.headers.getSetCookie(), [])
      assert.strictEqual((await owner.as(undefined).send("GET", "/auth/v1/methods")).status, 200)
      await signIn(owner, "owner@example.com")
    })

    test("a session that a workspace has blocked links no account", async (owner) => {
      const workspace = await newWorkspace(owner)
      const { id } = await join(workspace, "member")
      const session = await signIn(workspace, id)
      const browser = withSession(owner, session, newAccount({}))
      assert.strictEqual(await goThrough(owner, browser, "?purpose=link"), "/")
      const [linked] = await identitiesOf(session)
      browser.becomes(newAccount({}))
      const callback = await away(owner, browser, "?purpose=link")
      const sessionId = (await current(session)).session.id
      await workspace.post(`credentials/${sessionId}/block`, undefined, 200)
      assert.strictEqual(await back(browser, callback), refusedAt("failed"))
      await session.refuse("403 session_blocked", "GET", path("corp", "?purpose=link"))
      assert.deepStrictEqual(await identitiesOf(session), [linked!])
      // It may remove one, if another way in is left.
      await session.refuse("409 last_method", "DELETE", `/auth/v1/identities/${linked!.id}`)
    })

    test("a session that a workspace has blocked adds no account by proving itself with it", async (owner) => {
      const { browser, email, session, subject, workspace } = await newcomer(owner)
      const { invites, session: begun } = await current(session)
      assert.strictEqual((await session.send("POST", `/auth/v1/invites/${invites[0]!.id}/accept`)).status, 200)
      await workspace.post(`credentials/${begun.id}/block`, undefined, 200)
      // Whose address is the person's, and proven.
      browser.becomes(newAccount({ email, email_verified: true }, partner))
      assert.strictEqual(await goThrough(owner, browser, "?purpose=sudo", "partner_2"), refusedAt("failed"))
      assert.strictEqual(sessionOf(owner, browser).key, session.key)
      // One that is known proves it as ever.
      browser.becomes(subject)
      assert.strictEqual(await goThrough(owner, browser, "?purpose=sudo"), "/")
      const identities = await identitiesOf(sessionOf(owner, browser))
      assert.deepStrictEqual(
        identities.map((identity) => identity.subject),
        [subject]
      )
    })

    test("the sign-in page knows every error of an account, and shows them as text", async (owner) => {
      const { text } = await owner.as(undefined).send("GET", "/sign-in")
      const known = [
        "denied",
        "failed",
        "unavailable",
        "address_not_verified",
        "no_account",
        "other_account",
        "other_person"
      ]
      for (const error of [...known, "too_many"]) {
        assert.include(text, `["${error}", "`)
      }
      assert.notMatch(text, /innerHTML|insertAdjacent|document\.write/)
    })
  },
  settings
)

withClockOnEachServer(
  "The times of single sign-on",
  (test) => {
    test("a browser may be away for 10 minutes", async (owner, advance) => {
      const browser = newBrowser(newAccount({ email: "owner@example.com", email_verified: true }))
      const [late, inTime] = [await away(owner, browser), await away(owner, browser)]
      advance("9 minutes")
      assert.strictEqual(await back(browser, inTime), "/")
      advance("1 minute")
      assert.strictEqual(await back(browser, late), refusedAt("failed"))
    })

    test("whoever takes the wish for a new proof out of the provider's address proves nothing", async (owner) => {
      const { browser, session } = await newcomer(owner)
      const start = owner.baseUrl + path("corp", "?purpose=sudo")
      const page = new URL((await browser.visit(start, { headers: ownPage })).headers.get("location")!)
      for (const name of ["prompt", "max_age"]) page.searchParams.delete(name)
      const callback = await browser.follow(page.href, isCallback)
      assert.strictEqual(await back(browser, callback), refusedAt("failed"))
      assert.strictEqual(sessionOf(owner, browser).key, session.key)
    })

    test("an account that is the person's proves again who they are, and no other does", async (owner, advance) => {
      const { browser, email, session, subject } = await newcomer(owner)
      const { id } = (await current(session)).session
      advance("20 minutes")
      await session.refuse("403 sudo_required", "POST", "/v1/api-keys", { name: "Made" })
      const [identity] = await identitiesOf(session)
      await session.refuse("403 sudo_required", "DELETE", `/auth/v1/identities/${identity!.id}`)
      const link = await session.send("GET", path("corp", "?purpose=link"))
      assert.strictEqual(refusal(link), "403 sudo_required")
      for (const wrong of [
        newAccount({ email, email_verified: false }),
        newAccount({ email: "owner@example.com", email_verified: true }),
        (await newcomer(owner)).subject
      ]) {
        browser.becomes(wrong)
        assert.strictEqual(await goThrough(owner, browser, "?purpose=sudo"), refusedAt("other_account"))
        assert.strictEqual(sessionOf(owner, browser).key, session.key)
      }
      browser.becomes(subject)
      assert.strictEqual(await goThrough(owner, browser, "?purpose=sudo&returnTo=/keys"), "/keys")
      const proved = sessionOf(owner, browser)
      assert.strictEqual((await current(proved)).session.id, id)
      await session.refuse("401", "GET", "/auth/v1/session")
      await proved.post("/v1/api-keys", { name: "Made" }, 200)
      // Whoever is signed in at the issuer is asked there nevertheless.
      const page = (await browser.visit(owner.baseUrl + path("corp", "?purpose=sudo"), { headers: ownPage })).headers
      const { max_age, prompt } = Object.fromEntries(new URL(page.get("location")!).searchParams)
      assert.deepStrictEqual([max_age, prompt], ["0", "login"])
      assert.strictEqual(await goThrough(owner, browser, "?purpose=sudo"), "/")
    })

    test("after 20 failures in an hour from one address, others are 429, and what is right works as ever", async (owner, advance) => {
      advance("1 hour")
      const subject = newAccount({ email: `${unique("nobody")}@example.com`, email_verified: true })
      const browser = newBrowser(subject)
      for (let attempt = 0; attempt < 21; attempt++) {
        assert.strictEqual(await goThrough(owner, browser), refusedAt("no_account"))
      }
      const callback = await away(owner, browser)
      const wrong = `${owner.baseUrl}/auth/v1/oidc/corp/callback?state=wrong`
      for (let attempt = 0; attempt < 20; attempt++) assert.strictEqual(await back(browser, wrong), refusedAt("failed"))
      const answer = await browser.visit(wrong)
      assert.deepStrictEqual([answer.status, answer.headers.get("retry-after")], [429, "3600"])
      assert.strictEqual(await back(browser, callback), refusedAt("no_account"))
      assert.strictEqual(await goThrough(owner, newBrowser(subject)), refusedAt("no_account"))
      assert.isString(await newLink(owner, "owner@example.com"))
    })
  },
  settings
)
