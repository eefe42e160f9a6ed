import type {
  Passkey,
  PasskeyCreationOptions,
  PasskeyProof,
  PasskeyRequestOptions
} from "@delivery/domain/auth/Passkey"
import type { SignedIn, SignInMethods } from "@delivery/domain/auth/Session"
import { assert, describe, it } from "vitest"
import { offersPasskeys } from "../../src/auth/RelyingParty.ts"
import { type Algorithm, type Saying, SoftPasskey, synced } from "../support/Authenticator.ts"
import {
  type Answer,
  assertId,
  assertTimestamp,
  type ErrorBody,
  type Http,
  join,
  newLink,
  newPasskey,
  onEachServer,
  passkeyRequest,
  refusal,
  sessionIn,
  signIn,
  withClockOnEachServer
} from "../support/Http.ts"

/** Passkeys over HTTP, with a device in software (docs/contract.md, Passkeys). */

const creation = (session: Http) => session.post<PasskeyCreationOptions>("/auth/v1/passkeys/options", undefined, 200)
const sudoRequest = (session: Http) => session.post<PasskeyRequestOptions>("/auth/v1/sudo/options", undefined, 200)
const passkeysOf = async (session: Http) =>
  (await session.get<{ passkeys: ReadonlyArray<Passkey> }>("/auth/v1/passkeys")).passkeys

/** From another network address each time: of one, only so many failures are looked at. */
let addresses = 0
const elsewhere = () => ({ "x-forwarded-for": `10.1.${addresses >> 8}.${addresses++ & 255}` })

const verify = (by: Http, proof: PasskeyProof, headers: Readonly<Record<string, string>> = elsewhere()) =>
  by.as(undefined).send<SignedIn>("POST", "/auth/v1/passkeys/sign-in/verify", { json: proof, headers })

const sudo = (session: Http, passkey: PasskeyProof) =>
  session.send<SignedIn>("POST", "/auth/v1/sudo", { json: { passkey }, headers: elsewhere() })

const visitorOf = (owner: Http) => owner.as(undefined)

/** A new person in a session of theirs. */
const newSession = async (owner: Http) => {
  const { id } = await join(owner, "viewer")
  return { ...(await signIn(owner, id)), id }
}

const proxied = { TRUSTED_PROXIES: "127.0.0.1/32,::1/128" }

