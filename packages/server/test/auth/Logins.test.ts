import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { AskingProgram, Login } from "@delivery/domain/auth/Logins"
import type { ApiKey } from "@delivery/domain/identity/ApiKey"
import type { Me } from "@delivery/domain/identity/Me"
import { assert } from "vitest"
import {
  assertId,
  assertTimestamp,
  type ErrorBody,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refusal,
  signIn,
  withClockOnEachServer
} from "../support/Http.ts"
import {
  allowLogin,
  answerAt,
  decideLogin,
  newNetwork,
  newVerifier,
  proxied,
  redeemLogin,
  redirectUri,
  startBody,
  startLogin
} from "./LoginScene.ts"

/** Sign-ins of the command line, over HTTP (docs/contract.md, Sign-in of the command line). */

const path = (id: string) => `/auth/v1/cli/logins/${id}`
const absent = "00000000-0000-7000-8000-000000000000"

/** A member, signed in with a browser, in a workspace of one test. */
const scene = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const person = await join(workspace, "member")
  return { workspace, person, session: await signIn(workspace, person.id) }
}

const keysOf = (by: Http) => by.get<ReadonlyArray<ApiKey>>("/v1/api-keys")

const days = (count: number) => count * 86_400_000

const inDays = (count: number) => new Date(Date.now() + days(count)).toISOString()

