import type { AuditEntry, AuditPage } from "@delivery/domain/audit/Audit"
import type { NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { ApiKey, NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import { assert } from "vitest"
import { allow, askForAccess, decide, exchange, newClient, signInByUrl } from "../agents/OAuthScene.ts"
import { allowLogin, startLogin } from "../auth/LoginScene.ts"
import {
  eventually,
  type Http,
  join,
  newDeployment,
  newLink,
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

/** What the audit tells of credentials that end, and of who ended them (docs/contract.md, Audit). */

const entriesOf = async (workspace: Http, query: string): Promise<ReadonlyArray<AuditEntry>> =>
  (await workspace.get<AuditPage>(`audit?${query}`)).entries

const reasonIn = ({ changes = [] }: AuditEntry) => changes.find(({ field }) => field === "reason")?.to

/** How the sign-ins of agents ended, oldest first. */
const endsIn = async (workspace: Http) =>
  (await entriesOf(workspace, "action=agent_sign_in_ended")).toReversed().map((entry) => ({
    id: entry.subject.id,
    label: entry.subject.label,
    actor: entry.actor.kind,
    reason: reasonIn(entry),
    credential: entry.credential?.kind
  }))

const report = async (http: Http, token: string) => {
  const answer = await http.as(undefined).send("POST", "/v1/tokens/report", { json: { token } })
  assert.strictEqual(answer.status, 204, answer.text)
}

onEachServer("The audit of agents' sign-ins", (test) => {
  test("tells each end, why, and with which credential", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const disconnected = await registerAgent(person)
    const form = { token: disconnected.refresh_token, client_id: disconnected.clientId }
    assert.strictEqual((await owner.as(undefined).send("POST", "/agent/oauth/revoke", { form })).status, 200)
    const reused = await registerAgent(person)
    const second = (await refresh(person, reused)).body
    await refresh(person, { ...reused, ...second })
    assert.strictEqual(refusal(await refresh(person, reused)), "400 invalid_grant")
    const replaced = await registerAgent(person)
    const key = await person.post<NewApiKey>("/v1/api-keys", { name: "agents" }, 200)
    const made = await registerAgent(workspace.as(key.secret))
    await person.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
    const reported = await registerAgent(person)
    await report(owner, reported.access_token)
    const revoked = await registerAgent(person)
    await person.post(`agents/${revoked.agent}/revoke`, undefined, 200)
    const last = await registerAgent(person)
    await workspace.post(`members/${person.id}/deactivate`, undefined, 200)
    const label = "Claude of Sam"
    assert.deepStrictEqual(await endsIn(workspace), [
      { id: disconnected.clientId, label, actor: "agent", reason: "revoked", credential: "agent" },
      { id: reused.clientId, label, actor: "agent", reason: "reused", credential: "agent" },
      { id: replaced.clientId, label, actor: "user", reason: "replaced", credential: "apiKey" },
      { id: made.clientId, label, actor: "user", reason: "maker_ended", credential: "apiKey" },
      { id: reported.clientId, label, actor: "agent", reason: "reported", credential: "report" },
      { id: revoked.clientId, label, actor: "user", reason: "agent_revoked", credential: "apiKey" },
      { id: last.clientId, label, actor: "user", reason: "member_deactivated", credential: "apiKey" }
    ])
    const [first] = (await entriesOf(workspace, `subject=${disconnected.clientId}`)).toReversed()
    assert.strictEqual(first!.credential!.lastFour, disconnected.refresh_token.slice(-4))
    assert.deepStrictEqual(await entriesOf(workspace, `subject=${unique("none")}`), [])
  })

  test("tells of an access token that its client ends alone, once", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const { access_token, clientId, refresh_token } = await registerAgent(person)
    const form = { token: access_token, client_id: clientId }
    for (const _ of [1, 2]) {
      assert.strictEqual((await owner.as(undefined).send("POST", "/agent/oauth/revoke", { form })).status, 200)
    }
    const entries = await entriesOf(workspace, `subject=${clientId}`)
    assert.deepStrictEqual(
      entries.map(({ action, actor, credential, subject }) => [action, actor.kind, subject.label, credential]),
      [
        [
          "agent_token_revoked",
          "agent",
          "Claude of Sam",
          { kind: "agent", id: clientId, lastFour: access_token.slice(-4) }
        ]
      ]
    )
    await owner.as(access_token).refuse("401", "GET", "/agent/v1/me")
    assert.strictEqual((await refresh(person, { clientId, refresh_token })).status, 200)
  })

  test("tells who let a client in by the server's URL, in which session, and who did not", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const session = await signIn(workspace, person.id)
    const lastFour = session.key!.slice(-4)
    const client = newClient()
    const code = await allow(session, client)
    assert.strictEqual((await exchange(owner, code, client)).status, 200)
    assert.strictEqual(refusal(await exchange(owner, code, client)), "400 invalid_grant")
    assert.strictEqual((await decide(session, await askForAccess(session), { allow: false })).status, 200)
    const told = (await entriesOf(workspace, `actor=${person.id}`)).slice(0, 3)
    assert.deepStrictEqual(
      told.map(({ action, credential, outcome, subject }) => [
        action,
        subject.label,
        outcome,
        credential?.kind,
        credential?.lastFour
      ]),
      [
        ["agent_denied", "Claude Code", "allowed", "session", lastFour],
        ["agent_registered", "Claude of Sam", "allowed", "session", lastFour],
        ["agent_allowed", "Claude Code", "allowed", "session", lastFour]
      ]
    )
    assert.deepStrictEqual(told[2]!.changes, [
      { field: "host", from: null, to: "localhost:53682" },
      { field: "scope", from: null, to: "read write" }
    ])
    const [ended] = await endsIn(workspace)
    assert.deepInclude(ended, { actor: "agent", reason: "reused" })
    assert.notMatch(JSON.stringify(await entriesOf(workspace, `actor=${person.id}`)), /tk_[0-9A-Za-z]{30}/)
  })

  test("ends them with the session that is blocked, at once", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const session = await signIn(workspace, person.id)
    const registered = await registerAgent(session)
    const client = newClient()
    const byUrl = (await exchange(owner, await allow(session, client), client)).body
    const { session: current } = await session.get<{ session: { id: string } }>("/auth/v1/session")
    await workspace.post(`credentials/${current.id}/block`, undefined, 200)
    await owner.as(registered.access_token).refuse("401", "GET", "/agent/v1/me")
    assert.strictEqual(refusal(await refresh(person, registered)), "401 invalid_client")
    const refreshed = await refresh(person, { clientId: client.clientId, refresh_token: byUrl.refresh_token })
    assert.strictEqual(refusal(refreshed), "401 invalid_client")
    // It is shown no workspace to let a client into.
    const asked = await askForAccess(session)
    const shown = await session.get<{ workspaces: ReadonlyArray<unknown> }>(`/auth/v1/authorizations/${asked}`)
    assert.deepStrictEqual(shown.workspaces, [])
    const refused = await decide(session, asked, { allow: true, workspace: workspace.workspace })
    assert.match(refusal(refused), /^404/)
    const [blocked] = await entriesOf(workspace, "action=credential_blocked")
    assert.strictEqual(blocked!.subject.label, "session of Sam")
    await workspace.post(`credentials/${current.id}/unblock`, undefined, 200)
    await owner.as(registered.access_token).send("GET", "/agent/v1/me")
  })

  test("names agents that are blocked by their person, as events do", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    await registerAgent(person, { computer: "desk" })
    await signInByUrl(person)
    const { credentials } = await workspace.get<{
      credentials: ReadonlyArray<{ id: string; kind: string; name: string }>
    }>("credentials")
    for (const { id, kind } of credentials) {
      if (kind === "agent") await workspace.post(`credentials/${id}/block`, undefined, 200)
    }
    const blocked = await entriesOf(workspace, "action=credential_blocked")
    assert.sameMembers(
      blocked.map(({ subject }) => subject.label),
      ["desk of Sam", "Claude of Sam"]
    )
  })
})

