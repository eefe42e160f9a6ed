import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import type { SignedIn } from "@delivery/domain/auth/Session"
import type { Event } from "@delivery/domain/events/Event"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { WorkspaceCredential } from "@delivery/domain/identity/Credential"
import type { Me } from "@delivery/domain/identity/Me"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import type { StartedTestRun, TestRun } from "@delivery/domain/runs/TestRun"
import { assert } from "vitest"
import {
  accountKey,
  assertTimestamp,
  finishRun,
  type Http,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  refresh,
  refusal,
  registerAgent,
  signIn,
  startRun,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"
import { accountKeyOf, inviteOf, keyOf } from "./Keys.ts"

/** The credentials of a workspace, and which it lets in (docs/contract.md, Credentials). */

const list = async (by: Http) =>
  (await by.get<{ credentials: ReadonlyArray<WorkspaceCredential> }>("credentials")).credentials

const find = async (by: Http, id: string) => (await list(by)).find((credential) => credential.id === id)!

const block = (by: Http, id: string) => by.post<WorkspaceCredential>(`credentials/${id}/block`, undefined, 200)
const unblock = (by: Http, id: string) => by.post<WorkspaceCredential>(`credentials/${id}/unblock`, undefined, 200)

/** What a credential meets in its workspace. */
const meets = async (by: Http) => refusal(await by.send("GET", "members"))

const agentMeets = async (by: Http, { access_token }: AgentSignIn) =>
  refusal(await by.as(access_token).send("GET", "/agent/v1/me"))

const sessionIdOf = async (session: Http) => (await session.get<SignedIn>("/auth/v1/session")).session.id

onEachServer("the credentials of a workspace", (test) => {
  test("are listed, one for each key, session and sign-in that may act there", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const limits = { scopes: ["read", "admin"], expiresAt: "2027-11-21T09:30:00.000Z" }
    const key = await keyOf(person, limits)
    const account = await accountKeyOf(key, { role: "viewer", ...limits })
    const session = await signIn(person, person.id)
    const sessionId = await sessionIdOf(session)
    const agent = await registerAgent(person, { computer: "laptop" })
    await person.as(agent.access_token).get("/agent/v1/me")
    const left = await join(workspace, "member")
    await workspace.post(`members/${left.id}/deactivate`, undefined, 200)

    const all = await list(workspace)
    const me = await person.get<Extract<Me, { kind: "user" }>>("/v1/me")
    const user = { kind: "user", id: me.id, name: me.name, email: me.email }
    const shown = (id: string) => {
      const { createdAt, lastUsedAt, ...rest } = all.find((one) => one.id === id)!
      assertTimestamp(createdAt, lastUsedAt ?? createdAt)
      return rest
    }
    const common = { role: "admin", scopes: null, expiresAt: null, blocked: false }
    assert.deepStrictEqual<unknown>(shown(key.id), {
      ...common,
      ...limits,
      id: key.id,
      kind: "apiKey",
      name: key.name,
      owner: user,
      createdBy: user,
      lastFour: key.lastFour
    })
    assert.deepStrictEqual<unknown>(shown(account.id), {
      ...common,
      ...limits,
      id: account.id,
      kind: "accountApiKey",
      name: account.name,
      owner: { kind: "apiKey", id: account.id, name: account.name },
      createdBy: user,
      lastFour: account.lastFour,
      role: "viewer",
      scopes: ["read", "admin"]
    })
    const { expiresAt: sessionEnds, ...ofSession } = shown(sessionId)
    assert.deepStrictEqual<unknown>(ofSession, {
      id: sessionId,
      kind: "session",
      name: "Unknown browser",
      owner: user,
      createdBy: user,
      lastFour: session.key!.slice(-4),
      role: "admin",
      scopes: null,
      blocked: false
    })
    const { expiresAt: agentEnds, ...ofAgent } = shown(agent.clientId)
    assertTimestamp(sessionEnds, agentEnds)
    assert.deepStrictEqual<unknown>(ofAgent, {
      id: agent.clientId,
      kind: "agent",
      name: "laptop",
      owner: { kind: "agent", id: agent.agent, name: "Claude", person: { id: me.id, name: me.name, email: me.email } },
      createdBy: user,
      lastFour: null,
      role: "admin",
      scopes: ["read", "write"],
      blocked: false
    })
    assert.strictEqual(all.filter(({ owner }) => owner.kind === "user" && owner.id === left.id).length, 0)
    assert.deepStrictEqual(
      all.map(({ createdAt }) => createdAt),
      all.map(({ createdAt }) => createdAt).toSorted((a, b) => (a < b ? 1 : a > b ? -1 : 0))
    )
    const secrets = [person.key!, key.secret, account.secret, session.key!, agent.access_token, agent.refresh_token]
    for (const secret of secrets) assert.notInclude(JSON.stringify(all), secret)
  })

  test("are let in no more when they are blocked, and go on elsewhere", async (owner) => {
    const [here, there] = [await newWorkspace(owner), await newWorkspace(owner)]
    const key = await keyOf(here)
    const blocked = await block(here, key.id)
    assert.deepStrictEqual([blocked.id, blocked.blocked], [key.id, true])
    assert.strictEqual(await meets(key), "404 workspace")
    await key.refuse("404 workspace", "POST", "invites", { email: "a@example.com", role: "viewer" })
    assert.strictEqual(await meets(key.in(there.workspace)), "200")
    const { workspaces } = await key.get<{ workspaces: ReadonlyArray<Workspace> }>("/v1/workspaces")
    const slugs = new Set(workspaces.map(({ slug }) => slug))
    assert.deepStrictEqual([slugs.has(here.workspace), slugs.has(there.workspace)], [false, true])
    assert.notInclude(JSON.stringify(await key.get("/v1/me")), here.workspace)
    // Other credentials of its person, and other workspaces, see nothing of it.
    assert.strictEqual(await meets(here), "200")
    assert.isFalse((await find(there, key.id)).blocked)
    assert.isTrue((await find(here, key.id)).blocked)
    await block(here, key.id)
    assert.isFalse((await unblock(here, key.id)).blocked)
    assert.isFalse((await unblock(here, key.id)).blocked)
    assert.strictEqual(await meets(key), "200")
    const { events } = await here.get<{ events: ReadonlyArray<Event> }>("events")
    assert.deepStrictEqual(
      events.filter(({ subject }) => subject.type === "credential").map(({ kind, subject }) => [kind, subject.label]),
      [
        ["credential_unblocked", key.name],
        ["credential_blocked", key.name]
      ]
    )
  })

  test("may be an account key, a session or a sign-in of an agent", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const account = await accountKey(workspace, "member")
    const session = await signIn(person, person.id)
    const agent = await registerAgent(person)
    const ids = [account.id, await sessionIdOf(session), agent.clientId]
    for (const id of ids) await block(workspace, id)
    assert.strictEqual(await meets(account), "404 workspace")
    assert.deepStrictEqual((await account.get<Me>("/v1/me")).workspaces, [])
    assert.strictEqual(await meets(session), "404 workspace")
    assert.deepStrictEqual((await session.get<SignedIn>("/auth/v1/session")).workspaces, [])
    assert.strictEqual(await agentMeets(owner, agent), "401")
    await owner.as(agent.access_token).refuse("401", "POST", "/agent/mcp", {})
    assert.strictEqual(refusal(await refresh(owner, agent)), "401 invalid_client")
    for (const id of ids) await unblock(workspace, id)
    assert.deepStrictEqual([await meets(account), await meets(session)], ["200", "200"])
    assert.strictEqual(await agentMeets(owner, agent), "200")
    assert.strictEqual(refusal(await refresh(owner, agent)), "200")
  })

  test("are blocked with what they made before and later, also of an account", async (owner) => {
    const [here, there] = [await newWorkspace(owner), await newWorkspace(owner)]
    const key = await keyOf(here)
    const made = await keyOf(key)
    const account = await accountKeyOf(made)
    const ofAccount = await accountKeyOf(account)
    const agent = await registerAgent(made, { computer: unique("computer") })
    const invite = await inviteOf(account)
    const accept = () =>
      here
        .as(undefined)
        .send("POST", "/v1/invites/accept", { json: { token: invite.token, name: "Sam" } })
        .then(refusal)
    const beside = await keyOf(here)
    await block(here, key.id)
    // It still makes keys: for other workspaces.
    const later = await keyOf(made.in(there.workspace))
    const all = [key, made, account, ofAccount, later.in(here.workspace)]
    const met = async () => Promise.all(all.map(meets))
    assert.deepStrictEqual(
      await met(),
      all.map(() => "404 workspace")
    )
    assert.strictEqual(await agentMeets(owner, agent), "401")
    assert.strictEqual(await accept(), "404 invite")
    assert.strictEqual(await meets(later.in(there.workspace)), "200")
    assert.strictEqual(await meets(beside), "200")
    for (const { id } of [made, account, ofAccount, later]) assert.isTrue((await find(here, id)).blocked)
    await here.refuse("409 maker_blocked", "POST", `credentials/${made.id}/unblock`)
    // What is blocked itself stays so.
    await block(here, account.id)
    assert.isFalse((await unblock(here, key.id)).blocked)
    assert.deepStrictEqual(await met(), ["200", "200", "404 workspace", "404 workspace", "200"])
    assert.strictEqual(await agentMeets(owner, agent), "200")
    await unblock(here, account.id)
    assert.deepStrictEqual(
      await met(),
      all.map(() => "200")
    )
    assert.strictEqual(await accept(), "201")
  })

  test("take no leases for runs that they started, while they are blocked", async (owner) => {
    const workspace = await newDeployment(owner)
    const person = await join(workspace, "member")
    const [key, session] = [await keyOf(person), await signIn(person, person.id)]
    const runs = [await startRun(key), await startRun(session), await startRun(await keyOf(key))]
    const beside = await startRun(person)
    const take = async ({ semaphores }: StartedTestRun) => {
      const path = `semaphores/${unique("semaphore")}/leases`
      return refusal(await workspace.as(semaphores.token).send("POST", path, { json: { capacity: 1 } }))
    }
    const ids = [key.id, await sessionIdOf(session)]
    for (const id of ids) await block(workspace, id)
    assert.deepStrictEqual(await Promise.all([...runs, beside].map(take)), ["401", "401", "401", "201"])
    for (const id of ids) await unblock(workspace, id)
    assert.deepStrictEqual(await Promise.all(runs.map(take)), ["201", "201", "201"])
    // A run goes on without its key, and without its token.
    await block(workspace, key.id)
    await finishRun(person, runs[0]!.number)
  })

  test("end with the right to publish: the runs of a new viewer are interrupted", async (owner) => {
    const workspace = await newDeployment(owner)
    const person = await join(workspace, "member")
    const other = await join(workspace, "member")
    const run = await startRun(person)
    const beside = await startRun(other)
    const take = async ({ semaphores }: StartedTestRun) => {
      const path = `semaphores/${unique("semaphore")}/leases`
      return refusal(await workspace.as(semaphores.token).send("POST", path, { json: { capacity: 1 } }))
    }
    assert.deepStrictEqual([await take(run), await take(beside)], ["201", "201"])
    assert.strictEqual(
      refusal(await workspace.send("PATCH", `members/${person.id}`, { json: { role: "viewer" } })),
      "200"
    )
    assert.deepStrictEqual([await take(run), await take(beside)], ["401", "201"])
    const { body } = await workspace.send<TestRun>("GET", `test-runs/${run.number}`)
    assert.strictEqual(body.state, "interrupted")
  })

  test("end themselves and others while they are blocked somewhere", async (owner) => {
    const here = await newWorkspace(owner)
    const person = await join(here, "admin")
    const [other, session, beside] = [
      await keyOf(person),
      await signIn(person, person.id),
      await signIn(person, person.id)
    ]
    const key = await keyOf(session)
    const made = await keyOf(key)
    const account = await accountKeyOf(other)
    const sessionId = await sessionIdOf(session)
    await block(here, sessionId)
    // What the blocked session made is blocked with it.
    const victim = await keyOf(other)
    await key.post(`/v1/api-keys/${victim.id}/revoke`, undefined, 200)
    assert.deepStrictEqual(await Promise.all([victim, other, account, beside].map(meets)), ["401", "200", "200", "200"])
    await key.refuse("404 API key", "POST", "/v1/api-keys/nothing/revoke")
    // Whoever signs in can end what was stolen from them, though the thief blocks them in a workspace of the thief's own.
    const thief = await keyOf(other)
    const [lost, again] = [await signIn(person, person.id), await signIn(person, person.id)]
    await block(here, await sessionIdOf(again))
    await again.delete(`/auth/v1/sessions/${await sessionIdOf(lost)}`)
    await again.post(`/v1/api-keys/${thief.id}/revoke`, undefined, 200)
    assert.deepStrictEqual(await Promise.all([lost, thief].map(meets)), ["401", "401"])
    // Others of the person end them, and so do they themselves.
    await made.post(`/v1/api-keys/${made.id}/revoke`, undefined, 200)
    await other.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
    await session.delete(`/auth/v1/sessions/${sessionId}`)
    assert.deepStrictEqual(await Promise.all([made, key, session].map(meets)), ["401", "401", "401"])
  })

  test("end others also at the moment at which they are blocked", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const [blocked, session] = [await keyOf(person), await signIn(person, person.id)]
    for (let round = 0; round < 5; round++) {
      const keys = [await keyOf(person), await keyOf(session), await keyOf(blocked), await keyOf(person)]
      const [, ...answers] = await Promise.all([
        block(workspace, blocked.id),
        ...keys.map(({ id }) => blocked.send("POST", `/v1/api-keys/${id}/revoke`).then(refusal))
      ])
      assert.deepStrictEqual(
        [...answers, ...(await Promise.all(keys.map(meets)))],
        [...keys.map(() => "200"), ...keys.map(() => "401")]
      )
      await unblock(workspace, blocked.id)
    }
  })

  test("can be unblocked when what they were blocked with has ended", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const session = await signIn(person, person.id)
    const key = await keyOf(session)
    const nested = await keyOf(key)
    const id = await sessionIdOf(session)
    await block(workspace, id)
    await workspace.refuse("409 maker_blocked", "POST", `credentials/${key.id}/unblock`)
    await session.delete("/auth/v1/session")
    assert.deepStrictEqual([await meets(key), await meets(nested)], ["404 workspace", "404 workspace"])
    await unblock(workspace, key.id)
    assert.deepStrictEqual([await meets(key), await meets(nested)], ["200", "200"])
    await workspace.refuse("404 credential", "POST", `credentials/${id}/unblock`)
  })

  test("that were kept when their maker was deactivated stay blocked, until they are unblocked", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const key = await keyOf(person)
    const [account, beside] = [await accountKeyOf(key), await accountKeyOf(person)]
    const nested = await accountKeyOf(account)
    await block(workspace, key.id)
    await workspace.post(`members/${person.id}/deactivate`, { accountApiKeys: "keep" }, 200)
    const later = await accountKeyOf(beside)
    const all = [account, nested, beside, later]
    const met = () => Promise.all(all.map(meets))
    assert.deepStrictEqual(await met(), ["404 workspace", "404 workspace", "200", "200"])
    await unblock(workspace, account.id)
    assert.deepStrictEqual(
      await met(),
      all.map(() => "200")
    )
    await block(workspace, account.id)
    assert.deepStrictEqual(await met(), ["404 workspace", "404 workspace", "200", "200"])
  })

  test("of owners are blocked and unblocked by owners alone", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const mine = await keyOf(workspace)
    for (const action of ["block", "unblock"]) {
      await admin.refuse("403 owner_only", "POST", `credentials/${mine.id}/${action}`)
    }
    const [other] = await list(admin)
    assert.isDefined(other)
    const account = await accountKey(workspace, "member")
    await block(admin, account.id)
    assert.strictEqual(await meets(account), "404 workspace")
    await block(workspace, mine.id)
    await admin.refuse("403 owner_only", "POST", `credentials/${mine.id}/unblock`)
  })

  test("are not unblocked by their own person, unless that is an owner", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const account = await accountKeyOf(await accountKeyOf(person))
    const session = await signIn(person, person.id)
    const [key, agent] = [await keyOf(person), await registerAgent(person)]
    const other = await join(workspace, "admin")
    const others = await accountKeyOf(other)
    const ids = [key.id, await sessionIdOf(await signIn(person, person.id)), agent.clientId]
    for (const id of ids) {
      await block(workspace, id)
      for (const by of [person, session, account]) {
        await by.refuse("403 owner_only", "POST", `credentials/${id}/unblock`)
      }
      assert.isTrue((await find(workspace, id)).blocked)
      await unblock(other, id)
      await block(person, id)
      await unblock(others, id)
    }
    // An account key is nobody's own.
    await block(workspace, account.id)
    await unblock(person, account.id)
    const mine = await keyOf(workspace)
    await block(workspace, mine.id)
    await unblock(workspace, mine.id)
    assert.deepStrictEqual(await Promise.all([key, account, mine].map(meets)), ["200", "200", "200"])
  })

  test("that may do more than a key are not unblocked by it", async (owner) => {
    const workspace = await newWorkspace(owner)
    const limited = await keyOf(workspace, { scopes: ["admin", "read"] })
    const [whole, less] = [await keyOf(workspace), await keyOf(workspace, { scopes: ["read"] })]
    for (const { id } of [whole, less]) await block(limited, id)
    await limited.refuse("403 scope_missing", "POST", `credentials/${whole.id}/unblock`)
    assert.strictEqual(await meets(whole), "404 workspace")
    await unblock(limited, less.id)
    assert.strictEqual(await meets(less), "200")
  })

  test("of other workspaces, and ended ones, are not there", async (owner) => {
    const [here, there] = [await newWorkspace(owner), await newWorkspace(owner)]
    const elsewhere = await join(there, "member")
    const theirs = (await list(there)).find(({ owner }) => owner.kind === "user" && owner.id === elsewhere.id)
    const ended = await keyOf(here)
    await here.post(`/v1/api-keys/${ended.id}/revoke`, undefined, 200)
    for (const id of [theirs!.id, ended.id, "nothing"]) {
      await here.refuse("404 credential", "POST", `credentials/${id}/block`)
      await here.refuse("404 credential", "POST", `credentials/${id}/unblock`)
    }
    assert.strictEqual(await meets(elsewhere), "200")
  })

  test("make nothing that gets in, at the moment at which they are blocked", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "owner")
    for (let round = 0; round < 5; round++) {
      const leaked = await keyOf(person)
      const nested = await keyOf(leaked)
      const making = Array.from({ length: 12 }, (_, i) =>
        i % 3 === 0
          ? nested.send<NewApiKey>("POST", "/v1/api-keys", { json: { name: "made" } })
          : leaked.send<NewApiKey>("POST", "account-api-keys", { json: { name: "made", role: "viewer" } })
      )
      const [, ...answers] = await Promise.all([block(workspace, leaked.id), ...making])
      for (const { body, status } of answers) {
        assert.oneOf(status, [200, 201, 404])
        if (status !== 404) assert.strictEqual(await meets(person.as(body.secret)), "404 workspace")
      }
      // The limit of keys of one person.
      await person.post(`/v1/api-keys/${leaked.id}/revoke`, undefined, 200)
    }
  })
})