onEachServer(
  "Asking for a key by the command line",
  (test) => {
    test("shows a person who asks for what, and from where", async (owner) => {
      const { session } = await scene(owner)
      const address = newNetwork()
      const json = { ...startBody(newVerifier()), redirectUri, scopes: ["publish", "read", "read"] }
      const visitor = owner.as(undefined)
      const started = await visitor.send<Login & { url: string; interval: number; userCode: null }>(
        "POST",
        "/auth/v1/cli/logins",
        { json, headers: address }
      )
      assert.deepStrictEqual([started.status, started.headers["cache-control"]], [201, "no-store"])
      const { expiresAt, id, ...rest } = started.body
      assertId(id)
      assertTimestamp(expiresAt)
      assert.deepStrictEqual(rest as unknown, { url: `${owner.baseUrl}/cli#${id}`, userCode: null, interval: 5 })
      const shown = await session.get<Login>(path(id))
      assert.deepStrictEqual(shown as unknown, {
        id,
        name: "delivery on laptop",
        host: "127.0.0.1:53682",
        address: address["x-forwarded-for"],
        scopes: ["read", "publish"],
        keyExpiresAt: shown.keyExpiresAt,
        createdAt: shown.createdAt,
        expiresAt
      })
      assert.strictEqual(Date.parse(expiresAt) - Date.parse(shown.createdAt), 600_000)
      assert.strictEqual(Date.parse(shown.keyExpiresAt) - Date.parse(shown.createdAt), days(90))
      // Before anybody has signed in, as the page of signing in asks.
      const asking = { name: "delivery on laptop", host: "127.0.0.1:53682" }
      assert.deepStrictEqual<AskingProgram>(await visitor.get(`${path(id)}/program`), asking)
    })

    test("gives a code to be typed where there is no browser", async (owner) => {
      const { session } = await scene(owner)
      const { id, userCode } = await startLogin(owner, { isDevice: true })
      assert.match(userCode!, /^[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}$/)
      const shown = await session.send<Login>("GET", path(id))
      assert.isNull(shown.body.host)
      // The page must not know it: it is typed by who sees the terminal.
      assert.notInclude(shown.text.replaceAll("-", ""), userCode!.replace("-", ""))
    })

    test("refuses what is no request of a program on its own computer", async (owner) => {
      const body = startBody(newVerifier(), { redirectUri })
      const asked = async (fields: object) =>
        refusal(
          await owner.as(undefined).send("POST", "/auth/v1/cli/logins", {
            json: { ...body, ...fields },
            headers: newNetwork()
          })
        )
      for (const redirectUri of [
        "",
        "https://127.0.0.1/",
        "http://127.0.0.1.evil.example/",
        "http://evil.example/",
        "http://localhost@evil.example/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:1/#x",
        "http://127.0.0.1:1\\evil.example/",
        "http://127.0.0.1:1/ä",
        "http://127.0.0.1:1/\n",
        `http://127.0.0.1/${"x".repeat(2_000)}`,
        "delivery.app:/done",
        null
      ]) {
        assert.strictEqual(await asked({ redirectUri }), "400 redirectUri", String(redirectUri))
      }
      for (const redirectUri of ["http://localhost:1/a?b=c", "http://[::1]:65535/", "http://127.0.0.1"]) {
        assert.strictEqual(await asked({ redirectUri }), "201", redirectUri)
      }
      for (const codeChallenge of ["", "x", "x".repeat(44), `${"x".repeat(42)}=`, null]) {
        assert.strictEqual(await asked({ codeChallenge }), "400 codeChallenge", String(codeChallenge))
      }
      for (const name of ["", " ", "a\u202eb", "a\u200bb", "x".repeat(81), 1]) {
        assert.strictEqual(await asked({ name }), "400 name", String(name))
      }
      for (const keyExpiresAt of [inDays(-1), inDays(3 * 366), "soon", null]) {
        assert.strictEqual(await asked({ keyExpiresAt }), "400 keyExpiresAt", String(keyExpiresAt))
      }
      assert.strictEqual(await asked({ scopes: [] }), "400 scopes")
      assert.strictEqual(await asked({ scopes: ["all"] }), "400 scopes.0")
    })

    test("is for programs and pages of the service, not for other sites", async (owner) => {
      const json = startBody(newVerifier())
      // Without what a page of the service sends.
      const send = async (headers: Readonly<Record<string, string>>, at = "/auth/v1/cli/logins") =>
        (
          await fetch(owner.baseUrl + at, {
            method: "POST",
            headers: { "content-type": "application/json", ...newNetwork(), ...headers },
            body: JSON.stringify(json)
          })
        ).status
      assert.strictEqual(await send({}), 201)
      for (const headers of [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "none" },
        { origin: "https://evil.example" },
        { origin: "null" }
      ]) {
        assert.strictEqual(await send(headers), 403, JSON.stringify(headers))
        assert.strictEqual(await send(headers, `${path(absent)}/token`), 403, JSON.stringify(headers))
      }
    })

    test("may happen 20 times in an hour at one network address", async (owner) => {
      const [here, elsewhere] = [newNetwork(), newNetwork()]
      const ask = (headers: Readonly<Record<string, string>>) =>
        owner.as(undefined).send<ErrorBody>("POST", "/auth/v1/cli/logins", {
          json: startBody(newVerifier()),
          headers
        })
      const answers = await Promise.all(Array.from({ length: 25 }, () => ask(here)))
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [
        ...Array<number>(20).fill(201),
        ...Array<number>(5).fill(429)
      ])
      const { body, headers } = answers.find(({ status }) => status === 429)!
      assert.match(
        body.message,
        /^Too many sign-ins of command lines: at most 20 in an hour from one network address\./
      )
      assert.match(headers["retry-after"]!, /^\d+$/)
      assert.strictEqual((await ask(elsewhere)).status, 201)
    })
  },
  proxied
)