withClockOnEachServer("The audit of keys that expire", (test) => {
  test("tells each once, and ends what was made with it", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const { createdAt } = (await person.get<ReadonlyArray<ApiKey>>("/v1/api-keys"))[0]!
    const expiresAt = new Date(Date.parse(createdAt) + 3_600_000).toISOString()
    const key = await person.post<NewApiKey>("/v1/api-keys", { name: "brief", expiresAt }, 200)
    const agent = await registerAgent(workspace.as(key.secret))
    const account = await workspace
      .as(key.secret)
      .post<NewAccountApiKey>("account-api-keys", { name: "ci", role: "viewer" })
    advance("61 minutes")
    await workspace.as(key.secret).refuse("401", "GET", "/v1/me")
    // The round of the server is not this request's.
    const expired = await eventually(
      () => entriesOf(workspace, "action=key_expired"),
      (entries) => entries.length === 2
    )
    assert.sameDeepMembers<unknown>(
      expired.map(({ actor, address, changes, credential, subject }) => [
        actor.kind,
        address,
        changes,
        credential,
        subject.id
      ]),
      ["user", "apiKey"].map((kind) => [
        kind,
        null,
        [{ field: "expiresAt", from: null, to: expiresAt }],
        { kind: "server", id: "", lastFour: "" },
        kind === "user" ? key.id : account.id
      ])
    )
    const [ended] = await endsIn(workspace)
    assert.deepInclude(ended, { id: agent.clientId, reason: "maker_ended", credential: "server" })
    advance("10 minutes")
    await workspace.get("products")
    assert.lengthOf(await entriesOf(workspace, "action=key_expired"), 2)
  })
})

