import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { AcceptedInvite, Invite, NewInvite } from "@delivery/domain/identity/Invite"
import type { Me } from "@delivery/domain/identity/Me"
import type { DeactivatedMember, Member } from "@delivery/domain/identity/Member"
import type { Role } from "@delivery/domain/identity/Role"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import type { StartedRetry } from "@delivery/domain/runs/TestRetry"
import type { TestRun } from "@delivery/domain/runs/TestRun"
import { assert } from "vitest"
import {
  accountKey,
  attempt,
  finishRun,
  type Http,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  refresh,
  refusal,
  registerAgent,
  report,
  runOf,
  startRun,
  unique
} from "../support/Http.ts"

/** Faults of identity over HTTP: whom an invite joins, and what ends with a member. */

const newEmail = () => `${unique("ceo")}@corp.test`

const invite = (workspace: Http, email: string, role: Role = "member") =>
  workspace.post<NewInvite & { readonly token: string }>("invites", { email, role })

const accept = (as: Http, token: string, name = "Sam") => as.post<AcceptedInvite>("/v1/invites/accept", { token, name })

const memberIds = async (workspace: Http) =>
  (await workspace.get<{ members: ReadonlyArray<Member> }>("members")).members.map(({ id }) => id)

const workspacesOf = async (person: Http) =>
  (await person.get<{ workspaces: ReadonlyArray<Workspace> }>("/v1/workspaces")).workspaces.map(({ slug }) => slug)

onEachServer(
  "A server on which owners create workspaces",
  (test) => {
    test("refuses everybody else, whatever their role elsewhere", async (owner) => {
      const create = (by: Http) => by.send("POST", "/v1/workspaces", { json: { slug: unique("made"), name: "Made" } })
      const workspace = await newWorkspace(owner)
      const admin = await join(workspace, "admin")
      const former = await join(workspace, "owner")
      const left = await join(workspace, "owner")
      assert.strictEqual(refusal(await create(former)), "201")
      await workspace.post(`members/${left.id}/deactivate`, undefined, 200)
      for (const by of [admin, left]) assert.strictEqual(refusal(await create(by)), "403 not_allowed")
      assert.strictEqual(refusal(await create(await accountKey(workspace, "admin"))), "403 account_key")
      await workspace.patch(`members/${admin.id}`, { role: "owner" })
      assert.strictEqual(refusal(await create(admin)), "201")
      // An owner no more here, they still own what they made.
      await workspace.patch(`members/${former.id}`, { role: "viewer" })
      assert.strictEqual(refusal(await create(former)), "201")
    })
  },
  { WORKSPACE_CREATION: "owners" }
)

onEachServer("Whom an invite joins", (test) => {
  test("a planted identity gains nothing from a later invite of its address", async (owner) => {
    const email = newEmail()
    const company = await newWorkspace(owner)
    const viewer = await join(company, "viewer")
    const trap = await newWorkspace(viewer)
    const planted = await accept(owner.as(undefined), (await invite(trap, email)).token, "Planted")
    const thief = owner.as(planted.apiKey!.secret)

    const { token } = await invite(company, email, "owner")
    const real = await accept(owner.as(undefined), token, "The CEO")
    assert.notStrictEqual(real.person.id, planted.person.id)
    assert.isNotNull(real.apiKey)
    assert.strictEqual((await company.as(real.apiKey!.secret).get<Workspace>("")).role, "owner")
    await thief.in(company.workspace).refuse("404 workspace", "GET", "")
    assert.deepStrictEqual(await workspacesOf(thief), [trap.workspace])
  })

  test("nobody is joined to a workspace without their own credential", async (owner) => {
    const known = await join(await newWorkspace(owner), "viewer")
    const me = await known.get<Extract<Me, { kind: "user" }>>("/v1/me")
    const stranger = await newWorkspace(await join(await newWorkspace(owner), "viewer"))
    const { token } = await invite(stranger, me.email)
    const joined = await accept(owner.as(undefined), token, "Made up")
    assert.notInclude(JSON.stringify(joined), me.id)
    assert.deepStrictEqual([joined.person.name, joined.person.email], ["Made up", me.email])
    assert.notInclude(await memberIds(stranger), me.id)
    assert.notInclude(await workspacesOf(known), stranger.workspace)
  })

  test("whoever has proven an address joins with a credential of their own alone", async (owner) => {
    const me = await owner.get<Extract<Me, { kind: "user" }>>("/v1/me")
    const stranger = await newWorkspace(await join(await newWorkspace(owner), "viewer"))
    const { id, token } = await invite(stranger, me.email)
    const json = { token, name: "Made up" }
    const refused = await owner.as(undefined).send("POST", "/v1/invites/accept", { json })
    assert.strictEqual(refusal(refused), "409 sign_in_required")
    for (const own of [me.id, me.name]) assert.notInclude(refused.text, own)
    assert.notInclude(await memberIds(stranger), me.id)
    const { invites } = await stranger.get<{ invites: ReadonlyArray<Invite> }>("invites")
    assert.strictEqual(invites.find((invite) => invite.id === id)?.status, "pending")
    const joined = await accept(owner, token)
    assert.deepStrictEqual([joined.person.id, joined.person.name, joined.apiKey], [me.id, me.name, null])
    assert.include(await memberIds(stranger), me.id)
  })
})

