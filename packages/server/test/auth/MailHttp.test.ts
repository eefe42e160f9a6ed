import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { SignedIn, SignInMethods } from "@delivery/domain/auth/Session"
import { sessionCookie } from "@delivery/domain/identity/Authorization"
import type { AcceptedInvite, Invite, NewInvite } from "@delivery/domain/identity/Invite"
import type { Member } from "@delivery/domain/identity/Member"
import type { Role } from "@delivery/domain/identity/Role"
import { afterAll, assert } from "vitest"
import {
  type Answer,
  cookieOf,
  eventually,
  type Http,
  newLink,
  newWorkspace,
  onEachServer,
  refusal,
  sessionIn,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"
import { codeIn, startMailServer, tokenIn } from "../support/MailServer.ts"

/** Mail over HTTP, through a real mail server (docs/contract.md, Sessions and Invites). */

const mail = await startMailServer()
afterAll(() => mail.close())

const askedCookie = "__Host-delivery_asked"

/** Addresses of clients are what they say, so that each test has its own. */
const environment = { ...mail.environment, TRUSTED_PROXIES: "127.0.0.1/32,::1/128" }

let network = 0
const newNetwork = () => ({ "x-forwarded-for": `10.1.${network >> 8}.${network++ & 255}` })

type Headers = Readonly<Record<string, string>>

const post = <A = SignedIn>(by: Http, path: string, json: unknown, headers: Headers = newNetwork()) =>
  by.send<A>("POST", `/auth/v1/${path}`, { json, headers })

const newEmail = () => `${unique("mailed")}@example.com`

/** A new person who has proven their address: they took an invite from their mailbox. */
const joinByMail = async (workspace: Http, role: Role, email = newEmail(), name = "Sam") => {
  const { id, token, url } = await workspace.post<NewInvite>("invites", { email, role })
  assert.deepStrictEqual([token, url], [undefined, undefined])
  const letter = await mail.next(email, "invite")
  const invited = { token: tokenIn(letter), name }
  const { apiKey, person } = await workspace.as(undefined).post<AcceptedInvite>("/v1/invites/accept", invited)
  return { ...workspace.as(apiKey!.secret), id: person.id, email, invite: id, letter }
}

/** A new person whose address nobody has proven. */
const joinByLink = async (workspace: Http, role: Role, email = newEmail()) => {
  const { token } = await workspace.post<NewInvite>("invites", { email, role, deliver: "link" })
  const accepted = await workspace.as(undefined).post<AcceptedInvite>("/v1/invites/accept", { token, name: "Sam" })
  return { ...workspace.as(accepted.apiKey!.secret), id: accepted.person.id, email }
}

const secretIn = ({ headers }: Answer): string =>
  new RegExp(`^${askedCookie}=([^;]+);`).exec(headers["set-cookie"]![0]!)![1]!

/** The cookies of a browser that asked for a mail, and perhaps has a session. */
const browser = (secret: string, session?: Http): Headers => ({
  ...newNetwork(),
  cookie: [`${askedCookie}=${secret}`, ...(session === undefined ? [] : [`${sessionCookie}=${session.key}`])].join("; ")
})

/** Asks for a mail, and waits for it. */
const ask = async (owner: Http, email: string, headers = newNetwork()) => {
  const answer = await post<unknown>(owner.as(undefined), "links", { email }, headers)
  assert.strictEqual(answer.status, 202, answer.text)
  return { secret: secretIn(answer), letter: await mail.next(email.toLowerCase(), "sign-in") }
}

const signInByLink = async (owner: Http, id: string, headers: Headers = newNetwork()) => {
  const answer = await post(owner.as(undefined), "links/consume", { token: await newLink(owner, id) }, headers)
  assert.strictEqual(answer.status, 200, answer.text)
  return owner.as(sessionIn(answer))
}

const current = (by: Http) => by.get<SignedIn>("/auth/v1/session")

onEachServer(
  "Signing in by mail",
  (test) => {
    test("a mailed link signs in the browser that asked for it, once, and uses up the code", async (owner) => {
      const workspace = await newWorkspace(owner)
      const { email, id } = await joinByMail(workspace, "member")
      const visitor = owner.as(undefined)
      const { letter, secret } = await ask(owner, email.toUpperCase())
      const token = tokenIn(letter)
      const code = codeIn(letter)
      for (const headers of [newNetwork(), browser("x"), browser("A".repeat(43))]) {
        assert.strictEqual(refusal(await post(visitor, "links/consume", { token }, headers)), "403 other_browser")
        assert.strictEqual(refusal(await post(visitor, "links/consume", { code }, headers)), "401 sign_in_failed")
      }
      const answer = await post(visitor, "links/consume", { token }, browser(secret))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepInclude(answer.body.person, { id, email })
      assert.isNotNull(answer.body.person.emailVerifiedAt)
      assert.strictEqual(answer.body.session.method, "mail")
      assert.strictEqual((await current(owner.as(sessionIn(answer)))).session.id, answer.body.session.id)
      const failed = "401 sign_in_failed"
      assert.strictEqual(refusal(await post(visitor, "links/consume", { token }, browser(secret))), failed)
      assert.strictEqual(refusal(await post(visitor, "links/consume", { code }, browser(secret))), failed)
    })

    test("a code signs in where it was asked for, however it is typed, and uses up the link", async (owner) => {
      const { email, id } = await joinByMail(owner, "viewer")
      const { letter, secret } = await ask(owner, email)
      const code = codeIn(letter)
      const typed = ` ${code.slice(0, 3).toLowerCase()}-${code.slice(3, 5)} \u2013 ${code.slice(5).toLowerCase()}\t`
      const visitor = owner.as(undefined)
      const answer = await post(visitor, "links/consume", { code: typed }, browser(secret))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.body.person.id, id)
      assert.strictEqual(
        refusal(await post(visitor, "links/consume", { token: tokenIn(letter) }, browser(secret))),
        "401 sign_in_failed"
      )
    })

    test("both mails that one browser asked for work, and another's code does not", async (owner) => {
      const { email } = await joinByMail(owner, "viewer")
      const visitor = owner.as(undefined)
      const first = await ask(owner, email)
      const again = await post<unknown>(visitor, "links", { email }, browser(first.secret))
      assert.strictEqual(secretIn(again), first.secret)
      const second = await mail.next(email, "sign-in")
      const elsewhere = await ask(owner, email)
      assert.notStrictEqual(elsewhere.secret, first.secret)
      const code = codeIn(elsewhere.letter)
      assert.strictEqual(
        refusal(await post(visitor, "links/consume", { code }, browser(first.secret))),
        "401 sign_in_failed"
      )
      for (const letter of [second, first.letter]) {
        const answer = await post(visitor, "links/consume", { code: codeIn(letter) }, browser(first.secret))
        assert.strictEqual(answer.status, 200, answer.text)
      }
    })

    test("an address that nobody has, or nobody has proven, is answered alike and gets no mail", async (owner) => {
      const known = await joinByMail(owner, "viewer")
      const unproven = await joinByLink(owner, "viewer")
      const unknown = newEmail()
      const visitor = owner.as(undefined)
      const answers = []
      for (const email of [unproven.email, unknown, known.email]) {
        const answer = await post<unknown>(visitor, "links", { email })
        assert.deepStrictEqual([answer.status, answer.text], [202, "{}"])
        assert.strictEqual(answer.headers["cache-control"], "no-store")
        const [cookie, ...others] = answer.headers["set-cookie"]!
        assert.deepStrictEqual(others, [])
        answers.push(cookie!.replace(secretIn(answer), "secret"))
        // A code that is not right is refused alike, too.
        const failed = await post<unknown>(visitor, "links/consume", { code: "22222222" }, browser(secretIn(answer)))
        assert.strictEqual(refusal(failed), "401 sign_in_failed")
      }
      const attributes = "Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax"
      assert.deepStrictEqual(
        answers,
        answers.map(() => `${askedCookie}=secret; ${attributes}`)
      )
      await mail.next(known.email, "sign-in")
      assert.deepStrictEqual([mail.to(unknown), mail.to(unproven.email)], [[], []])
    })

    test("a code can be tried 10 times, at once or one after the other; its link goes on", async (owner) => {
      const { email } = await joinByMail(owner, "viewer")
      const { letter, secret } = await ask(owner, email)
      const visitor = owner.as(undefined)
      const guess = (code: string) => post(visitor, "links/consume", { code }, browser(secret))
      const failed = await Promise.all(Array.from({ length: 10 }, () => guess("22222222")))
      assert.deepStrictEqual([...new Set(failed.map(refusal))], ["401 sign_in_failed"])
      assert.strictEqual(refusal(await guess(codeIn(letter))), "401 sign_in_failed")
      const token = tokenIn(letter)
      assert.strictEqual((await post(visitor, "links/consume", { token }, browser(secret))).status, 200)
      // Nine leave one try.
      const other = await ask(owner, email)
      for (let tried = 0; tried < 9; tried++) {
        await post(visitor, "links/consume", { code: "22222222" }, browser(other.secret))
      }
      const code = codeIn(other.letter)
      assert.strictEqual((await post(visitor, "links/consume", { code }, browser(other.secret))).status, 200)
    })

    test("what does not work is in the audit of whoever asked, as a sign-in by mail", async (owner) => {
      const workspace = await newWorkspace(owner)
      const { email, id } = await joinByMail(workspace, "member")
      const { letter, secret } = await ask(owner, email)
      const visitor = owner.as(undefined)
      const token = tokenIn(letter)
      /** The answer, and how many entries there are once as many are there as are expected: they come after the answer. */
      const failed = async (proof: object, headers: Headers | undefined, expected: number) => {
        const answer = await post(visitor, "links/consume", proof, headers)
        const entries = await eventually(
          async () => (await workspace.get<AuditPage>(`audit?action=sign_in_failed&subject=${id}`)).entries,
          ({ length }) => length >= expected
        )
        return [refusal(answer), entries.length]
      }
      assert.deepStrictEqual(await failed({ code: "22222222" }, browser(secret), 1), ["401 sign_in_failed", 1])
      assert.deepStrictEqual(await failed({ token: "x" }, browser(secret), 2), ["401 sign_in_failed", 2])
      assert.deepStrictEqual(await failed({ token }, undefined, 3), ["403 other_browser", 3])
      const mailed = await workspace.get<AuditPage>(`audit?action=sign_in_link_mailed&subject=${id}`)
      assert.lengthOf(mailed.entries, 1)
      assert.match(mailed.entries[0]!.address!, /^10\.1\./)
      assert.isString(mailed.entries[0]!.requestId)
      // Anybody may have asked.
      assert.isNull(mailed.entries[0]!.credential)
      // Nobody is known to have asked.
      assert.deepStrictEqual(await failed({ code: "22222222" }, browser("A".repeat(43)), 3), ["401 sign_in_failed", 3])
      assert.deepStrictEqual(await failed({ token: "x" }, undefined, 3), ["401 sign_in_failed", 3])
      assert.deepStrictEqual(await failed({ token }, browser(secret), 3), ["200", 3])
      const { entries } = await workspace.get<AuditPage>(`audit?subject=${id}`)
      const [entry] = entries
      const name = "Sam"
      assert.deepInclude(entry, {
        actor: { kind: "user", id, name, email },
        credential: null,
        subject: { type: "person", id, label: name },
        outcome: "refused",
        changes: [{ field: "method", from: null, to: "mail" }]
      } as never)
    })

    test("a link that is reported signs nobody in, nor does its code, and the audit says so", async (owner) => {
      const workspace = await newWorkspace(owner)
      const { email, id } = await joinByMail(workspace, "member")
      const { letter, secret } = await ask(owner, email)
      const visitor = owner.as(undefined)
      const [token, code] = [tokenIn(letter), codeIn(letter)]
      const report = () => visitor.send("POST", "/v1/tokens/report", { json: { token }, headers: newNetwork() })
      for (let times = 0; times < 2; times++) assert.strictEqual((await report()).status, 204)
      for (const proof of [{ token }, { code }]) {
        const answer = await post(visitor, "links/consume", proof, browser(secret))
        assert.strictEqual(refusal(answer), "401 sign_in_failed")
      }
      const { entries } = await workspace.get<AuditPage>(`audit?action=sign_in_link_reported&subject=${id}`)
      assert.deepStrictEqual(
        entries.map(({ credential }) => credential),
        [{ kind: "report", id: "", lastFour: token.slice(-4) }]
      )
    })

    test("a proof is a token or a code, and what asks for a mail an address", async (owner) => {
      const visitor = owner.as(undefined)
      for (const json of [{}, { token: "x", code: "x" }]) {
        assert.strictEqual(refusal(await post(visitor, "links/consume", json)), "400")
      }
      assert.strictEqual(refusal(await post(visitor, "links/consume", { code: "" })), "400 code")
      assert.strictEqual(refusal(await post(visitor, "links/consume", { code: "x" })), "401 sign_in_failed")
      for (const email of ["", "x", "a b@example.com", "a@example.com\r\nBcc: b@example.com"]) {
        assert.strictEqual(refusal(await post(visitor, "links", { email })), "400 email")
      }
      const { mail: isOffered } = await visitor.get<SignInMethods>("/auth/v1/methods")
      assert.isTrue(isOffered)
    })

    test("a session is proven again by a code or a mailed link of its person, and of nobody else", async (owner) => {
      const { email, id } = await joinByMail(owner, "viewer")
      const stranger = await joinByMail(owner, "viewer")
      let session = await signInByLink(owner, id)
      const sudo = (proof: { readonly token?: string; readonly code?: string }, secret: string) =>
        post(owner.as(undefined), "sudo", proof, { ...cookieOf(session.key!), ...browser(secret, session) })
      const others = await ask(owner, stranger.email)
      for (const proof of [{ token: tokenIn(others.letter) }, { code: codeIn(others.letter) }]) {
        assert.strictEqual(refusal(await sudo(proof, others.secret)), "401 sign_in_failed")
      }
      for (const kind of ["token", "code"] as const) {
        const { letter, secret } = await ask(owner, email)
        const proof = kind === "token" ? { token: tokenIn(letter) } : { code: codeIn(letter) }
        const elsewhere = kind === "token" ? "403 other_browser" : "401 sign_in_failed"
        assert.strictEqual(refusal(await sudo(proof, "A".repeat(43))), elsewhere)
        const answer = await sudo(proof, secret)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual(answer.body.session.method, "link")
        session = owner.as(sessionIn(answer))
      }
      // The stranger's was not used up.
      const token = tokenIn(others.letter)
      assert.strictEqual(
        (await post(owner.as(undefined), "links/consume", { token }, browser(others.secret))).status,
        200
      )
    })

    test("a person is told of a sign-in with a device that was not seen before", async (owner) => {
      const { email, id } = await joinByMail(owner, "viewer")
      const linux = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/142.0" }
      const home = { ...newNetwork(), ...linux }
      await signInByLink(owner, id, home)
      const told = await mail.next(email, "device")
      assert.include(told.text, `Firefox on Linux, at the network address ${home["x-forwarded-for"]}`)
      // The page where that session is ended, without a token.
      assert.include(told.text, `\n    ${owner.baseUrl}/sign-in\n`)
      await signInByLink(owner, id, home)
      const away = { ...newNetwork(), ...linux }
      await signInByLink(owner, id, away)
      assert.include((await mail.next(email, "device")).text, away["x-forwarded-for"]!)
      await signInByLink(owner, id, { ...home, "user-agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X) Safari/605" })
      assert.include((await mail.next(email, "device")).text, "Safari on macOS")
      assert.lengthOf(
        mail.to(email).filter(({ subject }) => subject!.startsWith("A new device")),
        3
      )
      const unproven = await joinByLink(owner, "viewer")
      await signInByLink(owner, unproven.id, home)
      await ask(owner, email)
      assert.deepStrictEqual(mail.to(unproven.email), [])
    })
  },
  environment
)