onEachServer(
  "Passkeys",
  (test) => {
    test("a person adds a passkey and signs in with it", async (owner) => {
      const session = await newSession(owner)
      const options = await creation(session)
      const { id } = await session.get<SignedIn>("/auth/v1/session").then(({ person }) => person)
      const { challenge, user, ...rest } = options
      assert.match(challenge, /^[A-Za-z0-9_-]{43}$/)
      assert.strictEqual(Buffer.from(user.id, "base64url").toString("hex"), id.replaceAll("-", ""))
      assert.deepStrictEqual(rest, {
        rp: { id: "127.0.0.1", name: "Workspace Delivery Service" },
        pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: "public-key" as const, alg })),
        timeout: 300_000,
        excludeCredentials: [],
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
        attestation: "none"
      })
      const passkey = new SoftPasskey(owner.baseUrl, { backup: synced })
      const added = await session.send<Passkey>("POST", "/auth/v1/passkeys/verify", {
        json: { name: " Laptop ", response: passkey.create(options) }
      })
      assert.strictEqual(added.status, 201, added.text)
      assertId(added.body.id)
      assertTimestamp(added.body.createdAt)
      assert.deepInclude(added.body, { name: "Laptop", lastUsedAt: null, synced: true })
      assert.strictEqual(added.headers["cache-control"], "no-store")
      assert.deepStrictEqual(await passkeysOf(session), [added.body])

      const request = await passkeyRequest(visitorOf(owner))
      assert.deepInclude(request, { rpId: "127.0.0.1", allowCredentials: [], userVerification: "required" })
      const answer = await verify(owner, passkey.prove(request))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.body.person.id, id)
      assert.strictEqual(answer.body.session.method, "passkey")
      const signedIn = owner.as(sessionIn(answer))
      const [used] = await passkeysOf(signedIn)
      assertTimestamp(used!.lastUsedAt)
      // Browsers do not offer to make it again, and know where it is.
      assert.deepStrictEqual((await creation(signedIn)).excludeCredentials, [
        { id: passkey.id, type: "public-key", transports: ["internal"] }
      ])
    })

    test("keys of each algorithm that is asked for work, and so does a device that vouches for itself", async (owner) => {
      const session = await newSession(owner)
      for (const algorithm of [-8, -7, -257] satisfies ReadonlyArray<Algorithm>) {
        const passkey = await newPasskey(session, { algorithm })
        assert.strictEqual((await verify(owner, passkey.prove(await passkeyRequest(owner)))).status, 200)
        const self = new SoftPasskey(owner.baseUrl, { algorithm })
        const response = self.create(await creation(session), { attestation: "self" })
        await session.post("/auth/v1/passkeys/verify", { response })
        assert.strictEqual((await verify(owner, self.prove(await passkeyRequest(owner)))).status, 200)
      }
    })

    test("whatever is wrong with a proof, the answer is that of every other failure", async (owner) => {
      const visitor = visitorOf(owner)
      const [session, other] = [await newSession(owner), await newSession(owner)]
      const [passkey, others] = [await newPasskey(session), await newPasskey(other)]
      const synchronized = await newPasskey(session, { backup: synced })
      const { body } = await visitor.send("POST", "/auth/v1/links/consume", {
        json: { token: "x" },
        headers: elsewhere()
      })
      const othersHandle = others.prove(await passkeyRequest(owner)).response.userHandle!
      const wrong: Readonly<Record<string, Saying>> = {
        "another origin": { origin: "https://evil.example" },
        "a longer origin": { origin: `${owner.baseUrl}.evil.example` },
        "another RP id": { rpId: "localhost" },
        "in a frame": { crossOrigin: true },
        "nobody present": { flags: 0b100 },
        "nobody verified": { flags: 0b001 },
        "synced, of one place": { flags: 0b11101 },
        "backed up, and not eligible": { flags: 0b10101 },
        "of another kind": { type: "webauthn.create" },
        "a challenge of nobody": { challenge: "A".repeat(43) },
        "no challenge": { challenge: "" },
        "another's handle": { userHandle: othersHandle },
        "no handle": { userHandle: null },
        "of an unknown passkey": { id: "A".repeat(22) },
        "of another's passkey": { id: others.id },
        "of another's passkey and handle": { id: others.id, userHandle: othersHandle },
        "a signature of something else": { signed: Buffer.from("something else") }
      }
      const assertFailed = (name: string, answer: Answer) => {
        assert.deepStrictEqual([answer.status, answer.body], [401, body], name)
        assert.isUndefined(answer.headers["set-cookie"], name)
      }
      for (const [name, saying] of Object.entries(wrong)) {
        assertFailed(name, await verify(visitor, passkey.prove(await passkeyRequest(owner), saying)))
      }
      const notSynchronized = synchronized.prove(await passkeyRequest(owner), { flags: 0b101 })
      assertFailed("no longer eligible for copies", await verify(visitor, notSynchronized))
      const { response, ...rest } = passkey.prove(await passkeyRequest(owner))
      for (const part of ["clientDataJSON", "authenticatorData", "signature"] as const) {
        assertFailed(`no ${part}`, await verify(visitor, { ...rest, response: { ...response, [part]: "AAAA" } }))
      }
      for (const text of ["null", "[]", "1", `{"challenge":1}`, "{", "[".repeat(5_000)]) {
        const clientDataJSON = Buffer.from(text).toString("base64url")
        assertFailed(text.slice(0, 20), await verify(visitor, { ...rest, response: { ...response, clientDataJSON } }))
      }
      for (const challenge of [(await sudoRequest(session)).challenge, (await creation(session)).challenge]) {
        assertFailed("of another purpose", await verify(visitor, passkey.prove({ challenge } as PasskeyRequestOptions)))
      }
      // None of it has hurt the passkey.
      assert.strictEqual((await verify(visitor, passkey.prove(await passkeyRequest(owner)))).status, 200)
    })

    test("a proof works once", async (owner) => {
      const passkey = await newPasskey(await newSession(owner))
      const request = await passkeyRequest(owner)
      const proof = passkey.prove(request)
      assert.strictEqual((await verify(owner, proof)).status, 200)
      assert.strictEqual(refusal(await verify(owner, proof)), "401 sign_in_failed")
      assert.strictEqual(refusal(await verify(owner, passkey.prove(request))), "401 sign_in_failed")
      // Nor does a challenge that a wrong proof was sent for.
      const failed = await passkeyRequest(owner)
      assert.strictEqual(refusal(await verify(owner, passkey.prove(failed, { flags: 0b1 }))), "401 sign_in_failed")
      assert.strictEqual(refusal(await verify(owner, passkey.prove(failed))), "401 sign_in_failed")
    })

    test("a counter goes up, or is never counted", async (owner) => {
      const session = await newSession(owner)
      const counts = await newPasskey(session)
      const tries = async (passkey: SoftPasskey, counter: number) =>
        refusal(await verify(owner, passkey.prove(await passkeyRequest(owner), { counter })))
      assert.strictEqual(await tries(counts, 7), "200")
      assert.strictEqual(await tries(counts, 7), "401 sign_in_failed")
      assert.strictEqual(await tries(counts, 6), "401 sign_in_failed")
      assert.strictEqual(await tries(counts, 0), "401 sign_in_failed")
      assert.strictEqual(await tries(counts, 8), "200")
      assert.strictEqual(await tries(counts, 0xffff_ffff), "200")
      const never = await newPasskey(session)
      for (let use = 0; use < 3; use++) assert.strictEqual(await tries(never, 0), "200")
      assert.strictEqual(await tries(never, 1), "200")
      assert.strictEqual(await tries(never, 0), "401 sign_in_failed")
    })

    test("a passkey that is not as it was asked for is refused", async (owner) => {
      const [session, other] = [await newSession(owner), await newSession(owner)]
      const add = (response: object) => session.send("POST", "/auth/v1/passkeys/verify", { json: { response } })
      const made = async (saying: Parameters<SoftPasskey["create"]>[1], algorithm: Algorithm = -7) =>
        add(new SoftPasskey(owner.baseUrl, { algorithm }).create(await creation(session), saying))
      const cases: ReadonlyArray<readonly [string, Parameters<SoftPasskey["create"]>[1]]> = [
        ["another origin", { origin: "https://evil.example" }],
        ["another RP id", { rpId: "localhost" }],
        ["in a frame", { crossOrigin: true }],
        ["nobody present", { flags: 0b100 }],
        ["nobody verified", { flags: 0b001 }],
        ["backed up, and not eligible", { flags: 0b10101 }],
        ["of another kind", { type: "webauthn.get" }],
        ["a challenge of nobody", { challenge: "A".repeat(43) }],
        ["another's challenge", { challenge: (await creation(other)).challenge }],
        ["a challenge of signing in", { challenge: (await passkeyRequest(owner)).challenge }],
        ["a challenge of proving", { challenge: (await sudoRequest(session)).challenge }],
        ["another id than its own", { id: "A".repeat(22) }],
        ["something behind it", { leftover: Buffer.from([0]) }],
        ["certified, which was not asked for", { attestation: "certified" }]
      ]
      for (const [name, saying] of cases) assert.strictEqual(refusal(await made(saying)), "400 response", name)
      assert.strictEqual(refusal(await made({}, -35)), "400 response", "another algorithm")
      const right = new SoftPasskey(owner.baseUrl).create(await creation(session))
      const deep = Buffer.alloc(12_000, 0x81).toString("base64url")
      for (const attestationObject of ["AAAA", "oA", "_w", deep]) {
        const response = { ...right.response, attestationObject }
        assert.strictEqual(refusal(await add({ ...right, response })), "400 response", attestationObject.slice(0, 9))
      }
      // The first of them used the challenge up.
      assert.strictEqual(refusal(await add(right)), "400 response")
      assert.deepStrictEqual(await passkeysOf(session), [])
    })

    test("what is longer than any device makes it is refused before it is read", async (owner) => {
      const session = await newSession(owner)
      const passkey = await newPasskey(session)
      const proof = passkey.prove(await passkeyRequest(owner))
      // A body without a credential has at most 64 KiB.
      const long = "A".repeat(50_000)
      for (const field of ["clientDataJSON", "authenticatorData", "signature", "userHandle"]) {
        const json = { ...proof, response: { ...proof.response, [field]: long } }
        const answer = await visitorOf(owner).send("POST", "/auth/v1/passkeys/sign-in/verify", { json })
        assert.strictEqual(refusal(answer), `400 response.${field}`)
        assert.notInclude(answer.text, "AAAA")
      }
      const { response, ...rest } = new SoftPasskey(owner.baseUrl).create(await creation(session))
      for (const field of ["clientDataJSON", "attestationObject"]) {
        const json = { response: { ...rest, response: { ...response, [field]: long } } }
        const answer = await session.send("POST", "/auth/v1/passkeys/verify", { json })
        assert.strictEqual(refusal(answer), `400 response.response.${field}`)
      }
      await session.refuse("400 name", "POST", "/auth/v1/passkeys/verify", {
        name: "",
        response: { ...rest, response }
      })
    })

    test("a passkey is known once, whoever adds it again", async (owner) => {
      const [session, other] = [await newSession(owner), await newSession(owner)]
      const passkey = await newPasskey(session)
      for (const by of [session, other]) {
        const json = { response: passkey.create(await creation(by)) }
        await by.refuse("409 passkey_exists", "POST", "/auth/v1/passkeys/verify", json)
      }
      assert.deepStrictEqual(await passkeysOf(other), [])
    })

    test("a person has 10 passkeys, however many are added at once", async (owner) => {
      const session = await newSession(owner)
      const made = await Promise.all(
        Array.from({ length: 14 }, async () => new SoftPasskey(owner.baseUrl).create(await creation(session)))
      )
      const answers = await Promise.all(
        made.map((response) => session.send("POST", "/auth/v1/passkeys/verify", { json: { response } }))
      )
      assert.deepStrictEqual(answers.map(refusal).toSorted(), [
        ...Array.from({ length: 10 }, () => "201"),
        ...Array.from({ length: 4 }, () => "409 too_many_passkeys")
      ])
      assert.lengthOf(await passkeysOf(session), 10)
      await session.refuse("409 too_many_passkeys", "POST", "/auth/v1/passkeys/options")
      const [first] = await passkeysOf(session)
      await session.delete(`/auth/v1/passkeys/${first!.id}`)
      await creation(session)
    })

    test("passkeys are listed by name, and named as the browser until their person names them", async (owner) => {
      const session = await newSession(owner)
      const headers = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0" }
      const response = new SoftPasskey(owner.baseUrl).create(await creation(session))
      const { body } = await session.send<Passkey>("POST", "/auth/v1/passkeys/verify", { json: { response }, headers })
      assert.strictEqual(body.name, "Firefox on Linux")
      const { passkeyId } = await newPasskey(session)
      const renamed = await session.patch<Passkey>(`/auth/v1/passkeys/${passkeyId}`, { name: " A key " })
      assert.strictEqual(renamed.name, "A key")
      assert.deepStrictEqual(await passkeysOf(session), [renamed, body])
    })

    test("nobody renames, removes or uses the passkey of another person", async (owner) => {
      const [session, other] = [await newSession(owner), await newSession(owner)]
      const { passkeyId } = await newPasskey(session)
      const mine = await newPasskey(other)
      for (const id of [passkeyId, "none", "0197a1b2-0000-7000-8000-000000000000"]) {
        await other.refuse("404 passkey", "PATCH", `/auth/v1/passkeys/${id}`, { name: "Mine" })
        await other.refuse("404 passkey", "DELETE", `/auth/v1/passkeys/${id}`)
      }
      const request = await sudoRequest(session)
      assert.strictEqual(refusal(await sudo(session, mine.prove(request))), "401 sign_in_failed")
      assert.strictEqual(refusal(await sudo(session, mine.prove(await sudoRequest(other)))), "401 sign_in_failed")
      assert.strictEqual((await passkeysOf(session))[0]!.lastUsedAt, null)
      await session.get("/v1/me")
    })

    test("the last way in cannot be removed, however many are removed at once", async (owner) => {
      const session = await newSession(owner)
      const made = [await newPasskey(session), await newPasskey(session), await newPasskey(session)]
      // The service is at an IP address, where browsers use none.
      assert.deepStrictEqual((await session.get<SignedIn>("/auth/v1/session")).waysIn, [])
      const answers = await Promise.all(
        made.map(({ passkeyId }) => session.send("DELETE", `/auth/v1/passkeys/${passkeyId}`))
      )
      assert.deepStrictEqual(answers.map(refusal).toSorted(), ["204", "204", "409 last_method"])
      const [left] = await passkeysOf(session)
      await session.refuse("409 last_method", "DELETE", `/auth/v1/passkeys/${left!.id}`)
      const removed = made.find(({ passkeyId }) => passkeyId !== left!.id)!
      assert.strictEqual(refusal(await verify(owner, removed.prove(await passkeyRequest(owner)))), "401 sign_in_failed")
    })

    test("a session that a workspace has blocked lets in no other one", async (owner) => {
      const session = await newSession(owner)
      const passkey = await newPasskey(session)
      const response = new SoftPasskey(owner.baseUrl).create(await creation(session))
      const { id } = (await session.get<SignedIn>("/auth/v1/session")).session
      await owner.post(`credentials/${id}/block`, undefined, 200)
      const calls: ReadonlyArray<readonly [string, string, unknown?]> = [
        ["POST", "/auth/v1/passkeys/options"],
        ["POST", "/auth/v1/passkeys/verify", { response }]
      ]
      for (const [method, path, json] of calls) await session.refuse("403 session_blocked", method, path, json)
      assert.deepStrictEqual(
        (await passkeysOf(session)).map(({ id }) => id),
        [passkey.passkeyId]
      )
      await owner.post(`credentials/${id}/unblock`, undefined, 200)
      await session.post("/auth/v1/passkeys/verify", { response })
      // What somebody else added with a stolen session can be removed, whoever blocks the person's own.
      await owner.post(`credentials/${id}/block`, undefined, 200)
      await session.delete(`/auth/v1/passkeys/${passkey.passkeyId}`)
    })

    test("proofs by passkey that fail count as all others, and what works does not", async (owner) => {
      const session = await newSession(owner)
      const passkey = await newPasskey(session)
      const headers = elsewhere()
      const right = async () => verify(owner, passkey.prove(await passkeyRequest(owner)), headers)
      for (let attempt = 0; attempt < 20; attempt++) {
        const proof = passkey.prove(await passkeyRequest(owner), { flags: 0b1 })
        assert.strictEqual(refusal(await verify(owner, proof, headers)), "401 sign_in_failed")
        if (attempt < 19) assert.strictEqual((await right()).status, 200)
      }
      const refused = [
        await verify(owner, passkey.prove(await passkeyRequest(owner), { flags: 0b1 }), headers),
        await visitorOf(owner).send("POST", "/auth/v1/links/consume", { json: { token: "x" }, headers }),
        await session.send("POST", "/auth/v1/sudo", {
          json: { passkey: passkey.prove(await sudoRequest(session), { flags: 0b1 }) },
          headers
        })
      ]
      for (const answer of refused) {
        assert.strictEqual(refusal(answer), "429")
        assert.isAbove(Number(answer.headers["retry-after"]), 3000)
      }
      // Nobody guesses a passkey: one that is right works as ever.
      assert.strictEqual((await right()).status, 200)
      const proof = { passkey: passkey.prove(await sudoRequest(session)) }
      assert.strictEqual((await session.send("POST", "/auth/v1/sudo", { json: proof, headers })).status, 200)
    })

    test("600 sign-ins in an hour begin at one network address", async (owner) => {
      const begin = (headers: Readonly<Record<string, string>>) =>
        visitorOf(owner).send<ErrorBody>("POST", "/auth/v1/passkeys/sign-in/options", { headers })
      const here = elsewhere()
      for (let round = 0; round < 6; round++) {
        const answers = await Promise.all(Array.from({ length: 100 }, () => begin(here)))
        assert.isTrue(answers.every(({ status }) => status === 200))
      }
      const refused = await begin(here)
      assert.strictEqual(refusal(refused), "429")
      assert.include(refused.body.message, "at most 600 in an hour from one network address")
      assert.isAbove(Number(refused.headers["retry-after"]), 3000)
      assert.strictEqual((await begin(elsewhere())).status, 200)
    })

    test("browsers use no passkeys at an IP address, and the methods say so", async (owner) => {
      assert.isFalse((await owner.get<SignInMethods>("/auth/v1/methods")).passkeys)
    })
  },
  proxied
)