onEachServer("What ends with a member", (test) => {
  test("the invites that they made and that are pending", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const pending = await invite(admin, newEmail())
    const others = await invite(workspace, newEmail())
    const used = await invite(admin, newEmail())
    await accept(owner.as(undefined), used.token)
    await workspace.post(`members/${admin.id}/deactivate`, undefined, 200)
    const { invites } = await workspace.get<{ invites: ReadonlyArray<Invite> }>("invites")
    const statusOf = ({ id }: NewInvite) => invites.find((invite) => invite.id === id)?.status
    assert.deepStrictEqual([pending, others, used].map(statusOf), ["revoked", "pending", "accepted"])
    await owner.as(undefined).refuse("404 invite", "POST", "/v1/invites/accept", { token: pending.token, name: "Sam" })
  })

  test("the account API keys that they made, and what was made with these", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const key = await accountKey(admin, "admin")
    const ofKey = await accountKey(key, "member")
    const invited = await invite(key, newEmail())
    const mine = await invite(admin, newEmail())
    await registerAgent(admin)
    const others = await accountKey(workspace, "member")
    const { ended } = await workspace.post<DeactivatedMember>(`members/${admin.id}/deactivate`, undefined, 200)
    assert.sameMembers(
      ended.accountApiKeys.map(({ id }) => id),
      [key.id, ofKey.id]
    )
    assert.sameDeepMembers<unknown>(
      [...ended.invites],
      [invited, mine].map(({ email, id }) => ({ id, email }))
    )
    assert.deepStrictEqual([ended.agentSignIns, ended.runs], [1, 0])
    await key.refuse("401", "GET", "members")
    await ofKey.refuse("401", "GET", "members")
    await others.get("members")
    await owner.as(undefined).refuse("404 invite", "POST", "/v1/invites/accept", { token: invited.token, name: "Sam" })
  })

  test("no account API key, where they are to be kept", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const key = await accountKey(admin, "member")
    await workspace.refuse("400 accountApiKeys", "POST", `members/${admin.id}/deactivate`, { accountApiKeys: "all" })
    const keep = { accountApiKeys: "keep" }
    const { ended } = await workspace.post<DeactivatedMember>(`members/${admin.id}/deactivate`, keep, 200)
    assert.deepStrictEqual(ended, { accountApiKeys: [], invites: [], agentSignIns: 0, runs: 0 })
    await key.get("members")
  })

  test("what gives more than their role, when that is lowered", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const [key, less] = [await accountKey(admin, "admin"), await accountKey(admin, "member")]
    const [ofKey, lessOfKey] = [await accountKey(key, "admin"), await accountKey(key, "member")]
    const invited = await invite(key, newEmail())
    const [asAdmin, asMember] = [await invite(admin, newEmail(), "admin"), await invite(admin, newEmail(), "member")]
    const others = await accountKey(workspace, "admin")
    // Who rises loses nothing.
    await workspace.patch(`members/${admin.id}`, { role: "owner" })
    await workspace.patch(`members/${admin.id}`, { role: "admin" })
    await key.get("members")
    await workspace.patch(`members/${admin.id}`, { role: "member" })
    for (const ended of [key, ofKey, lessOfKey]) await ended.refuse("401", "GET", "members")
    for (const kept of [less, others]) await kept.get("members")
    const { invites } = await workspace.get<{ invites: ReadonlyArray<Invite> }>("invites")
    const statusOf = ({ id }: NewInvite) => invites.find((invite) => invite.id === id)?.status
    assert.deepStrictEqual([invited, asAdmin, asMember].map(statusOf), ["revoked", "revoked", "pending"])
    const { entries } = await workspace.get<AuditPage>("audit")
    const subjects = (action: string) => entries.filter((entry) => entry.action === action).map((one) => one.subject.id)
    assert.sameMembers(
      subjects("key_revoked"),
      [key, ofKey, lessOfKey].map(({ id }) => id)
    )
    assert.sameMembers(subjects("invite_revoked"), [invited.id, asAdmin.id])
    // A viewer keeps nothing of a member.
    await workspace.patch(`members/${admin.id}`, { role: "viewer" })
    await less.refuse("401", "GET", "members")
    await others.get("members")
  })

  test("no account API key above their new role, where they are to be kept", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await join(workspace, "admin")
    const key = await accountKey(admin, "admin")
    await workspace.refuse("400 accountApiKeys", "PATCH", `members/${admin.id}`, {
      role: "viewer",
      accountApiKeys: "all"
    })
    await workspace.patch(`members/${admin.id}`, { role: "viewer", accountApiKeys: "keep" })
    await key.get("members")
  })

  test("the sign-ins of their agents, also after they come back", async (owner) => {
    const workspace = await newWorkspace(owner)
    const member = await join(workspace, "member")
    const agent = await registerAgent(member)
    const asAgent = workspace.as(agent.access_token)
    await asAgent.get("/agent/v1/me")
    const { ended } = await workspace.post<DeactivatedMember>(`members/${member.id}/deactivate`, undefined, 200)
    assert.strictEqual(ended.agentSignIns, 1)
    await asAgent.refuse("401", "GET", "/agent/v1/me")
    await workspace.post(`members/${member.id}/reactivate`, undefined, 200)
    await asAgent.refuse("401", "GET", "/agent/v1/me")
    assert.strictEqual((await refresh(workspace, agent)).status, 400)
    await asAgent.as((await registerAgent(member)).access_token).get("/agent/v1/me")
  })

  const take = (lease: Http, semaphore: string) =>
    lease.send("POST", `semaphores/${semaphore}/leases`, { json: { capacity: 1 } })

  test("the runs that they publish, with their leases", async (owner) => {
    const workspace = await newDeployment(owner)
    const member = await join(workspace, "member")
    const semaphore = unique("semaphore")
    const { number, semaphores } = await startRun(member)
    const others = await startRun(workspace)
    const lease = workspace.as(semaphores.token)
    assert.strictEqual((await take(lease, semaphore)).status, 201)
    assert.strictEqual((await take(workspace.as(others.semaphores.token), semaphore)).status, 409)
    const left = await workspace.post<DeactivatedMember>(`members/${member.id}/deactivate`, undefined, 200)
    assert.strictEqual(left.ended.runs, 1)
    const run = await workspace.get<TestRun>(`test-runs/${number}`)
    assert.deepStrictEqual([run.state, run.result], ["interrupted", null])
    assert.isNotNull(run.finishedAt)
    assert.strictEqual((await take(lease, semaphore)).status, 401)
    assert.strictEqual((await take(workspace.as(others.semaphores.token), semaphore)).status, 201)
    assert.strictEqual((await workspace.get<TestRun>(`test-runs/${others.number}`)).state, "running")
    const { events } = await workspace.get<{
      events: ReadonlyArray<{ kind: string; actor: { id?: string }; subject: { label: string } }>
    }>("events")
    const ended = events.filter(({ kind }) => kind === "run_interrupted").map(({ subject }) => subject.label)
    assert.deepStrictEqual(ended, [`Run ${number}`])
  })

  test("the retries that they publish, with their leases", async (owner) => {
    const workspace = await newDeployment(owner)
    const member = await join(workspace, "member")
    const { number } = await startRun(workspace)
    await finishRun(workspace, number, { tests: [report("a", { attempt: attempt("failed") })] })
    const { git, machine } = runOf()
    const { retry, semaphores } = await member.post<StartedRetry>(`test-runs/${number}/retries`, {
      passes: 1,
      baseUrl: null,
      git,
      machine
    })
    const lease = workspace.as(semaphores.token)
    const semaphore = unique("semaphore")
    assert.strictEqual((await take(lease, semaphore)).status, 201)
    await workspace.post(`members/${member.id}/deactivate`, undefined, 200)
    assert.strictEqual((await take(lease, semaphore)).status, 401)
    const run = await workspace.get<TestRun>(`test-runs/${number}`)
    assert.deepStrictEqual(
      run.retries.map((entry) => [entry.number, entry.state]),
      [[retry, "interrupted"]]
    )
    assert.strictEqual(run.state, "finished")
    const { semaphores: listed } = await workspace.get<{
      semaphores: ReadonlyArray<{ holders: ReadonlyArray<unknown> }>
    }>("semaphores")
    assert.deepStrictEqual(
      listed.flatMap(({ holders }) => holders),
      []
    )
    await workspace.post(`test-runs/${number}/retries`, { passes: 1, baseUrl: null, git, machine })
  })

  test("keys of their own stay, for their other workspaces", async (owner) => {
    const workspace = await newWorkspace(owner)
    const member = await join(workspace, "member")
    const elsewhere = await newWorkspace(member)
    const { secret } = await member.post<NewApiKey>("/v1/api-keys", { name: "laptop" }, 200)
    await workspace.post(`members/${member.id}/deactivate`, undefined, 200)
    await workspace.as(secret).refuse("404 workspace", "GET", "members")
    await elsewhere.as(secret).get("members")
  })
})
