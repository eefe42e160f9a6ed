import type { AuditEntry, AuditPage } from "@delivery/domain/audit/Audit"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import type { Me } from "@delivery/domain/identity/Me"
import type { WorkspaceMembership } from "@delivery/domain/identity/Workspace"
import { assert, describe, it } from "vitest"
import { wantsLines } from "../../src/http/Accept.ts"
import {
  accountKey,
  assertId,
  assertTimestamp,
  type Http,
  join,
  newDeployment,
  newLink,
  newWorkspace,
  onEachServer,
  registerAgent,
  sessionIn,
  signIn,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"

/** The audit over HTTP (docs/contract.md, Audit). */

const auditOf = async (workspace: Http, query = ""): Promise<ReadonlyArray<AuditEntry>> =>
  (await workspace.get<AuditPage>(`audit${query}`)).entries

const exportOf = async (workspace: Http, query = "", headers = {}) => {
  const answer = await workspace.send("GET", `audit${query}`, {
    headers: { accept: "application/x-ndjson", ...headers }
  })
  const { status, text } = answer
  assert.strictEqual(status, 200, text)
  const entries = text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditEntry)
  return { entries, headers: answer.headers, text }
}

/** What happened, oldest first: action, subject and outcome. */
const told = (entries: ReadonlyArray<AuditEntry>) =>
  entries
    .toReversed()
    .map(({ action, outcome, subject }) => `${action} ${subject.label}${outcome === "refused" ? " refused" : ""}`)

const personOf = async (by: Http) => {
  const { email, id, name } = await by.get<Extract<Me, { kind: "user" }>>("/v1/me")
  return { kind: "user", id, name, email }
}

const idOf = async (workspace: Http) => (await workspace.get<WorkspaceMembership>("")).id

