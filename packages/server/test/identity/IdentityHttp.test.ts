import type { AccountApiKey, NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { ApiKey, NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { AcceptedInvite, Invite, NewInvite } from "@delivery/domain/identity/Invite"
import type { Me } from "@delivery/domain/identity/Me"
import type { Member } from "@delivery/domain/identity/Member"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import { crc32 } from "node:zlib"
import { assert } from "vitest"
import {
  accept,
  accountKey,
  assertId,
  assertTimestamp,
  eventually,
  type Http,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  refusal,
  startRun,
  teamKey,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"

/** Persons, workspaces, members, invites and keys (docs/contract.md, Identity; Members; Invites; API keys). */

const members = async (http: Http) => (await http.get<{ members: ReadonlyArray<Member> }>("members")).members
const invites = async (http: Http) => (await http.get<{ invites: ReadonlyArray<Invite> }>("invites")).invites
const accountKeys = async (http: Http) =>
  (await http.get<{ accountApiKeys: ReadonlyArray<AccountApiKey> }>("account-api-keys")).accountApiKeys
const me = (http: Http) => http.get<Me>("/v1/me")
const newEmail = () => `${unique("person")}@example.com`

/** A token's form (docs/contract.md, Tokens), worked out anew. */
const assertToken = (prefix: string, token: string) => {
  assert.match(token, new RegExp(`^${prefix}[0-9A-Za-z]{42}$`))
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
  const sum = Array.from(token.slice(-6)).reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
  assert.strictEqual(sum, crc32(token.slice(0, -6)))
}

onEachServer("the identity room", (test) => {
  test("me is the person behind the key, with the workspaces where they are active, by name", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "member")
    const { email } = (await members(workspace)).find(({ id }) => id === sam.id)!
    const ten = await sam.post<Workspace>("/v1/workspaces", { slug: unique("w"), name: "team 10" })
    const nine = await sam.post<Workspace>("/v1/workspaces", { slug: unique("w"), name: "Team 9" })
    const { id } = await workspace.get<Workspace>("")
    assert.deepStrictEqual(await me(sam), {
      kind: "user",
      id: sam.id,
      name: "Sam",
      email,
      emailVerifiedAt: null,
      workspaces: [
        { id, slug: workspace.workspace, name: "Team", role: "member" },
        { id: nine.id, slug: nine.slug, name: "Team 9", role: "owner" },
        { id: ten.id, slug: ten.slug, name: "team 10", role: "owner" }
      ]
    })
    assertId(sam.id)
  })

  test("me is the account key itself, with its one workspace and its role there", async (owner) => {
    const workspace = await newWorkspace(owner)
    const key = await accountKey(workspace, "viewer", "ci bot")
    const { id, slug } = await workspace.get<Workspace>("")
    assert.deepStrictEqual(await me(key), {
      kind: "apiKey",
      id: key.id,
      name: "ci bot",
      workspaces: [{ id, slug, name: "Team", role: "viewer" }]
    })
  })

  test("a workspace belongs to its creator and is found by slug and by id", async (owner) => {
    const sam = await join(await newWorkspace(owner), "viewer")
    const slug = unique("acme")
    const created = await sam.post<Workspace>("/v1/workspaces", { slug, name: "  Acme  ", plan: "gold" })
    const { createdAt, id } = created
    assert.deepStrictEqual(created, {
      id,
      slug,
      name: "Acme",
      role: "owner",
      runDays: null,
      fileDays: null,
      createdAt,
      updatedAt: createdAt
    })
    assertId(id)
    assertTimestamp(createdAt)
    assert.deepStrictEqual(await sam.in(slug).get<Workspace>(""), created)
    assert.deepStrictEqual(await sam.in(id).get<Workspace>(""), created)
    await owner.in(slug).refuse("404 workspace", "GET", "")
    await owner.in(id).refuse("404 workspace", "GET", "")
    await owner.in("no%20such").refuse("404 workspace", "GET", "")
  })

  test("the list of workspaces holds the caller's own, by name, each with their role", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "admin")
    const second = await sam.post<Workspace>("/v1/workspaces", { slug: unique("w"), name: "a team" })
    const { workspaces } = await sam.get<{ workspaces: ReadonlyArray<Workspace> }>("/v1/workspaces")
    assert.deepStrictEqual(workspaces, [second, { ...(await workspace.get<Workspace>("")), role: "admin" }])
    const key = await accountKey(workspace, "member")
    assert.deepStrictEqual(await key.get<unknown>("/v1/workspaces"), {
      workspaces: [{ ...(await workspace.get<Workspace>("")), role: "member" }]
    })
  })

  test("a workspace changes in the fields sent alone, and keeps its id", async (owner) => {
    const workspace = await newWorkspace(owner)
    const before = await workspace.get<Workspace>("")
    const named = await workspace.patch<Workspace>("", { name: " New name ", unknown: 1 })
    assert.deepStrictEqual(named, { ...before, name: "New name", updatedAt: named.updatedAt })
    assert.isAbove(Date.parse(named.updatedAt), Date.parse(before.updatedAt))
    assert.deepStrictEqual(await workspace.patch<Workspace>("", {}), named)
    const slug = unique("moved")
    const moved = await workspace.patch<Workspace>("", { slug })
    assert.deepStrictEqual(moved, { ...named, slug, updatedAt: moved.updatedAt })
    await workspace.refuse("404 workspace", "GET", "")
    assert.deepStrictEqual(await owner.in(slug).get<Workspace>(""), moved)
    assert.deepStrictEqual(await owner.in(before.id).get<Workspace>(""), moved)
  })

  test("a workspace's slug is nobody else's", async (owner) => {
    const [first, second] = [await newWorkspace(owner), await newWorkspace(owner)]
    await owner.refuse("409 slug_in_use", "POST", "/v1/workspaces", { slug: first.workspace, name: "Another" })
    await second.refuse("409 slug_in_use", "PATCH", "", { slug: first.workspace })
    const sam = await join(second, "member")
    await sam.refuse("409 slug_in_use", "POST", "/v1/workspaces", { slug: first.workspace, name: "Unseen" })
  })

  test("slugs and names of the wrong form are refused where they stand", async (owner) => {
    for (const slug of [
      "",
      "A",
      "a_b",
      "a b",
      "-a",
      "a-",
      "a--b",
      "ä",
      "a".repeat(61),
      1,
      null,
      (await me(owner)).id
    ]) {
      await owner.refuse("400 slug", "POST", "/v1/workspaces", { slug, name: "Name" })
    }
    for (const name of ["", "   ", "a\nb", "x".repeat(101), 7]) {
      await owner.refuse("400 name", "POST", "/v1/workspaces", { slug: unique("w"), name })
    }
    const slug = unique("w").padEnd(60, "0")
    const longest = await owner.post<Workspace>("/v1/workspaces", { slug, name: "x".repeat(100) })
    assert.deepStrictEqual(await owner.in(slug).get<Workspace>(""), longest)
  })

  test("members are listed by name, active or not, to everyone in the workspace", async (owner) => {
    const workspace = await newWorkspace(owner)
    const made = [
      await accept(workspace, "viewer", newEmail(), "person 10"),
      await accept(workspace, "member", newEmail(), "Person 9"),
      await accept(workspace, "admin", newEmail(), "ana")
    ]
    await workspace.post(`members/${made[1]!.person.id}/deactivate`, undefined, 200)
    const viewer = workspace.as(made[0]!.apiKey!.secret)
    const listed = await members(viewer)
    const { email, emailVerifiedAt, id, name } = (await me(owner)) as Extract<Me, { kind: "user" }>
    assertTimestamp(emailVerifiedAt)
    const unproven = { emailVerifiedAt: null }
    assert.deepStrictEqual(listed, [
      { ...made[2]!.person, ...unproven, role: "admin", active: true, joinedAt: listed[0]!.joinedAt },
      { id, name, email, emailVerifiedAt, role: "owner", active: true, joinedAt: listed[1]!.joinedAt },
      { ...made[1]!.person, ...unproven, role: "member", active: false, joinedAt: listed[2]!.joinedAt },
      { ...made[0]!.person, ...unproven, role: "viewer", active: true, joinedAt: listed[3]!.joinedAt }
    ])
    assertTimestamp(...listed.map(({ joinedAt }) => joinedAt))
  })

  test("a member's new role holds from the next request", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "viewer")
    const product = { slug: "shop", name: "Shop", type: "library" }
    await sam.refuse("403 role_too_low", "POST", "products", product)
    const before = (await members(workspace)).find(({ id }) => id === sam.id)!
    const changed = await workspace.patch<Member>(`members/${sam.id}`, { role: "admin" })
    assert.deepStrictEqual(changed, { ...before, role: "admin" })
    await sam.post("products", product)
    await workspace.refuse("400 role", "PATCH", `members/${sam.id}`, { role: "king" })
    await workspace.refuse("400 role", "PATCH", `members/${sam.id}`, {})
  })

  test("only an owner gives or takes the role owner", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [admin, member] = [await join(workspace, "admin"), await join(workspace, "member")]
    const { id: ownerId } = await me(owner)
    await admin.refuse("403 owner_only", "PATCH", `members/${member.id}`, { role: "owner" })
    await admin.refuse("403 owner_only", "PATCH", `members/${ownerId}`, { role: "viewer" })
    await admin.refuse("403 owner_only", "POST", `members/${ownerId}/deactivate`)
    assert.strictEqual((await admin.patch<Member>(`members/${member.id}`, { role: "admin" })).role, "admin")
    await workspace.patch(`members/${member.id}`, { role: "owner" })
    await admin.refuse("403 owner_only", "PATCH", `members/${member.id}`, { role: "admin" })
    await workspace.post(`members/${member.id}/deactivate`, undefined, 200)
    await admin.refuse("403 owner_only", "POST", `members/${member.id}/reactivate`)
  })

  test("the last active owner keeps the role and stays active", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { id } = await me(owner)
    const second = await join(workspace, "owner")
    await workspace.post(`members/${second.id}/deactivate`, undefined, 200)
    await workspace.refuse("409 last_owner", "PATCH", `members/${id}`, { role: "admin" })
    await workspace.refuse("409 last_owner", "POST", `members/${id}/deactivate`)
    await workspace.post(`members/${second.id}/reactivate`, undefined, 200)
    await workspace.patch(`members/${id}`, { role: "admin" })
    await second.refuse("409 last_owner", "PATCH", `members/${second.id}`, { role: "member" })
  })

  test("an owner who is inactive may lose the role to the only active one", async (owner) => {
    const workspace = await newWorkspace(owner)
    const second = await join(workspace, "owner")
    await workspace.post(`members/${second.id}/deactivate`, undefined, 200)
    const changed = await workspace.patch<Member>(`members/${second.id}`, { role: "viewer" })
    assert.deepInclude(changed, { role: "viewer", active: false })
  })

  test("two owners who take the role from each other at once leave one", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { id } = await me(owner)
    const second = await join(workspace, "owner")
    const answers = await Promise.all([
      workspace.send("PATCH", `members/${second.id}`, { json: { role: "admin" } }),
      second.send("PATCH", `members/${id}`, { json: { role: "admin" } })
    ])
    assert.lengthOf(
      answers.filter(({ status }) => status === 200),
      1
    )
    assert.lengthOf(
      (await members(workspace)).filter(({ role }) => role === "owner"),
      1
    )
  })

  test("a deactivated member's keys end here at once and work elsewhere, until they are reactivated", async (owner) => {
    const [here, elsewhere] = [await newWorkspace(owner), await newWorkspace(owner)]
    const sam = await join(here, "admin")
    const { email } = (await members(here)).find(({ id }) => id === sam.id)!
    const { token } = await elsewhere.post<NewInvite>("invites", { email, role: "member" })
    await sam.post("/v1/invites/accept", { token })
    const before = (await members(here)).find(({ id }) => id === sam.id)!
    const { id: hereId } = await here.get<Workspace>("")

    const deactivated = await here.post<Member>(`members/${sam.id}/deactivate`, undefined, 200)
    const ended = { accountApiKeys: [], invites: [], agentSignIns: 0, runs: 0 }
    assert.deepStrictEqual<unknown>(deactivated, { ...before, active: false, ended })
    await sam.refuse("404 workspace", "GET", "products")
    await sam.in(hereId).refuse("404 workspace", "GET", "products")
    await sam.refuse("404 workspace", "POST", `members/${sam.id}/reactivate`)
    await sam.in(elsewhere.workspace).get("products")
    assert.deepStrictEqual(
      (await me(sam)).workspaces.map(({ slug }) => slug),
      [elsewhere.workspace]
    )
    assert.deepStrictEqual(await here.post<Member>(`members/${sam.id}/deactivate`, undefined, 200), deactivated)

    assert.deepStrictEqual(await here.post<Member>(`members/${sam.id}/reactivate`, undefined, 200), before)
    await sam.get("products")
    assert.deepStrictEqual(await here.post<Member>(`members/${sam.id}/reactivate`, undefined, 200), before)
  })

  test("members are found by their id alone, in their own workspace", async (owner) => {
    const [workspace, other] = [await newWorkspace(owner), await newWorkspace(owner)]
    const foreign = await join(other, "member")
    const { email } = (await members(other)).find(({ id }) => id === foreign.id)!
    for (const member of [foreign.id, email, "me", "0197a1b2-0000-7000-8000-000000000001"]) {
      await workspace.refuse("404 member", "PATCH", `members/${member}`, { role: "viewer" })
      await workspace.refuse("404 member", "POST", `members/${member}/deactivate`)
      await workspace.refuse("404 member", "POST", `members/${member}/reactivate`)
    }
  })

  test("an invite shows its token and url once, for seven days", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const email = newEmail()
    const { token, url, ...invite } = await admin.post<NewInvite>("invites", {
      email: ` ${email.toUpperCase()} `,
      role: "viewer",
      message: "Hi"
    })
    const inviter = (await members(workspace)).find(({ id }) => id === admin.id)!
    assert.deepStrictEqual(invite, {
      id: invite.id,
      email,
      role: "viewer",
      status: "pending",
      inviter: { kind: "user", id: admin.id, name: "Sam", email: inviter.email },
      createdAt: invite.createdAt,
      expiresAt: new Date(Date.parse(invite.createdAt) + 7 * 86_400_000).toISOString(),
      acceptedAt: null
    })
    assertId(invite.id)
    assertTimestamp(invite.createdAt, invite.expiresAt)
    assertToken("itk_", token!)
    assert.strictEqual(url, `${owner.baseUrl}/invite#${token}`)
    assert.deepStrictEqual((await invites(workspace))[0], invite)
  })

  test("invites are listed newest first, with all that became of them", async (owner) => {
    const workspace = await newWorkspace(owner)
    const emails = [newEmail(), newEmail(), newEmail()]
    await accept(workspace, "member", emails[0]!)
    const { id } = await workspace.post<NewInvite>("invites", { email: emails[1], role: "admin" })
    await workspace.post(`invites/${id}/revoke`, undefined, 200)
    const key = await accountKey(workspace, "admin")
    await key.post("invites", { email: emails[2], role: "member" })
    const listed = await invites(workspace)
    assert.deepStrictEqual(
      listed.map(({ email, status }) => [email, status]),
      [
        [emails[2], "pending"],
        [emails[1], "revoked"],
        [emails[0], "accepted"]
      ]
    )
    assert.deepStrictEqual(listed[0]!.inviter, { kind: "apiKey", id: key.id, name: "ci" })
    assertTimestamp(listed[2]!.acceptedAt)
  })

  test("an invited person or a member is not invited again", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [invited, member] = [newEmail(), newEmail()]
    await workspace.post("invites", { email: invited, role: "member" })
    await workspace.refuse("409 already_invited", "POST", "invites", { email: invited.toUpperCase(), role: "viewer" })
    const { person } = await accept(workspace, "member", member)
    await workspace.refuse("409 already_member", "POST", "invites", { email: member, role: "viewer" })
    await workspace.post(`members/${person.id}/deactivate`, undefined, 200)
    await workspace.post("invites", { email: member, role: "viewer" })
    for (const email of ["", "sam", "sam@", "@example.com", "a b@example.com", `${"x".repeat(250)}@example.com`]) {
      await workspace.refuse("400 email", "POST", "invites", { email, role: "member" })
    }
    await workspace.refuse("400 role", "POST", "invites", { email: newEmail(), role: "guest" })
  })

  test("a sign that lower case makes a letter of is in nobody's address", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { person } = await accept(workspace, "member", `kim-${newEmail()}`)
    const [team, sign] = [teamKey(), person.email.replace("k", "\u212a")]
    await workspace.post("teams", { key: team, name: "Team" })
    for (const email of [sign, "\u0130da@example.com", "ana@\u212aim.example"]) {
      await workspace.refuse("400 email", "POST", "invites", { email, role: "member" })
      await owner.as(undefined).refuse("400 email", "POST", "/auth/v1/links", { email })
    }
    const { email } = person
    await workspace.post("tickets", { team, title: "Pay", owner: email.toUpperCase() })
    await workspace.refuse("404 owner:", "POST", "tickets", { team, title: "Pay", owner: sign })
    await workspace.post("projects", { name: "Site", slug: "site", teams: [team], lead: email.toUpperCase() })
    await workspace.refuse("404 lead:", "PATCH", "projects/site", { lead: sign })
    const { tickets } = await workspace.get<{ tickets: ReadonlyArray<object> }>(`tickets?owner=${email.toUpperCase()}`)
    assert.lengthOf(tickets, 1)
    await workspace.refuse("404 owner:", "GET", `tickets?owner=${encodeURIComponent(sign)}`)
  })

  test("only owners invite owners", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    await admin.refuse("403 owner_only", "POST", "invites", { email: newEmail(), role: "owner" })
    const newOwner = await join(workspace, "owner")
    assert.strictEqual((await newOwner.get<Workspace>("")).role, "owner")
  })

  test("a new person accepts without a key and gets their first one, which works", async (owner) => {
    const workspace = await newWorkspace(owner)
    const email = newEmail()
    const { id, token } = await workspace.post<NewInvite>("invites", { email, role: "member" })
    const accepted = await workspace.as(undefined).post<AcceptedInvite>("/v1/invites/accept", { token, name: " Kim " })
    const { id: workspaceId, name, slug } = await workspace.get<Workspace>("")
    const apiKey = accepted.apiKey!
    assert.deepStrictEqual(accepted, {
      person: { id: accepted.person.id, name: "Kim", email },
      workspace: { id: workspaceId, slug, name, role: "member" },
      apiKey: {
        id: apiKey.id,
        name: apiKey.name,
        tokenPrefix: apiKey.secret.slice(0, 8),
        lastFour: apiKey.secret.slice(-4),
        scopes: null,
        expiresAt: null,
        secret: apiKey.secret
      }
    })
    assertToken("ctk_", apiKey.secret)
    assert.strictEqual((await me(workspace.as(apiKey.secret))).id, accepted.person.id)
    const listed = (await invites(workspace)).find((invite) => invite.id === id)!
    assert.strictEqual(listed.status, "accepted")
    assertTimestamp(listed.acceptedAt)
    await workspace.refuse("409 not_pending", "POST", `invites/${id}/revoke`)
  })

  test("whoever has a key accepts with it, and gets no other", async (owner) => {
    const [first, second] = [await newWorkspace(owner), await newWorkspace(owner)]
    const email = newEmail()
    const known = await accept(first, "member", email, "Kim")
    const { token } = await second.post<NewInvite>("invites", { email, role: "viewer" })
    const json = { token, name: "Other" }
    await owner.as("nonsense").refuse("401", "POST", "/v1/invites/accept", json)
    await (await join(first, "viewer")).refuse("409 other_address", "POST", "/v1/invites/accept", json)
    await (await accountKey(first, "admin")).refuse("403 account_key", "POST", "/v1/invites/accept", json)
    const { key } = owner.as(known.apiKey!.secret)
    const both = { authorization: `Bearer ${key}`, "x-api-key": owner.key! }
    assert.strictEqual(
      (await owner.as(undefined).send("POST", "/v1/invites/accept", { json, headers: both })).status,
      401
    )
    const headers = { "x-api-key": key! }
    const answer = await owner.as(undefined).send<AcceptedInvite>("POST", "/v1/invites/accept", { json, headers })
    assert.deepStrictEqual([answer.status, answer.headers["cache-control"]], [201, "no-store"])
    assert.deepStrictEqual(answer.body.person, known.person)
    assert.strictEqual(answer.body.workspace.role, "viewer")
    assert.isNull(answer.body.apiKey)
    assert.strictEqual((await second.as(key).get<Workspace>("")).role, "viewer")
  })

  test("a server without mail delivers invites by link alone", async (owner) => {
    const workspace = await newWorkspace(owner)
    const json = { email: newEmail(), role: "member" }
    await workspace.refuse("409 no_mail", "POST", "invites", { ...json, deliver: "mail" })
    await workspace.refuse("400 deliver", "POST", "invites", { ...json, deliver: "pigeon" })
    const { headers, status } = await workspace.send("POST", "invites", { json: { ...json, deliver: "link" } })
    assert.deepStrictEqual([status, headers["cache-control"]], [201, "no-store"])
  })

  test("a token that is unknown, used or revoked is not found", async (owner) => {
    const workspace = await newWorkspace(owner)
    const accepting = (token: string | undefined) =>
      owner.as(undefined).send("POST", "/v1/invites/accept", { json: { token, name: "Kim" } })
    const used = await workspace.post<NewInvite>("invites", { email: newEmail(), role: "member" })
    await owner.as(undefined).post("/v1/invites/accept", { token: used.token, name: "Kim" })
    const revoked = await workspace.post<NewInvite>("invites", { email: newEmail(), role: "member" })
    const ended = await workspace.post<Invite>(`invites/${revoked.id}/revoke`, undefined, 200)
    const { token: _, url: __, ...invite } = revoked
    assert.deepStrictEqual(ended, { ...invite, status: "revoked" })
    assert.deepStrictEqual(await workspace.post<Invite>(`invites/${revoked.id}/revoke`, undefined, 200), ended)
    const answers = [
      await accepting("nonsense"),
      await accepting(`itk_${"0".repeat(42)}`),
      await accepting(owner.key!),
      await accepting(used.token),
      await accepting(revoked.token)
    ]
    for (const answer of answers) {
      assert.strictEqual(refusal(answer), "404 invite")
      assert.deepStrictEqual(answer.body, answers[0]!.body)
    }
    await workspace.post("invites", { email: revoked.email, role: "member" })
    await owner.refuse("400 token", "POST", "/v1/invites/accept", { token: "", name: "Kim" })
    await owner.refuse("400 name", "POST", "/v1/invites/accept", { token: revoked.token, name: " " })
    // Who shows a credential has a name.
    await owner.as(undefined).refuse("400 name", "POST", "/v1/invites/accept", { token: revoked.token })
    await owner.refuse("404 invite", "POST", "/v1/invites/accept", { token: revoked.token })
  })

  test("one of many invites of one email at once is made", async (owner) => {
    const workspace = await newWorkspace(owner)
    const json = { email: newEmail(), role: "member" }
    const answers = await Promise.all(Array.from({ length: 8 }, () => workspace.send("POST", "invites", { json })))
    assert.deepStrictEqual(answers.map(refusal).toSorted(), ["201", ...Array<string>(7).fill("409 already_invited")])
  })

  test("an invite accepted by many at once makes one member", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { token } = await workspace.post<NewInvite>("invites", { email: newEmail(), role: "member" })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        owner.as(undefined).send("POST", "/v1/invites/accept", { json: { token, name: "Kim" } })
      )
    )
    assert.deepStrictEqual(answers.map(refusal).toSorted(), ["201", ...Array<string>(7).fill("404 invite")])
    assert.lengthOf(await members(workspace), 2)
  })

  test("invites of another workspace are not found", async (owner) => {
    const [workspace, other] = [await newWorkspace(owner), await newWorkspace(owner)]
    const { id } = await other.post<NewInvite>("invites", { email: newEmail(), role: "member" })
    for (const invite of [id, "none"]) await workspace.refuse("404 invite", "POST", `invites/${invite}/revoke`)
    assert.deepStrictEqual(await invites(workspace), [])
  })

  test("a new key shows its secret once", async (owner) => {
    const sam = await join(await newWorkspace(owner), "viewer")
    const created = await sam.post<NewApiKey>("/v1/api-keys", { name: " laptop ", role: "owner" }, 200)
    assert.deepStrictEqual(created, {
      id: created.id,
      name: "laptop",
      tokenPrefix: created.secret.slice(0, 8),
      lastFour: created.secret.slice(-4),
      scopes: null,
      expiresAt: null,
      secret: created.secret
    })
    assertId(created.id)
    assertToken("ctk_", created.secret)
    const { body, text } = await sam.send<ReadonlyArray<ApiKey>>("GET", "/v1/api-keys")
    const { secret, ...shown } = created
    assert.notInclude(text, secret)
    assert.deepStrictEqual(body[0], {
      ...shown,
      createdAt: body[0]!.createdAt,
      lastUsedAt: null,
      expiresSoon: false
    })
    assertTimestamp(body[0]!.createdAt)
    assert.strictEqual((await me(sam.as(secret))).id, sam.id)
  })

  test("keys are listed newest first, as a bare array of the caller's own", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [sam, kim] = [await join(workspace, "member"), await join(workspace, "member")]
    for (const name of ["second", "third"]) await sam.post("/v1/api-keys", { name }, 200)
    await kim.post("/v1/api-keys", { name: "not Sam's" }, 200)
    const listed = await sam.get<ReadonlyArray<ApiKey>>("/v1/api-keys")
    assert.deepStrictEqual(
      listed.map(({ name }) => name),
      ["third", "second", "first key"]
    )
  })

  test("a key's last use is null, and then shown at once", async (owner) => {
    const sam = await join(await newWorkspace(owner), "member")
    const { id, secret } = await sam.post<NewApiKey>("/v1/api-keys", { name: "second" }, 200)
    const lastUsed = async () =>
      (await sam.get<ReadonlyArray<ApiKey>>("/v1/api-keys")).find((key) => key.id === id)!.lastUsedAt
    assert.isNull(await lastUsed())
    const before = Date.now()
    await me(sam.as(secret))
    const used = await lastUsed()
    assertTimestamp(used)
    assert.isAtLeast(Date.parse(used!), before)
    assert.isAtMost(Date.parse(used!), Date.now())
    // The list itself is a use of its own key, and a refused request is one too.
    const own = (await sam.get<ReadonlyArray<ApiKey>>("/v1/api-keys")).find((key) => key.id !== id)!
    assert.isNotNull(own.lastUsedAt)
    await eventually(
      async () => {
        await sam.as(secret).refuse("400 name", "POST", "/v1/api-keys", {})
        return lastUsed()
      },
      (later) => later! > used!
    )
  })

  test("revoking a key ends it at once, and it is not found again", async (owner) => {
    const sam = await join(await newWorkspace(owner), "member")
    const { id, secret } = await sam.post<NewApiKey>("/v1/api-keys", { name: "second" }, 200)
    await me(sam.as(secret))
    assert.deepStrictEqual(await sam.post<unknown>(`/v1/api-keys/${id}/revoke`, undefined, 200), { ok: true })
    const revoked = await sam.as(secret).send("GET", "/v1/me")
    const unknown = await sam.as(`ctk_${"0".repeat(42)}`).send("GET", "/v1/me")
    assert.strictEqual(revoked.status, 401)
    assert.deepStrictEqual(revoked.body, unknown.body)
    await sam.refuse("404 API key", "POST", `/v1/api-keys/${id}/revoke`)
    assert.notInclude(
      (await sam.get<ReadonlyArray<ApiKey>>("/v1/api-keys")).map((key) => key.id),
      id
    )
    await me(sam)
  })

  test("a key may revoke itself", async (owner) => {
    const sam = await join(await newWorkspace(owner), "member")
    const [{ id }] = await sam.get<readonly [ApiKey]>("/v1/api-keys")
    await sam.post(`/v1/api-keys/${id}/revoke`, undefined, 200)
    await sam.refuse("401", "GET", "/v1/me")
  })

  test("keys of others are not found", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "member")
    const [{ id }] = await sam.get<readonly [ApiKey]>("/v1/api-keys")
    const account = await accountKey(workspace, "member")
    for (const key of [id, account.id, "first%20key", "0197a1b2-0000-7000-8000-0000000000b1"]) {
      await owner.refuse("404 API key", "POST", `/v1/api-keys/${key}/revoke`)
    }
    await workspace.refuse("404 account API key", "POST", `account-api-keys/${id}/revoke`)
    await me(sam)
    await me(account)
  })

  test("a key's name has 1 to 80 characters", async (owner) => {
    const sam = await join(await newWorkspace(owner), "member")
    for (const name of ["", " ", "x".repeat(81), 1, null, "a\tb"]) {
      await sam.refuse("400 name", "POST", "/v1/api-keys", { name })
    }
    await sam.refuse("400 name", "POST", "/v1/api-keys", {})
    await sam.post("/v1/api-keys", { name: `  ${"x".repeat(80)}  ` }, 200)
  })

  test("a person holds at most 20 active keys, however many they ask for at once", async (owner) => {
    const sam = await join(await newWorkspace(owner), "member")
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => sam.send("POST", "/v1/api-keys", { json: { name: "more" } }))
    )
    assert.lengthOf(
      answers.filter(({ status }) => status === 200),
      19
    )
    for (const answer of answers) assert.oneOf(refusal(answer), ["200", "409 too_many_keys"])
    const listed = await sam.get<ReadonlyArray<ApiKey>>("/v1/api-keys")
    assert.lengthOf(listed, 20)
    await sam.post(`/v1/api-keys/${listed[0]!.id}/revoke`, undefined, 200)
    await sam.post("/v1/api-keys", { name: "in its place" }, 200)
    await sam.refuse("409 too_many_keys", "POST", "/v1/api-keys", { name: "21st" })
  })

  test("an account key shows its secret once and is listed with its role, newest first", async (owner) => {
    const workspace = await newWorkspace(owner)
    await accountKey(workspace, "viewer", "first")
    const created = await workspace.post<NewAccountApiKey>("account-api-keys", { name: " ci ", role: "admin", x: 1 })
    assert.deepStrictEqual(created, {
      id: created.id,
      name: "ci",
      role: "admin",
      tokenPrefix: created.secret.slice(0, 8),
      lastFour: created.secret.slice(-4),
      scopes: null,
      expiresAt: null,
      secret: created.secret
    })
    assertToken("ctk_", created.secret)
    const listed = await accountKeys(workspace)
    const { secret, ...shown } = created
    assert.deepStrictEqual(listed[0], {
      ...shown,
      createdAt: listed[0]!.createdAt,
      lastUsedAt: null,
      expiresSoon: false,
      createdBy: listed[1]!.createdBy
    })
    const { email, id, name } = await owner.get<Extract<Me, { kind: "user" }>>("/v1/me")
    assert.deepStrictEqual(listed[0]!.createdBy, { kind: "user", id, name, email })
    const nested = await accountKey(workspace.as(created.secret), "viewer", "made with a key")
    const [made] = await accountKeys(workspace)
    assert.deepStrictEqual(made?.createdBy, { kind: "apiKey", id: created.id, name: "ci" })
    await workspace.post(`account-api-keys/${nested.id}/revoke`, undefined, 200)
    assert.deepStrictEqual(
      listed.map(({ name, role }) => [name, role]),
      [
        ["ci", "admin"],
        ["first", "viewer"]
      ]
    )
    await workspace.as(secret).get("products")
    assertTimestamp((await accountKeys(workspace))[0]!.lastUsedAt)
    await workspace.refuse("400 role", "POST", "account-api-keys", { name: "king", role: "owner" })
    await workspace.refuse("400 name", "POST", "account-api-keys", { name: "", role: "member" })
  })

  test("an account key acts in its workspace alone, with its role", async (owner) => {
    const [workspace, other] = [await newWorkspace(owner), await newWorkspace(owner)]
    const admin = await accountKey(workspace, "admin")
    await admin.post("products", { slug: "shop", name: "Shop", type: "app" })
    await admin.in((await workspace.get<Workspace>("")).id).get("products/shop")
    await admin.in(other.workspace).refuse("404 workspace", "GET", "products")
    await admin.in("none").refuse("404 workspace", "GET", "products")
    const viewer = await accountKey(workspace, "viewer")
    await viewer.get("products/shop")
    await viewer.refuse("403 role_too_low", "POST", "products", { slug: "app", name: "App", type: "app" })
  })

  test("an account key has no keys of its own and creates no workspace", async (owner) => {
    const workspace = await newWorkspace(owner)
    const key = await accountKey(workspace, "admin")
    await key.refuse("403 account_key", "GET", "/v1/api-keys")
    await key.refuse("403 account_key", "POST", "/v1/api-keys", { name: "another" })
    await key.refuse("403 account_key", "POST", `/v1/api-keys/${key.id}/revoke`)
    await key.refuse("403 account_key", "POST", "/v1/workspaces", { slug: unique("w"), name: "Mine" })
  })

  test("revoking an account key ends it at once; another workspace's is not found", async (owner) => {
    const [workspace, other] = [await newWorkspace(owner), await newWorkspace(owner)]
    const key = await accountKey(workspace, "member")
    const path = `account-api-keys/${key.id}/revoke`
    await other.refuse("404 account API key", "POST", path)
    await key.get("products")
    assert.deepStrictEqual(await workspace.post<unknown>(path, undefined, 200), { ok: true })
    await key.refuse("401", "GET", "products")
    await workspace.refuse("404 account API key", "POST", path)
    await workspace.refuse("404 account API key", "POST", "account-api-keys/none/revoke")
    assert.deepStrictEqual(await accountKeys(workspace), [])
  })

  test("tokens of other kinds are no API keys, however real", async (owner) => {
    const workspace = await newDeployment(owner)
    const { semaphores } = await startRun(workspace)
    const { token } = await workspace.post<NewInvite>("invites", { email: newEmail(), role: "member" })
    const unknown = await owner.as("nonsense").send("GET", "/v1/me")
    for (const wrong of [semaphores.token, token!, `${owner.key!}0`, owner.key!.toLowerCase()]) {
      const answer = await workspace.as(wrong).send("GET", "products")
      assert.strictEqual(answer.status, 401)
      assert.deepStrictEqual(answer.body, unknown.body)
      assert.strictEqual(
        (await owner.as(undefined).send("GET", "/v1/me", { headers: { "x-api-key": wrong } })).status,
        401
      )
    }
  })
})