onEachServer(
  "Proving an address",
  (test) => {
    test("a link works in any session of the person, a code where it was asked for", async (owner) => {
      for (const kind of ["token", "code"] as const) {
        const { email, id } = await joinByLink(owner, "viewer")
        const session = await signInByLink(owner, id)
        const stranger = await signInByLink(owner, (await joinByLink(owner, "viewer")).id)
        const elsewhere = await signInByLink(owner, id)
        const asked = await post<unknown>(session, "email", undefined)
        assert.deepStrictEqual([asked.status, asked.text, asked.headers["set-cookie"]], [202, "{}", undefined])
        const letter = await mail.next(email, "proof")
        const proof = kind === "token" ? { token: tokenIn(letter) } : { code: codeIn(letter) }
        const failed = "401 sign_in_failed"
        assert.strictEqual(refusal(await post(stranger, "email/consume", proof)), failed)
        // It proves an address, and signs nobody in.
        assert.strictEqual(refusal(await post(session, "links/consume", proof)), failed)
        assert.strictEqual(refusal(await post(session, "sudo", proof)), failed)
        if (kind === "code") assert.strictEqual(refusal(await post(elsewhere, "email/consume", proof)), failed)
        assert.isNull((await current(session)).person.emailVerifiedAt)
        const answer = await post(kind === "code" ? session : elsewhere, "email/consume", proof)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.isNotNull(answer.body.person.emailVerifiedAt)
        assert.strictEqual(refusal(await post(session, "email/consume", proof)), failed)
        const { members } = await owner.get<{ members: ReadonlyArray<Member> }>("members")
        const { emailVerifiedAt } = members.find((member) => member.id === id)!
        assert.strictEqual(emailVerifiedAt, answer.body.person.emailVerifiedAt)
        const { entries } = await owner.get<AuditPage>(`audit?subject=${id}`)
        const [proven, mailed] = entries.filter(({ action }) => action.startsWith("address_"))
        assert.deepStrictEqual([proven!.action, mailed!.action], ["address_proven", "address_proof_mailed"])
        assert.strictEqual(mailed!.credential!.kind, "session")
        assert.strictEqual((await ask(owner, email)).letter.recipients[0], email)
      }
    })

    test("an address that somebody else has proven is in use, and the proof stays good", async (owner) => {
      const email = newEmail()
      const { id } = await joinByLink(owner, "viewer", email)
      const elsewhere = await newWorkspace(owner)
      const session = await signInByLink(owner, id)
      await post(session, "email", undefined)
      const token = tokenIn(await mail.next(email, "proof"))
      await joinByMail(elsewhere, "viewer", email)
      for (let attempt = 0; attempt < 2; attempt++) {
        assert.strictEqual(refusal(await post(session, "email/consume", { token })), "409 address_in_use")
      }
      assert.isNull((await current(session)).person.emailVerifiedAt)
    })

    test("a link that is reported proves no address, nor does its code", async (owner) => {
      const { email, id } = await joinByLink(owner, "viewer")
      const session = await signInByLink(owner, id)
      await post(session, "email", undefined)
      const letter = await mail.next(email, "proof")
      const token = tokenIn(letter)
      const reported = await owner
        .as(undefined)
        .send("POST", "/v1/tokens/report", { json: { token }, headers: newNetwork() })
      assert.strictEqual(reported.status, 204)
      for (const proof of [{ token }, { code: codeIn(letter) }]) {
        assert.strictEqual(refusal(await post(session, "email/consume", proof)), "401 sign_in_failed")
      }
      assert.isNull((await current(session)).person.emailVerifiedAt)
    })

    test("a link to sign in proves no address", async (owner) => {
      const { email, id } = await joinByMail(owner, "viewer")
      const session = await signInByLink(owner, id)
      const { letter, secret } = await ask(owner, email)
      const proof = { token: tokenIn(letter) }
      const headers = { ...cookieOf(session.key!), ...browser(secret, session) }
      assert.strictEqual(refusal(await post(session, "email/consume", proof, headers)), "401 sign_in_failed")
    })
  },
  environment
)