onEachServer(
  "Deciding about the command line",
  (test) => {
    test("happens once, whatever was decided", async (owner) => {
      const { session } = await scene(owner)
      for (const [first, second] of [
        [{ allow: true }, { allow: false }],
        [{ allow: false }, { allow: true }],
        [{ allow: true }, { allow: true }]
      ] as const) {
        const { id } = await startLogin(owner)
        assert.strictEqual((await decideLogin(session, id, first)).status, 200)
        assert.strictEqual(refusal(await decideLogin(session, id, second)), "404 login")
        await session.refuse("404 login", "GET", path(id))
        await owner.as(undefined).refuse("404 login", "GET", `${path(id)}/program`)
      }
      for (const id of ["none", absent]) {
        await session.refuse("404 login", "GET", path(id))
        assert.strictEqual(refusal(await decideLogin(session, id, { allow: true })), "404 login")
        assert.strictEqual(refusal(await decideLogin(session, id, { allow: false })), "404 login")
      }
    })

    test("of many who decide at once, one is asked", async (owner) => {
      const { session } = await scene(owner)
      const { id } = await startLogin(owner)
      const decisions = Array.from({ length: 20 }, (_, index) => decideLogin(session, id, { allow: index % 2 === 0 }))
      const statuses = (await Promise.all(decisions)).map(({ status }) => status)
      assert.deepStrictEqual(statuses.toSorted(), [200, ...Array<number>(19).fill(404)])
    })

    test("is for a session alone, and for the person to whom it was shown", async (owner) => {
      const { person, session } = await scene(owner)
      const { id } = await startLogin(owner)
      await owner.refuse("401", "GET", path(id))
      await person.refuse("401", "POST", path(id), { allow: true })
      await owner.as(undefined).refuse("401", "POST", path(id), { allow: false })
      const { session: other } = await scene(owner)
      const allowing = { allow: true, person: person.id }
      assert.strictEqual(refusal(await decideLogin(other, id, allowing)), "409 other_person")
      assert.strictEqual((await decideLogin(session, id, allowing)).status, 200)
    })

    test("gives no more than was asked for", async (owner) => {
      const { session } = await scene(owner)
      const keyExpiresAt = inDays(10)
      const login = await startLogin(owner, { scopes: ["read", "publish"], keyExpiresAt })
      for (const [fields, refused] of [
        [{ scopes: ["read", "admin"] }, "400 scopes"],
        [{ scopes: null }, "400 scopes"],
        [{ scopes: [] }, "400 scopes"],
        [{ keyExpiresAt: inDays(11) }, "400 keyExpiresAt"],
        [{ keyExpiresAt: inDays(-1) }, "400 keyExpiresAt"],
        [{ name: "a\u202e" }, "400 name"]
      ] as const) {
        assert.strictEqual(refusal(await decideLogin(session, login.id, { allow: true, ...fields })), refused)
      }
      const until = inDays(2)
      const fields = { scopes: ["publish", "publish"], keyExpiresAt: until, name: "build machine" }
      const { body } = await redeemLogin(owner, login.id, await allowLogin(session, login, fields))
      assert.deepInclude(body, { name: "build machine", scopes: ["publish"], expiresAt: until })
    })

    test("takes the code that the terminal shows, in whatever form, and no other", async (owner) => {
      const { session } = await scene(owner)
      const login = await startLogin(owner, { isDevice: true })
      const other = await startLogin(owner, { isDevice: true })
      const userCode = login.userCode!
      const allowing = (typed: string | undefined) =>
        decideLogin(session, login.id, { allow: true, ...(typed === undefined ? {} : { userCode: typed }) })
      for (const typed of [undefined, "", userCode.slice(1), `${userCode}2`, other.userCode!, "x".repeat(100)]) {
        const refused = await allowing(typed)
        assert.strictEqual(refusal(refused), "400 userCode", typed)
        assert.include(refused.text, "Expected the code that the terminal shows")
      }
      const allowed = await allowing(` ${userCode.toLowerCase().replace("-", " ")} `)
      assert.deepStrictEqual([allowed.status, allowed.body as unknown], [200, { location: null }])
      // Who refuses types nothing.
      assert.strictEqual((await decideLogin(session, other.id, { allow: false })).status, 200)
    })

    test("lets nobody try all codes", async (owner) => {
      const { session } = await scene(owner)
      const login = await startLogin(owner, { isDevice: true })
      const here = newNetwork()
      const typed = (userCode: string, headers: Readonly<Record<string, string>>) =>
        session.send("POST", path(login.id), { json: { allow: true, userCode }, headers })
      const answers = await Promise.all(Array.from({ length: 30 }, () => typed("22222222", here)))
      assert.strictEqual(answers.filter(({ status }) => status === 400).length, 20)
      assert.strictEqual((await typed(login.userCode!, here)).status, 429)
      assert.strictEqual((await typed(login.userCode!, newNetwork())).status, 200)
    })
  },
  proxied
)