onEachServer("The audit", (test) => {
  test("says who read which versions of a secret, with what and from where", async (owner) => {
    const workspace = await newDeployment(owner)
    await workspace.post("environments", { slug: "ci", name: "CI", class: "non-production" })
    const values = { staging: "hush-1", ci: "hush-2" }
    await workspace.post("products/shop/secrets", { name: "TOKEN", values })
    await workspace.patch("products/shop/secrets/TOKEN", { values: { staging: "hush-3" } })
    const member = await join(workspace, "member")
    const read = await member.send<{ id: string }>("GET", "products/shop/secrets/TOKEN", {
      headers: { "x-request-id": "request-of-mine" }
    })
    assert.strictEqual(read.status, 200)
    const [entry] = await auditOf(workspace)
    const { at, credential, id, ...rest } = entry!
    assertId(id)
    assertTimestamp(at)
    assert.deepStrictEqual(rest, {
      actor: await personOf(member),
      address: "127.0.0.1",
      action: "secret_read",
      subject: { type: "secret", id: read.body.id, label: "TOKEN of Shop" },
      environments: ["ci", "staging"],
      versions: [1, 2],
      outcome: "allowed",
      requestId: "request-of-mine"
    } as never)
    assert.deepInclude(credential, { kind: "apiKey", lastFour: member.key!.slice(-4) })
    // Viewers read no value.
    const viewer = await join(workspace, "viewer")
    await viewer.get("products/shop/secrets/TOKEN")
    const ofSecret = await auditOf(workspace, `?subject=${read.body.id}`)
    assert.deepStrictEqual(
      ofSecret.map(({ action, environments, versions }) => [action, environments, versions]),
      [
        ["secret_read", ["ci", "staging"], [1, 2]],
        ["secret_read", ["ci", "staging"], [1, 2]],
        ["secret_changed", ["staging"], [2]],
        ["secret_read", ["ci", "staging"], [1, 1]],
        ["secret_created", ["ci", "staging"], [1, 1]]
      ]
    )
    const whole = (await exportOf(workspace)).text
    assert.notInclude(whole, "hush")
    for (const { key } of [workspace, member, viewer]) assert.notInclude(whole, key!)
  })

  test("keeps names as they were, and tells the changes of members", async (owner) => {
    const workspace = await newWorkspace(owner)
    const before = await personOf(workspace)
    const member = await join(workspace, "viewer")
    await workspace.patch(`members/${member.id}`, { role: "admin" })
    const [entry] = await auditOf(workspace, `?action=member_updated`)
    assert.deepStrictEqual(entry!.changes, [{ field: "role", from: "viewer", to: "admin" }])
    assert.deepStrictEqual(entry!.actor, before as never)
    assert.deepStrictEqual([entry!.subject.type, entry!.subject.id], ["member", member.id])
  })

  test("has pages of 100, newest first, and filters that combine", async (owner) => {
    const workspace = await newWorkspace(owner)
    const viewer = await join(workspace, "viewer")
    for (let index = 0; index < 103; index++) {
      await viewer.refuse("403 role_too_low", "PATCH", "members/none", { role: "admin" })
    }
    const refused = `?actor=${viewer.id}&action=members.update&subject=none`
    const first = await workspace.get<AuditPage>(`audit${refused}`)
    assert.lengthOf(first.entries, 100)
    const second = await workspace.get<AuditPage>(`audit${refused}&cursor=${first.nextCursor}`)
    assert.deepStrictEqual([second.entries.length, second.nextCursor], [3, null])
    const all = [...first.entries, ...second.entries]
    assert.deepStrictEqual(
      all.map(({ id }) => id),
      all
        .map(({ id }) => id)
        .toSorted()
        .toReversed()
    )
    assert.strictEqual(new Set(all.map(({ requestId }) => requestId)).size, 103)
    const [oldest, newest] = [all.at(-1)!.at, all[0]!.at]
    const between = async (from: string, to: string) =>
      (await exportOf(workspace, `${refused}&from=${from}&to=${to}`)).entries.length
    assert.strictEqual(await between(oldest, newest), 103)
    const moved = (at: string, millis: number) => new Date(Date.parse(at) + millis).toISOString()
    assert.strictEqual(await between(moved(newest, 1), moved(newest, 2)), 0)
    assert.strictEqual(await between(moved(oldest, -2), moved(oldest, -1)), 0)
    const passkeys = "?action=passkey_added"
    for (const query of [`?actor=${await idOf(workspace)}`, "?actor=nobody", passkeys, "?subject=nothing"]) {
      assert.deepStrictEqual(await workspace.get(`audit${query}`), { entries: [], nextCursor: null }, query)
    }
    for (const [query, field] of [
      ["cursor=1", "cursor"],
      ["from=yesterday", "from"],
      ["to=2026-02-30T00:00:00Z", "to"],
      ["actor=", "actor"],
      ["outcome=failed", "outcome"],
      ["action=key_made", "action"],
      ["action=members.list", "action"]
    ]) {
      await workspace.refuse(`400 ${field}`, "GET", `audit?${query}`)
    }
    const unknown = await workspace.send("GET", "audit?action=key_made")
    assert.include(unknown.text, "key_created")
    assert.include(unknown.text, "members.update")
    const refusals = await auditOf(workspace, "?outcome=refused")
    assert.deepStrictEqual([...new Set(refusals.map(({ action }) => action))], ["members.update"])
    const allowed = await auditOf(workspace, `?outcome=allowed&actor=${viewer.id}`)
    assert.deepStrictEqual(told(allowed).slice(0, 1), [`invite_accepted ${(await personOf(viewer)).email}`])
    assert.isFalse(allowed.some(({ outcome }) => outcome === "refused"))
  })

  test("exports all that match as lines, and says so", async (owner) => {
    const workspace = await newWorkspace(owner)
    const viewer = await join(workspace, "viewer")
    for (let index = 0; index < 5; index++) await viewer.refuse("403 role_too_low", "GET", "invites")
    const { entries, headers } = await exportOf(workspace)
    assert.strictEqual(headers["content-type"], "application/x-ndjson")
    assert.include(headers["vary"], "Accept")
    assert.deepStrictEqual(entries, await auditOf(workspace))
    assert.deepInclude(entries[0], { action: "audit_exported", requestId: headers["x-request-id"] } as never)
    const refused = await exportOf(workspace, `?action=invites.list`)
    assert.lengthOf(refused.entries, 5)
    const older = await exportOf(workspace, `?action=invites.list&cursor=${refused.entries[1]!.id}`)
    assert.deepStrictEqual(older.entries, refused.entries.slice(2))
    assert.deepStrictEqual((await exportOf(workspace, "?actor=nobody")).text, "")
    assert.lengthOf(await auditOf(workspace, "?action=audit_exported"), 4)
    const asked = await workspace.send("GET", "audit", { headers: { accept: "text/html, */*" } })
    assert.strictEqual(asked.headers["content-type"], "application/json")
    const packed = await exportOf(workspace, "", { "accept-encoding": "identity" })
    assert.isAbove(packed.entries.length, entries.length)
    await viewer.refuse("403 role_too_low", "GET", "audit")
    assert.lengthOf(await auditOf(workspace, "?action=audit.list"), 1)
  })

  test("has the life of keys, each that ended with another one by name", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const key = await person.post<NewApiKey>("/v1/api-keys", { name: "laptop" }, 200)
    const byKey = workspace.as(key.secret)
    const made = await byKey.post<NewApiKey>("/v1/api-keys", { name: "made" }, 200)
    await accountKey(byKey, "member", "ci")
    const email = `${unique("invited")}@example.com`
    await byKey.post<NewInvite>("invites", { email, role: "viewer" })
    await person.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
    const entries = await auditOf(workspace, `?actor=${person.id}`)
    const all = told(entries)
    assert.deepStrictEqual(all.slice(0, -4), [
      ...all.slice(0, -8),
      "key_created laptop",
      "key_created made",
      "key_created ci",
      `invite_created ${email}`
    ])
    assert.sameMembers(all.slice(-4), [
      "key_revoked laptop",
      "key_revoked made",
      "key_revoked ci",
      `invite_revoked ${email}`
    ])
    // The first key of a person is an entry, too.
    assert.include(all.slice(0, -8), "key_created first key")
    const [ofMade] = await auditOf(workspace, `?subject=${made.id}&action=key_created`)
    assert.deepEqual(ofMade!.credential, { kind: "apiKey", id: key.id, lastFour: key.lastFour })
  })

  test("tells what a new key may do, and until when", async (owner) => {
    const workspace = await newWorkspace(owner)
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    await workspace.post("/v1/api-keys", { name: "all" }, 200)
    await workspace.post("/v1/api-keys", { name: "some", scopes: ["vault", "read"], expiresAt }, 200)
    await workspace.post("account-api-keys", { name: "ci", role: "member", scopes: ["publish"] })
    const entries = (await auditOf(workspace, "?action=key_created")).slice(0, 3).toReversed()
    assert.deepStrictEqual(
      entries.map(({ changes = [], subject }) => [subject.label, ...changes.map(({ field, to }) => `${field}: ${to}`)]),
      [
        ["all", "scopes: all"],
        ["some", "scopes: read, vault", `expiresAt: ${expiresAt}`],
        ["ci", "role: member", "scopes: publish"]
      ]
    )
  })

  test("has keys that were not made, in each workspace of the person or in that of the account key", async (owner) => {
    const [workspace, other] = [await newWorkspace(owner), await newWorkspace(owner)]
    const person = await join(workspace, "viewer")
    const limited = await person.post<NewApiKey>("/v1/api-keys", { name: "limited", scopes: ["read"] }, 200)
    await workspace.as(limited.secret).refuse("403 scope_missing", "POST", "/v1/api-keys", { name: "more" })
    const [entry] = await auditOf(workspace, "?outcome=refused")
    assert.deepInclude(entry, {
      action: "apiKeys.create",
      actor: await personOf(person),
      credential: { kind: "apiKey", id: limited.id, lastFour: limited.lastFour },
      subject: { type: "person", id: person.id, label: "Sam" }
    } as never)
    const account = await accountKey(workspace, "admin")
    await account.refuse("403 account_key", "POST", "/v1/api-keys", { name: "more" })
    const [ofAccount] = await auditOf(workspace, `?actor=${account.id}`)
    assert.deepInclude(ofAccount, { action: "apiKeys.create", outcome: "refused" })
    assert.strictEqual(ofAccount!.subject.type, "workspace")
    assert.deepStrictEqual(await auditOf(other, "?outcome=refused"), [])
  })

  test("says with which credential an invite was accepted", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "viewer")
    const { email } = await personOf(person)
    const invite = async () => {
      await workspace.post(`members/${person.id}/deactivate`, undefined, 200)
      const { token } = await workspace.post<NewInvite>("invites", { email, role: "viewer", deliver: "link" })
      return { token, name: "Sam" }
    }
    const session = await signIn(workspace, person.id)
    const acceptedBy = async () => {
      const entries = await auditOf(workspace, `?actor=${person.id}`)
      return entries.slice(0, 2).map(({ action, credential }) => [action, credential?.kind, credential?.lastFour])
    }
    await person.post("/v1/invites/accept", await invite())
    const key = ["apiKey", person.key!.slice(-4)]
    assert.deepStrictEqual(await acceptedBy(), [
      ["member_reactivated", ...key],
      ["invite_accepted", ...key]
    ])
    await session.post("/auth/v1/invites/accept", await invite())
    const cookie = ["session", session.key!.slice(-4)]
    assert.deepStrictEqual(await acceptedBy(), [
      ["member_reactivated", ...cookie],
      ["invite_accepted", ...cookie]
    ])
  })

  test("shows all of what somebody sent who was refused", async (owner) => {
    const workspace = await newWorkspace(owner)
    const viewer = await join(workspace, "viewer")
    const sent = encodeURIComponent("\u001b[2K\u202ex\n\u200by\tz")
    await viewer.refuse("403 role_too_low", "POST", `members/${sent}/deactivate`)
    const [{ subject }] = (await auditOf(workspace, "?outcome=refused")) as [AuditEntry]
    const shown = "\\u{001B}[2K\\u{202E}x\\u{000A}\\u{200B}y\tz"
    assert.deepStrictEqual(subject, { type: "member", id: shown, label: shown })
  })

  test("has what is refused to sessions and by owners, and tokens in no path", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const ownerId = (await personOf(workspace)).id
    await admin.refuse("403 owner_only", "POST", `members/${ownerId}/deactivate`)
    const viewer = await join(workspace, "viewer")
    for (const before of ["", "x_", "%2522"]) {
      await viewer.refuse("403 role_too_low", "POST", `invites/${before}itk_${"a".repeat(42)}/revoke`)
    }
    const session = await signIn(workspace, admin.id)
    const foreign = await session.send("POST", "invites", {
      json: { email: "a@example.com", role: "viewer" },
      headers: { "sec-fetch-site": "cross-site" }
    })
    assert.strictEqual(foreign.status, 403)
    const refused = (await auditOf(workspace)).filter(({ outcome }) => outcome === "refused")
    assert.deepStrictEqual(told(refused), [
      `members.deactivate ${ownerId} refused`,
      "invites.revoke itk_*** refused",
      "invites.revoke x_itk_*** refused",
      "invites.revoke *** refused",
      "invites.create Team refused"
    ])
    assert.deepStrictEqual(
      refused.toReversed().map(({ credential, subject }) => [credential!.kind, subject.type]),
      [
        ["apiKey", "member"],
        ["apiKey", "invite"],
        ["apiKey", "invite"],
        ["apiKey", "invite"],
        ["session", "workspace"]
      ]
    )
    assert.strictEqual(refused[0]!.requestId, foreign.headers["x-request-id"])
    // Elsewhere, and to strangers, it is nothing.
    const elsewhere = await newWorkspace(owner)
    await viewer.in(elsewhere.workspace).refuse("404 workspace", "GET", "invites")
    assert.notInclude(told(await auditOf(elsewhere)).join(), "refused")
  })

  test("has sign-ins in each workspace of their person", async (owner) => {
    const [workspace, other] = [await newWorkspace(owner), await newWorkspace(owner)]
    const member = await join(workspace, "member")
    const token = await newLink(workspace, member.id)
    const sent = await workspace.as(undefined).send("POST", "/auth/v1/links/consume", {
      json: { token },
      headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" }
    })
    const session = workspace.as(sessionIn(sent))
    await workspace.as(undefined).refuse("401 sign_in_failed", "POST", "/auth/v1/links/consume", { token })
    await session.refuse("401 sign_in_failed", "POST", "/auth/v1/sudo", { token })
    const again = await session.send("POST", "/auth/v1/sudo", { json: { token: await newLink(workspace, member.id) } })
    const proved = workspace.as(sessionIn(again))
    const second = await signIn(workspace, member.id)
    await proved.post("/auth/v1/sessions/revoke-others", undefined, 200)
    await second.refuse("401", "GET", "/auth/v1/session")
    await proved.delete("/auth/v1/session")
    const entries = (await auditOf(workspace, `?actor=${member.id}`)).slice(0, -3)
    const name = (await personOf(member)).name
    assert.deepStrictEqual(told(entries), [
      `sign_in_link_created ${name}`,
      "signed_in Firefox on Linux",
      `proof_failed ${name} refused`,
      `sign_in_link_created ${name}`,
      "session_proved Firefox on Linux",
      `sign_in_link_created ${name}`,
      "signed_in Unknown browser",
      "session_ended Unknown browser",
      "signed_out Firefox on Linux"
    ])
    const [signedOut, ended, signedIn] = entries
    const methods = entries
      .toReversed()
      .map(({ changes = [] }) => changes.map(({ field, to }) => `${field} ${to}`).join())
    assert.deepStrictEqual(methods, ["", "method link", "method link", "", "method link", "", "method link", "", ""])
    assert.deepInclude(signedIn!.credential, { kind: "session", id: signedIn!.subject.id } as never)
    assert.strictEqual(ended!.subject.id, signedIn!.subject.id)
    assert.strictEqual(ended!.credential!.id, signedOut!.subject.id)
    assert.notInclude(told(await auditOf(other)).join(), "signed_in")
  })

  test("has agents that were registered and revoked", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { agent } = await registerAgent(workspace)
    await workspace.post(`agents/${agent}/revoke`, undefined, 200)
    const entries = await auditOf(workspace, `?subject=${agent}`)
    assert.deepStrictEqual(
      entries.map(({ action }) => action),
      ["agent_revoked", "agent_registered"]
    )
  })

  test("is read page by page without a gap or a repeat while it grows", async (owner) => {
    const workspace = await newWorkspace(owner)
    const viewer = await join(workspace, "viewer")
    const grow = async (count: number) => {
      for (let index = 0; index < count; index++) await viewer.refuse("403 role_too_low", "GET", "invites")
    }
    await Promise.all(Array.from({ length: 8 }, () => grow(40)))
    const before = await exportOf(workspace, `?actor=${viewer.id}`)
    const growing = Promise.all(Array.from({ length: 8 }, () => grow(40)))
    const found: Array<string> = []
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: AuditPage = await workspace.get(`audit?actor=${viewer.id}${cursor && `&cursor=${cursor}`}`)
      found.push(...page.entries.map(({ id }) => id))
      cursor = page.nextCursor
    }
    await growing
    assert.strictEqual(new Set(found).size, found.length)
    assert.deepStrictEqual(found, found.toSorted().toReversed())
    const ids = new Set(found)
    assert.deepStrictEqual(
      before.entries.filter(({ id }) => !ids.has(id)),
      []
    )
    assert.lengthOf((await exportOf(workspace, `?actor=${viewer.id}&action=invites.list`)).entries, 640)
  })
})