onEachServer(
  "Invites by mail",
  (test) => {
    test("a mailed token is answered to nobody, and accepting it proves the address", async (owner) => {
      const workspace = await newWorkspace(owner)
      const { email, letter, ...person } = await joinByMail(workspace, "member")
      const { members } = await workspace.get<{ members: ReadonlyArray<Member> }>("members")
      assert.isNotNull(members.find(({ id }) => id === person.id)!.emailVerifiedAt)
      const { invites } = await workspace.get<{ invites: ReadonlyArray<Invite> }>("invites")
      assert.deepStrictEqual(
        invites.map(({ email, status }) => [email, status]),
        [[email, "accepted"]]
      )
      assert.notInclude(JSON.stringify(invites), tokenIn(letter))
      assert.include(letter.text, `${owner.baseUrl}/invite#${tokenIn(letter)}`)
      assert.include(letter.text, "with the role member")
    })

    test("one person has 100 invites mailed in an hour, to whomever and from whichever workspace", async (main) => {
      const admin = await joinByMail(main, "admin")
      const workspaces = [await newWorkspace(admin), await newWorkspace(admin)]
      for (let n = 0; n < 100; n++) await workspaces[n % 2]!.post("invites", { email: newEmail(), role: "viewer" })
      for (const workspace of workspaces) {
        await workspace.refuse("429", "POST", "invites", { email: newEmail(), role: "viewer" })
      }
      await workspaces[0]!.post("invites", { email: newEmail(), role: "viewer", deliver: "link" })
    })

    test("deliver: link answers the token, mails nothing, and proves nothing", async (owner) => {
      const workspace = await newWorkspace(owner)
      const { email, id } = await joinByLink(workspace, "viewer")
      const { members } = await workspace.get<{ members: ReadonlyArray<Member> }>("members")
      assert.isNull(members.find((member) => member.id === id)!.emailVerifiedAt)
      await joinByMail(workspace, "viewer")
      assert.deepStrictEqual(mail.to(email), [])
    })

    test("names in a mail are no markup and hide nothing", async (owner) => {
      const { slug } = await owner.post<{ slug: string }>("/v1/workspaces", {
        slug: unique("team"),
        name: `<img src=x onerror=alert(1)> "A" & 'B' \u202e`
      })
      const inviter = await joinByMail(owner.in(slug), "admin", newEmail(), "</p><script>alert(2)</script>")
      const email = newEmail()
      await inviter.post("invites", { email, role: "viewer" })
      const { attachments, html, raw, subject, text, to } = await mail.next(email, "invite")
      const named = `"<img src=x onerror=alert(1)> "A" & 'B' \\u{202E}"`
      assert.strictEqual(subject, `An invitation to the workspace ${named}`)
      assert.include(text, `"</p><script>alert(2)</script>" invites you to the workspace ${named}`)
      assert.notMatch(html!, /<img|<script|\u202e/)
      assert.include(html, "&lt;/p&gt;&lt;script&gt;alert(2)&lt;/script&gt;")
      assert.deepStrictEqual([to, attachments], [[{ address: email, name: "" }], []])
      // One header of each kind, and no other.
      const names = raw.slice(0, raw.indexOf("\r\n\r\n")).match(/^[A-Za-z-]+(?=:)/gm)!
      assert.strictEqual(new Set(names).size, names.length)
      assert.notIncludeMembers(
        names.map((name) => name.toLowerCase()),
        ["bcc", "cc", "reply-to"]
      )
    })

    test("a session shows the pending invites to its proven address, and accepts one of them", async (owner) => {
      const person = await joinByMail(owner, "viewer")
      const session = await signInByLink(owner, person.id)
      const [first, second, third] = [await newWorkspace(owner), await newWorkspace(owner), await newWorkspace(owner)]
      const invite = (workspace: Http, email = person.email) =>
        workspace.post<NewInvite>("invites", { email, role: "member", deliver: "link" })
      const [one, two, three] = [await invite(first), await invite(second), await invite(third)]
      const others = await invite(first, newEmail())
      await third.post(`invites/${three.id}/revoke`, undefined, 200)
      const { id, name, slug } = await first.get<{ id: string; slug: string; name: string }>("")
      const { invites } = await current(session)
      assert.deepStrictEqual(
        invites.map(({ id }) => id),
        [two.id, one.id]
      )
      const { expiresAt, inviter } = one
      const shown = { id: one.id, workspace: { id, slug, name }, role: "member", inviter, expiresAt }
      assert.deepStrictEqual(invites[1] as unknown, shown)
      for (const none of [others.id, three.id, "none", one.id.toUpperCase()]) {
        assert.strictEqual(refusal(await post(session, `invites/${none}/accept`, undefined)), "404 invite")
      }
      const answer = await post(session, `invites/${one.id}/accept`, undefined)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(
        answer.body.invites.map(({ id }) => id),
        [two.id]
      )
      assert.include(JSON.stringify(answer.body.workspaces), `"slug":"${slug}"`)
      assert.strictEqual((await session.in(slug).get<{ role: string }>("")).role, "member")
      assert.strictEqual(refusal(await post(session, `invites/${one.id}/accept`, undefined)), "404 invite")
    })

    test("who has not proven their address sees no invite to it, and accepts none by its id", async (owner) => {
      const person = await joinByLink(owner, "viewer")
      const session = await signInByLink(owner, person.id)
      const workspace = await newWorkspace(owner)
      const invited = { email: person.email, role: "owner", deliver: "link" }
      const { id } = await workspace.post<NewInvite>("invites", invited)
      assert.deepStrictEqual((await current(session)).invites, [])
      assert.strictEqual(refusal(await post(session, `invites/${id}/accept`, undefined)), "404 invite")
      await post(session, "email", undefined)
      const proven = await post(session, "email/consume", { token: tokenIn(await mail.next(person.email, "proof")) })
      assert.deepStrictEqual(
        proven.body.invites.map((invite) => invite.id),
        [id]
      )
      assert.strictEqual((await post(session, `invites/${id}/accept`, undefined)).status, 200)
    })
  },
  environment
)