onEachServer(
  "Fetching the key of the command line",
  (test) => {
    test("makes it once, as the person who allowed it, and the audit tells both", async (owner) => {
      const { person, session, workspace } = await scene(owner)
      const login = await startLogin(owner, { scopes: ["read"] })
      const before = await keysOf(person)
      const decided = await decideLogin(session, login.id, { allow: true, person: person.id })
      const { code, ...rest } = answerAt(decided.body)
      assert.deepStrictEqual(rest, { state: login.id })
      assert.match(code!, /^otk_[0-9A-Za-z]{42}$/)
      assert.lengthOf(await keysOf(person), before.length)
      const proof = { codeVerifier: login.verifier, code }
      const { body, headers, status } = await redeemLogin(owner, login.id, proof)
      assert.deepStrictEqual([status, headers["cache-control"]], [200, "no-store"])
      assert.deepInclude(body, { name: "delivery on laptop", scopes: ["read"], lastFour: body.secret.slice(-4) })
      const made = owner.as(body.secret)
      assert.strictEqual((await made.get<Me>("/v1/me")).id, person.id)
      await made.refuse("403 scope_missing", "POST", "/v1/api-keys", { name: "more" })
      assert.strictEqual(refusal(await redeemLogin(owner, login.id, proof)), "401 sign_in_failed")
      assert.lengthOf(await keysOf(person), before.length + 1)
      const { entries } = await workspace.get<AuditPage>("audit?outcome=allowed")
      const [created, allowed] = entries
      const sessionId = (await session.get<{ session: { id: string; lastFour: string } }>("/auth/v1/session")).session
        .id
      assert.deepStrictEqual(
        [created, allowed].map((entry) => [
          entry!.action,
          entry!.subject.label,
          entry!.actor.kind === "user" && entry!.actor.id,
          entry!.credential?.id
        ]),
        [
          ["key_created", "delivery on laptop", person.id, sessionId],
          ["login_allowed", "delivery on laptop", person.id, sessionId]
        ]
      )
      assert.deepStrictEqual(
        allowed!.changes!.map(({ field }) => field),
        ["address", "scopes", "expiresAt"]
      )
      const { events } = await workspace.get<{ events: ReadonlyArray<{ kind: string }> }>("events")
      assert.strictEqual(events[0]!.kind, "key_created")
      assert.notMatch(JSON.stringify([entries, events]), /tk_[0-9A-Za-z]{30}/)
      // It lives on when the session ends, as any key that was made in one.
      await session.delete("/auth/v1/session")
      assert.strictEqual((await made.get<Me>("/v1/me")).id, person.id)
    })

    test("needs code and verifier, and what fails uses nothing up", async (owner) => {
      const { session } = await scene(owner)
      const [login, other] = [await startLogin(owner), await startLogin(owner)]
      const proof = await allowLogin(session, login)
      const others = await allowLogin(session, other)
      for (const wrong of [
        { codeVerifier: proof.codeVerifier },
        { ...proof, code: "" },
        { ...proof, code: others.code },
        { ...proof, code: `${proof.code}x` },
        { ...proof, codeVerifier: others.codeVerifier },
        { ...proof, codeVerifier: newVerifier() },
        others
      ]) {
        assert.strictEqual(refusal(await redeemLogin(owner, login.id, wrong)), "401 sign_in_failed")
      }
      for (const codeVerifier of ["", "x", "x".repeat(129), `${"x".repeat(42)}=`, 1]) {
        assert.strictEqual(refusal(await redeemLogin(owner, login.id, { codeVerifier })), "400 codeVerifier")
      }
      for (const id of ["none", absent, other.id]) {
        assert.strictEqual(refusal(await redeemLogin(owner, id, proof)), "401 sign_in_failed", id)
      }
      assert.strictEqual((await redeemLogin(owner, login.id, proof)).status, 200)
      assert.strictEqual((await redeemLogin(owner, other.id, others)).status, 200)
    })

    test("waits until somebody has decided, and says what they decided to nobody else", async (owner) => {
      const { session, workspace } = await scene(owner)
      for (const isDevice of [false, true]) {
        const login = await startLogin(owner, { isDevice })
        const proof = { codeVerifier: login.verifier }
        const elsewhere = { codeVerifier: newVerifier() }
        assert.strictEqual(refusal(await redeemLogin(owner, login.id, proof)), "409 authorization_pending")
        assert.strictEqual(refusal(await redeemLogin(owner, login.id, elsewhere)), "401 sign_in_failed")
        const { body } = await decideLogin(session, login.id, { allow: false })
        if (isDevice) assert.isNull(body.location)
        else assert.deepStrictEqual(answerAt(body), { error: "access_denied", state: login.id })
        assert.strictEqual(refusal(await redeemLogin(owner, login.id, proof)), "403 access_denied")
        assert.strictEqual(refusal(await redeemLogin(owner, login.id, elsewhere)), "401 sign_in_failed")
      }
      const { entries } = await workspace.get<AuditPage>("audit?action=login_denied")
      assert.lengthOf(entries, 2)
    })

    test("is for whoever asks by itself without a code, and counts no question of theirs", async (owner) => {
      const { person, session } = await scene(owner)
      const login = await startLogin(owner, { isDevice: true })
      const here = newNetwork()
      for (let round = 0; round < 25; round++) {
        const answer = await redeemLogin(owner, login.id, { codeVerifier: login.verifier }, here)
        assert.strictEqual(refusal(answer), "409 authorization_pending")
      }
      const { body } = await redeemLogin(owner, login.id, await allowLogin(session, login), here)
      assert.strictEqual((await owner.as(body.secret).get<Me>("/v1/me")).id, person.id)
    })

    test("counts what fails at its network address", async (owner) => {
      const here = newNetwork()
      const guess = () => redeemLogin(owner, absent, { codeVerifier: newVerifier() }, here)
      const answers = await Promise.all(Array.from({ length: 25 }, guess))
      assert.strictEqual(answers.filter(({ status }) => status === 429).length, 5)
    })

    test("makes nothing for a session that has ended, or a code that was reported", async (owner) => {
      const { person, workspace } = await scene(owner)
      const before = await keysOf(person)
      for (const isDevice of [false, true]) {
        const session = await signIn(workspace, person.id)
        const login = await startLogin(owner, { isDevice })
        const proof = await allowLogin(session, login)
        await session.delete("/auth/v1/session")
        assert.strictEqual(refusal(await redeemLogin(owner, login.id, proof)), "401 sign_in_failed")
      }
      const session = await signIn(workspace, person.id)
      const login = await startLogin(owner)
      const proof = await allowLogin(session, login)
      const reported = await owner.as(undefined).send("POST", "/v1/tokens/report", { json: { token: proof.code } })
      assert.strictEqual(reported.status, 204)
      assert.strictEqual(refusal(await redeemLogin(owner, login.id, proof)), "401 sign_in_failed")
      const { entries } = await workspace.get<AuditPage>("audit?action=login_code_reported")
      assert.deepStrictEqual(
        entries.map(({ credential, subject }) => [subject.label, credential?.kind]),
        [["delivery on laptop", "report"]]
      )
      assert.lengthOf(await keysOf(person), before.length)
    })

    test("makes a key that a workspace has blocked with the session, and no 21st", async (owner) => {
      const { person, session, workspace } = await scene(owner)
      const login = await startLogin(owner, { isDevice: true })
      const proof = await allowLogin(session, login)
      const { id } = (await session.get<{ session: { id: string } }>("/auth/v1/session")).session
      await workspace.post(`credentials/${id}/block`, undefined, 200)
      const { body } = await redeemLogin(owner, login.id, proof)
      await workspace.as(body.secret).refuse("404 workspace", "GET", "products")
      while ((await keysOf(person)).length < 20) await person.post("/v1/api-keys", { name: "other" }, 200)
      const full = await startLogin(owner)
      const allowed = await allowLogin(await signIn(workspace, person.id), full)
      assert.strictEqual(refusal(await redeemLogin(owner, full.id, allowed)), "409 too_many_keys")
      // Nothing was used up: it works once there is room.
      await person.post(`/v1/api-keys/${body.id}/revoke`, undefined, 200)
      assert.strictEqual((await redeemLogin(owner, full.id, allowed)).status, 200)
    })
  },
  proxied
)