withClockOnEachServer(
  "The audit in time",
  (test) => {
    test("has what needs a fresh proof, and forgets after AUDIT_DAYS", async (owner, advance) => {
      const workspace = await newWorkspace(owner)
      const admin = await join(workspace, "admin")
      const session = await signIn(workspace, admin.id)
      advance("16 minutes")
      await session.refuse("403 sudo_required", "POST", "account-api-keys", { name: "ci", role: "viewer" })
      const [entry] = await auditOf(workspace)
      assert.deepInclude(entry, { action: "accountApiKeys.create", outcome: "refused" })
      advance("29 days")
      assert.deepStrictEqual((await auditOf(workspace))[0], entry)
      advance("2 days")
      // The round of the erasure is not this request's, and one that was under way sleeps from then on.
      for (let left = 1; left > 0; advance("1 hour")) left = (await auditOf(workspace)).length
    })
  },
  { AUDIT_DAYS: "30" }
)

describe("the header Accept", () => {
  it("asks for lines where it names them, and not JSON as much", () => {
    const types = [
      "application/x-ndjson",
      "Application/X-NDJSON; q=0.5, */*",
      "text/html, application/x-ndjson;q=0.9, application/json;q=0.8"
    ]
    for (const accept of types) assert.isTrue(wantsLines(accept), accept)
    const others = [
      undefined,
      "",
      "*/*",
      "application/json",
      "application/x-ndjson;q=0",
      "application/json, application/x-ndjson",
      "application/x-ndjson;q=none",
      "text/x-ndjson"
    ]
    for (const accept of others) assert.isFalse(wantsLines(accept), accept)
  })
})