withClockOnEachServer(
  "The limits of mail",
  (test) => {
    const statuses = async (count: number, request: () => Promise<Answer>) => {
      const answers: Array<Answer> = []
      for (let index = 0; index < count; index++) answers.push(await request())
      return answers.map((answer) => `${refusal(answer)} ${answer.headers["retry-after"] ?? ""}`.trim())
    }
    const times = (count: number, answer: string) => Array.from({ length: count }, () => answer)

    test("a mailed link and code last 15 minutes", async (owner, advance) => {
      const { email } = await joinByMail(owner, "viewer")
      const [inTime, late] = [await ask(owner, email), await ask(owner, email)]
      const visitor = owner.as(undefined)
      const consume = ({ secret }: { readonly secret: string }, proof: object) =>
        post(visitor, "links/consume", proof, browser(secret))
      advance("899 seconds")
      assert.strictEqual((await consume(inTime, { code: codeIn(inTime.letter) })).status, 200)
      advance("1 second")
      for (const proof of [{ code: codeIn(late.letter) }, { token: tokenIn(late.letter) }]) {
        assert.strictEqual(refusal(await consume(late, proof)), "401 sign_in_failed")
      }
    })

    test("one address gets 5 mails in an hour from one network address and 20 in all, known or not", async (owner, advance) => {
      const { email } = await joinByMail(owner, "viewer")
      const unproven = await joinByLink(owner, "viewer")
      const session = await signInByLink(owner, unproven.id)
      advance("2 hours")
      const visitor = owner.as(undefined)
      for (const address of [email, newEmail()]) {
        const here = newNetwork()
        const fromHere = await statuses(7, () => post<unknown>(visitor, "links", { email: address }, here))
        assert.deepStrictEqual(fromHere, [...times(5, "202"), ...times(2, "429 3600")])
        const asked = await statuses(17, () => post<unknown>(visitor, "links", { email: address }))
        assert.deepStrictEqual(asked, [...times(15, "202"), ...times(2, "429 3600")])
      }
      for (let count = 0; count < 20; count++) await mail.next(email, "sign-in")
      const here = newNetwork()
      // What strangers ask for uses up nothing of what the person asks for in their own session.
      await statuses(20, () => post<unknown>(visitor, "links", { email: unproven.email }))
      assert.strictEqual(refusal(await post(visitor, "links", { email: unproven.email })), "429")
      const own = await statuses(6, () => post<unknown>(session, "email", undefined, here))
      assert.deepStrictEqual(own, [...times(5, "202"), "429 3600"])
      advance("59 minutes")
      assert.strictEqual(refusal(await post(visitor, "links", { email })), "429")
      advance("1 minute")
      assert.strictEqual(refusal(await post(visitor, "links", { email })), "202")
      await mail.next(email, "sign-in")
      assert.lengthOf(
        mail.to(email).filter(({ subject }) => subject!.startsWith("Sign in")),
        21
      )
    })

    const askFrom = (visitor: Http, from: Headers) => () => post<unknown>(visitor, "links", { email: newEmail() }, from)

    test("one network address asks for 20 mails in an hour that nobody uses, and everybody there signs in", async (owner) => {
      const { email, id } = await joinByMail(owner, "viewer")
      const visitor = owner.as(undefined)
      const here = newNetwork()
      const { letter, secret } = await ask(owner, email, here)
      const asked = await Promise.all(Array.from({ length: 50 }, askFrom(visitor, here)))
      const answers = asked.map((answer) => `${refusal(answer)} ${answer.headers["retry-after"] ?? ""}`.trim())
      assert.deepStrictEqual(answers.toSorted(), [...times(19, "202"), ...times(31, "429 3600")])
      for (let count = 0; count < 3; count++) await signInByLink(owner, id, here)
      const from = { ...browser(secret), ...here }
      assert.strictEqual((await post(visitor, "links/consume", { code: codeIn(letter) }, from)).status, 200)
      // The mail was used.
      assert.deepStrictEqual(await statuses(2, askFrom(visitor, here)), ["202", "429 3600"])
      assert.strictEqual(refusal(await askFrom(visitor, newNetwork())()), "202")
    })

    test("30 people of one network address sign in by mail, one after the other", async (owner) => {
      const here = newNetwork()
      const visitor = owner.as(undefined)
      for (let person = 0; person < 6; person++) {
        const { email } = await joinByMail(owner, "viewer")
        for (let mailed = 0; mailed < 5; mailed++) {
          const { letter, secret } = await ask(owner, email, here)
          const proof = mailed % 2 === 0 ? { token: tokenIn(letter) } : { code: codeIn(letter) }
          const answer = await post(visitor, "links/consume", proof, { ...browser(secret), ...here })
          assert.strictEqual(answer.status, 200, answer.text)
        }
      }
    })

    test("after 20 proofs of one network address that failed, codes are refused, links and mails are not", async (owner) => {
      const { email } = await joinByMail(owner, "viewer")
      const visitor = owner.as(undefined)
      const here = newNetwork()
      const { letter, secret } = await ask(owner, email, here)
      const wrong = await Promise.all(
        Array.from({ length: 50 }, () => post(visitor, "links/consume", { code: "22222222" }, here))
      )
      assert.deepStrictEqual(wrong.map(refusal).toSorted(), [...times(20, "401 sign_in_failed"), ...times(30, "429")])
      const from = { ...browser(secret), ...here }
      const consume = (proof: object) => () => post(visitor, "links/consume", proof, from)
      const refused = await statuses(1, consume({ code: codeIn(letter) }))
      assert.deepStrictEqual([...refused, ...(await statuses(1, consume({ token: "x" })))], times(2, "429 3600"))
      assert.deepStrictEqual(await statuses(1, askFrom(visitor, here)), ["202"])
      assert.deepStrictEqual(await statuses(1, consume({ token: tokenIn(letter) })), ["200"])
    })

    test("a session without a fresh proof invites members alone, and those by mail", async (owner, advance) => {
      const workspace = await newWorkspace(owner)
      const { id } = await joinByMail(workspace, "owner")
      const session = (await signInByLink(owner, id)).in(workspace.workspace)
      const ask = async (deliver: "mail" | "link", role: Role) => {
        const json = { email: newEmail(), role, deliver }
        return refusal(await session.send("POST", "invites", { json }))
      }
      const all = async () => {
        const answers: Array<string> = []
        for (const deliver of ["mail", "link"] as const) {
          for (const role of ["viewer", "member", "admin", "owner"] as const) answers.push(await ask(deliver, role))
        }
        return answers
      }
      assert.deepStrictEqual(await all(), times(8, "201"))
      advance("15 minutes")
      assert.deepStrictEqual(await all(), [...times(2, "201"), ...times(6, "403 sudo_required")])
    })

    test("a workspace mails 5 invites to one address in an hour, all mail 20, and signing in keeps its own", async (owner, advance) => {
      advance("2 hours")
      const { email } = await joinByMail(owner, "viewer")
      const stranger = await newWorkspace(owner)
      const again = async () => {
        const answer = await stranger.send<NewInvite>("POST", "invites", { json: { email, role: "viewer" } })
        if (answer.status === 201) await stranger.post(`invites/${answer.body.id}/revoke`, undefined, 200)
        return answer
      }
      assert.deepStrictEqual(await statuses(7, again), [...times(5, "201"), ...times(2, "429 3600")])
      const invite = async (deliver: "mail" | "link") => {
        const workspace = await newWorkspace(owner)
        return workspace.send("POST", "invites", { json: { email, role: "viewer", deliver } })
      }
      // The first took the person in.
      assert.deepStrictEqual(await statuses(15, () => invite("mail")), [...times(14, "201"), "429 3600"])
      assert.deepStrictEqual(await statuses(1, () => invite("link")), ["201"])
      await ask(owner, email)
      advance("1 hour")
      assert.deepStrictEqual(await statuses(1, () => invite("mail")), ["201"])
    })
  },
  environment
)

onEachServer("A server without mail", (test) => {
  test("says so, and mails nothing", async (owner) => {
    const { mail: isOffered } = await owner.as(undefined).get<SignInMethods>("/auth/v1/methods")
    assert.isFalse(isOffered)
    const session = await signInByLink(owner, "owner@example.com", {})
    assert.strictEqual(refusal(await post(owner.as(undefined), "links", { email: newEmail() }, {})), "409 no_mail")
    assert.strictEqual(refusal(await post(session, "email", undefined, {})), "409 no_mail")
    const { token } = await owner.post<NewInvite>("invites", { email: newEmail(), role: "viewer" })
    assert.match(token!, /^itk_/)
  })
})