withClockOnEachServer(
  "Logins of the command line, as time passes",
  (test) => {
    test("can be decided about for 10 minutes", async (owner, advance) => {
      const { session } = await scene(owner)
      const [login, late] = [await startLogin(owner), await startLogin(owner)]
      advance("9 minutes")
      assert.strictEqual((await decideLogin(session, login.id, { allow: true })).status, 200)
      advance("1 minute")
      assert.strictEqual(refusal(await decideLogin(session, late.id, { allow: true })), "404 login")
      await session.refuse("404 login", "GET", path(late.id))
      assert.strictEqual(
        refusal(await redeemLogin(owner, late.id, { codeVerifier: late.verifier })),
        "401 sign_in_failed"
      )
    })

    test("have a code for 60 seconds, and without one what is left of the 10 minutes", async (owner, advance) => {
      const { session } = await scene(owner)
      const [first, second] = [await startLogin(owner), await startLogin(owner)]
      const [device, late] = [await startLogin(owner, { isDevice: true }), await startLogin(owner, { isDevice: true })]
      const proofs = {
        first: await allowLogin(session, first),
        second: await allowLogin(session, second),
        device: await allowLogin(session, device),
        late: await allowLogin(session, late)
      }
      advance("59 seconds")
      assert.strictEqual((await redeemLogin(owner, first.id, proofs.first)).status, 200)
      advance("1 second")
      assert.strictEqual(refusal(await redeemLogin(owner, second.id, proofs.second)), "401 sign_in_failed")
      advance("8 minutes")
      assert.strictEqual((await redeemLogin(owner, device.id, proofs.device)).status, 200)
      advance("1 minute")
      assert.strictEqual(refusal(await redeemLogin(owner, late.id, proofs.late)), "401 sign_in_failed")
    })

    test("need a fresh proof to be allowed, not to be refused, nor to be fetched", async (owner, advance) => {
      const { session, workspace } = await scene(owner)
      advance("14 minutes")
      const [fresh, login] = [await startLogin(owner, { isDevice: true }), await startLogin(owner, { isDevice: true })]
      const proof = await allowLogin(session, fresh)
      advance("2 minutes")
      const { userCode } = login
      assert.strictEqual(refusal(await decideLogin(session, login.id, { allow: true, userCode })), "403 sudo_required")
      // It is said before whether the code is right.
      assert.strictEqual(refusal(await decideLogin(session, login.id, { allow: true })), "403 sudo_required")
      assert.strictEqual((await redeemLogin(owner, fresh.id, proof)).status, 200)
      assert.strictEqual((await decideLogin(session, login.id, { allow: false })).status, 200)
      const other = await signIn(
        workspace,
        (await session.get<{ person: { id: string } }>("/auth/v1/session")).person.id
      )
      const again = await startLogin(owner)
      assert.strictEqual((await redeemLogin(owner, again.id, await allowLogin(other, again))).status, 200)
    })

    test("make keys that end when they were to", async (owner, advance) => {
      const { session } = await scene(owner)
      const login = await startLogin(owner)
      const { body } = await redeemLogin(owner, login.id, await allowLogin(session, login))
      const made = owner.as(body.secret)
      advance("89 days")
      await made.get("/v1/me")
      advance("1 day")
      await made.refuse("401", "GET", "/v1/me")
    })
  },
  proxied
)

withClockOnEachServer(
  "Logins of the command line, in a session that expires",
  (test) => {
    test("make nothing any more", async (owner, advance) => {
      const { person, session } = await scene(owner)
      const before = await keysOf(person)
      const [login, late] = [await startLogin(owner, { isDevice: true }), await startLogin(owner, { isDevice: true })]
      const [proof, other] = [await allowLogin(session, login), await allowLogin(session, late)]
      advance("119 seconds")
      assert.strictEqual((await redeemLogin(owner, login.id, proof)).status, 200)
      advance("1 second")
      assert.strictEqual(refusal(await redeemLogin(owner, late.id, other)), "401 sign_in_failed")
      assert.lengthOf(await keysOf(person), before.length + 1)
    })
  },
  { ...proxied, SESSION_IDLE_MS: "120000" }
)