withClockOnEachServer("the identity room over time", (test) => {
  test("an invite is good for seven days and no longer", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const [early, late] = [
      await workspace.post<NewInvite>("invites", { email: newEmail(), role: "member" }),
      await workspace.post<NewInvite>("invites", { email: newEmail(), role: "member" })
    ]
    advance(7 * 86_400_000 - 1)
    await owner.as(undefined).post("/v1/invites/accept", { token: early.token, name: "In time" })
    advance(1)
    await owner.as(undefined).refuse("404 invite", "POST", "/v1/invites/accept", { token: late.token, name: "Late" })
    const listed = await invites(workspace)
    assert.deepStrictEqual(
      listed.map(({ status }) => status),
      ["expired", "accepted"]
    )
    await workspace.refuse("409 not_pending", "POST", `invites/${late.id}/revoke`)
    await workspace.post("invites", { email: late.email, role: "member" })
  })

  test("a key's last use is shown before and after it is written", async (owner, advance) => {
    const sam = await join(await newWorkspace(owner), "member")
    const { id, secret } = await sam.post<NewApiKey>("/v1/api-keys", { name: "second" }, 200)
    const lastUsed = async () =>
      (await sam.get<ReadonlyArray<ApiKey>>("/v1/api-keys")).find((key) => key.id === id)!.lastUsedAt
    await me(sam.as(secret))
    const lastUse = await lastUsed()
    assertTimestamp(lastUse)
    advance("1 second")
    assert.strictEqual(await lastUsed(), lastUse)
    await me(sam.as(secret))
    assert.strictEqual(Date.parse((await lastUsed())!), Date.parse(lastUse!) + 1000)
  })
})