withClockOnEachServer(
  "The times of passkeys",
  (test) => {
    test("a challenge works for 5 minutes", async (owner, advance) => {
      const session = await newSession(owner)
      const passkey = await newPasskey(session)
      const [first, second, third] = [await passkeyRequest(owner), await passkeyRequest(owner), await creation(session)]
      const again = await sudoRequest(session)
      advance("299 seconds")
      assert.strictEqual((await verify(owner, passkey.prove(first))).status, 200)
      advance("1 second")
      assert.strictEqual(refusal(await verify(owner, passkey.prove(second))), "401 sign_in_failed")
      assert.strictEqual(refusal(await sudo(session, passkey.prove(again))), "401 sign_in_failed")
      const response = new SoftPasskey(owner.baseUrl).create(third)
      await session.refuse("400 response", "POST", "/auth/v1/passkeys/verify", { response })
    })

    test("adding and removing need a fresh proof, which a passkey of the person is", async (owner, advance) => {
      const session = await newSession(owner)
      const passkey = await newPasskey(session)
      const second = await newPasskey(session)
      advance("15 minutes")
      const response = new SoftPasskey(owner.baseUrl).create({
        rp: { id: "127.0.0.1" },
        user: { id: "" },
        challenge: ""
      } as PasskeyCreationOptions)
      const calls: ReadonlyArray<readonly [string, string, unknown?]> = [
        ["POST", "/auth/v1/passkeys/options"],
        ["POST", "/auth/v1/passkeys/verify", { response }],
        ["DELETE", `/auth/v1/passkeys/${second.passkeyId}`],
        ["DELETE", "/auth/v1/passkeys/none"]
      ]
      for (const [method, path, json] of calls) await session.refuse("403 sudo_required", method, path, json)
      await session.refuse("400 response", "POST", "/auth/v1/passkeys/verify", {})
      await session.patch(`/auth/v1/passkeys/${second.passkeyId}`, { name: "Needs no proof" })

      const request = await sudoRequest(session)
      assert.sameMembers(
        request.allowCredentials.map(({ id }) => id),
        [passkey.id, second.id]
      )
      // The service has said whose it is: the device need not.
      const answer = await sudo(session, passkey.prove(request, { userHandle: null }))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.isNotNull(answer.body.session.sudoUntil)
      const proved = owner.as(sessionIn(answer))
      await session.refuse("401", "GET", "/v1/me")
      await proved.delete(`/auth/v1/passkeys/${second.passkeyId}`)
      await newPasskey(proved)
      // A link proves it, too.
      const token = await newLink(owner, session.id)
      assert.strictEqual((await proved.send("POST", "/auth/v1/sudo", { json: { token } })).status, 200)
    })
  },
  proxied
)

describe("An address at which browsers use passkeys", () => {
  it("has a host, by https or on this computer", () => {
    const works = ["https://delivery.example", "http://localhost:4000", "http://delivery.localhost"]
    const fails = ["https://192.0.2.7", "http://127.0.0.1:4000", "https://[2001:db8::1]", "http://delivery.example"]
    assert.deepStrictEqual([...works, ...fails].filter(offersPasskeys), works)
  })
})