onEachServer("The audit of reported tokens", (test) => {
  test("says of each that it was a report, and not who has the token", async (owner) => {
    const workspace = await newDeployment(owner)
    const person = await join(workspace, "admin")
    const run = await startRun(person)
    const key = await person.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
    const session = await signIn(workspace, person.id)
    const link = await newLink(workspace, person.id)
    const email = `${unique("invited")}@example.com`
    const { token: invite } = await person.post<NewInvite & { token: string }>("invites", {
      email,
      role: "viewer",
      deliver: "link"
    })
    const { refresh_token } = await registerAgent(person)
    const client = newClient()
    const code = await allow(await signIn(workspace, person.id), client)
    const login = await startLogin(owner)
    const { code: loginCode = "" } = await allowLogin(await signIn(workspace, person.id), login)
    const tokens = [run.semaphores.token, key.secret, session.key!, link, invite, refresh_token, code, loginCode]
    const [before] = await entriesOf(workspace, "outcome=allowed")
    for (const token of tokens) await report(owner, token)
    const entries = (await entriesOf(workspace, "outcome=allowed")).filter(({ id }) => id > before!.id).toReversed()
    assert.deepStrictEqual(
      entries.map(({ action, credential, subject }) => [
        `${action} ${subject.label}`,
        credential?.kind,
        credential?.lastFour
      ]),
      [
        [`run_token_reported Run ${run.number}`, "report", tokens[0]!.slice(-4)],
        ["key_reported leaked", "report", tokens[1]!.slice(-4)],
        ["session_ended Unknown browser", "report", tokens[2]!.slice(-4)],
        ["sign_in_link_reported Sam", "report", tokens[3]!.slice(-4)],
        [`invite_revoked ${email}`, "report", tokens[4]!.slice(-4)],
        ["agent_sign_in_ended Claude of Sam", "report", tokens[5]!.slice(-4)],
        ["agent_code_reported Claude Code", "report", tokens[6]!.slice(-4)],
        ["login_code_reported delivery on laptop", "report", tokens[7]!.slice(-4)]
      ]
    )
    assert.deepStrictEqual([...new Set(entries.map(({ address }) => address))], ["127.0.0.1"])
    assert.strictEqual(refusal(await exchange(owner, code, client)), "400 invalid_grant")
    // A second report ends nothing, and tells nothing.
    for (const token of tokens) await report(owner, token)
    const [newest] = await entriesOf(workspace, "outcome=allowed")
    assert.strictEqual(newest!.id, entries.at(-1)!.id)
  })
})