withClockOnEachServer("the credentials of a workspace", (test) => {
  test("end no others without a fresh proof while they are blocked", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const [session, beside] = [await signIn(person, person.id), await signIn(person, person.id)]
    const key = await keyOf(person)
    await block(workspace, await sessionIdOf(session))
    advance(15 * 60_000)
    await session.refuse("403 sudo_required", "POST", `/v1/api-keys/${key.id}/revoke`)
    await session.refuse("403 sudo_required", "DELETE", `/auth/v1/sessions/${await sessionIdOf(beside)}`)
    await session.refuse("403 sudo_required", "POST", "/auth/v1/sessions/revoke-others")
    // One that nobody has blocked needs none.
    await beside.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
    await session.delete(`/auth/v1/sessions/${await sessionIdOf(session)}`)
  })

  test("of sessions give others more only with a fresh proof", async (owner, advance) => {
    const workspace = await newDeployment(owner)
    const person = await join(workspace, "owner")
    const [viewer, left] = [await join(workspace, "viewer"), await join(workspace, "viewer")]
    const session = await signIn(person, person.id)
    const blocked = await keyOf(viewer)
    await block(workspace, blocked.id)
    await workspace.post(`members/${left.id}/deactivate`, undefined, 200)
    const giving = [
      ["PATCH", `members/${viewer.id}`, { role: "member" }],
      ["POST", `members/${left.id}/reactivate`, undefined],
      ["POST", `credentials/${blocked.id}/unblock`, undefined]
    ] as const
    advance(15 * 60_000)
    for (const [method, path, body] of giving) await session.refuse("403 sudo_required", method, path, body)
    // Who takes needs none.
    await session.send("PATCH", `members/${viewer.id}`, { json: { role: "viewer" } })
    await session.post(`members/${left.id}/deactivate`, undefined, 200)
    await session.post(`credentials/${blocked.id}/block`, undefined, 200)
    const proven = await signIn(person, person.id)
    for (const [method, path, json] of giving) {
      assert.strictEqual(refusal(await proven.send(method, path, { json })), "200", path)
    }
  })

  test("are those that work: what has expired is left out", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const [session, agent] = [await signIn(person, person.id), await registerAgent(person)]
    const sessionId = await sessionIdOf(session)
    const has = async (id: string) => (await list(workspace)).some((credential) => credential.id === id)
    assert.deepStrictEqual([await has(sessionId), await has(agent.clientId)], [true, true])
    advance("8 days")
    assert.deepStrictEqual([await has(sessionId), await has(agent.clientId)], [false, true])
    advance("23 days")
    assert.isFalse(await has(agent.clientId))
  })
})
