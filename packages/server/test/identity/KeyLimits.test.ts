import type { NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { ApiKey, NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { SignedIn } from "@delivery/domain/auth/Session"
import type { Member } from "@delivery/domain/identity/Member"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert } from "vitest"
import {
  type Http,
  join,
  newDeployment,
  newWorkspace,
  onEachServer,
  registerAgent,
  signIn,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"

/** Scopes and the end of API keys (docs/contract.md, API keys). The matrix of roles has every endpoint with every scope. */

const make = (by: Http, fields: object) =>
  by
    .post<NewApiKey>("/v1/api-keys", { name: "made", ...fields }, 200)
    .then((key) => ({ ...by.as(key.secret), made: key }))

const own = (by: Http) => by.get<ReadonlyArray<ApiKey>>("/v1/api-keys")

onEachServer("the scopes of keys", (test) => {
  test("are shown, each once, and hold wherever the key is used", async (owner) => {
    const workspace = await newDeployment(owner)
    const reader = await make(await join(workspace, "owner"), { scopes: ["vault", "read", "vault"] })
    assert.deepStrictEqual(reader.made.scopes, ["read", "vault"])
    assert.deepStrictEqual((await own(reader))[0]?.scopes, ["read", "vault"])
    await reader.get("products")
    await reader.get("vault")
    await reader.refuse("403 scope_missing", "POST", "products", { slug: "a", name: "A", type: "app" })
    await reader.refuse("403 scope_missing", "POST", "/v1/workspaces", { slug: "a", name: "A" })
    // What is wrong with the request, or not there, comes first.
    await reader.refuse("400 name", "PATCH", "products/shop", { name: "" })
    await reader.in("none").refuse("404 workspace", "PATCH", "products/shop", { name: "A" })
    await reader.as("ctk_no").refuse("401", "PATCH", "products/shop", { name: "A" })
  })

  test("must be known, and at least one", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "member")
    await sam.refuse("400 scopes", "POST", "/v1/api-keys", { name: "a", scopes: [] })
    await sam.refuse("400 scopes.0", "POST", "/v1/api-keys", { name: "a", scopes: ["all"] })
    await sam.refuse("400 scopes", "POST", "/v1/api-keys", { name: "a", scopes: "read" })
    await workspace.refuse("400 scopes", "POST", "account-api-keys", { name: "a", role: "viewer", scopes: [] })
    assert.isNull((await make(sam, { scopes: null })).made.scopes)
  })

  test("are never more than those of the key that makes them", async (owner) => {
    const workspace = await newWorkspace(owner)
    const admin = await make(await join(workspace, "admin"), { scopes: ["admin", "read"] })
    const account = { name: "ci", role: "viewer" }
    for (const scopes of [undefined, null, ["write"], ["read", "vault"]]) {
      await admin.refuse("403 scope_missing", "POST", "/v1/api-keys", { name: "more", scopes })
      await admin.refuse("403 scope_missing", "POST", "account-api-keys", { ...account, scopes })
    }
    assert.deepStrictEqual((await make(admin, { scopes: ["read"] })).made.scopes, ["read"])
    const made = await admin.post<NewAccountApiKey>("account-api-keys", { ...account, scopes: ["admin", "read"] })
    assert.deepStrictEqual(made.scopes, ["read", "admin"])
  })

  test("let nobody be invited, who would have more", async (owner) => {
    const workspace = await newWorkspace(owner)
    const ofOwner = await join(workspace, "owner")
    const limits = { scopes: ["admin", "read", "write", "vault", "publish"] }
    const account = await workspace.post<NewAccountApiKey>("account-api-keys", { name: "ci", role: "admin", ...limits })
    const email = `${unique("mallory")}@example.com`
    for (const limited of [await make(ofOwner, limits), workspace.as(account.secret)]) {
      for (const role of ["viewer", "admin"]) {
        await limited.refuse("403 scope_missing", "POST", "invites", { email, role })
      }
    }
    await ofOwner.post("invites", { email, role: "viewer" })
  })

  test("give no member a higher role, nor access again, which they have with all scopes", async (owner) => {
    const workspace = await newWorkspace(owner)
    const ofOwner = await join(workspace, "owner")
    const limits = { scopes: ["admin", "read", "write", "vault", "publish"] }
    const account = await workspace.post<NewAccountApiKey>("account-api-keys", { name: "ci", role: "admin", ...limits })
    for (const limited of [await make(ofOwner, limits), workspace.as(account.secret)]) {
      await refuseAccess(limited, workspace, "403 scope_missing")
    }
  })

  test("narrow the sign-ins of agents that are made with the key", async (owner) => {
    const sam = await join(await newWorkspace(owner), "member")
    const reads = await registerAgent(await make(sam, { scopes: ["admin", "read"] }))
    assert.strictEqual(reads.scope, "read")
    await sam.as(reads.access_token).get("/agent/v1/tickets")
    await sam
      .as(reads.access_token)
      .refuse("403 insufficient_scope", "POST", "/agent/v1/tickets", { team: "A", title: "a" })
    assert.strictEqual(
      (await registerAgent(await make(sam, { scopes: ["admin", "read", "write"] }))).scope,
      "read write"
    )
  })
})

/** Asserts that the key raises and reactivates nobody, and lowers and deactivates, while one without limits does all of it. */
const refuseAccess = async (limited: Http, unlimited: Http, refusal: string) => {
  const { id } = await join(unlimited, "member")
  const member = async () =>
    (await unlimited.get<{ members: ReadonlyArray<Member> }>("members")).members.find((one) => one.id === id)!
  await limited.refuse(refusal, "PATCH", `members/${id}`, { role: "admin" })
  await limited.patch(`members/${id}`, { role: "member" })
  await limited.patch(`members/${id}`, { role: "viewer" })
  await limited.refuse(refusal, "PATCH", `members/${id}`, { role: "member" })
  await limited.post(`members/${id}/reactivate`, undefined, 200)
  await limited.post(`members/${id}/deactivate`, undefined, 200)
  await limited.refuse(refusal, "POST", `members/${id}/reactivate`)
  await limited.refuse(refusal, "PATCH", `members/${id}`, { role: "admin" })
  assert.deepInclude(await member(), { role: "viewer", active: false })
  await unlimited.patch(`members/${id}`, { role: "member" })
  await unlimited.post(`members/${id}/reactivate`, undefined, 200)
  assert.deepInclude(await member(), { role: "member", active: true })
}

const day = 24 * 60 * 60 * 1000
const inDays = (now: number, days: number) => timestamp(now + days * day)

withClockOnEachServer("the end of keys", (test) => {
  const nowOf = async (by: Http) =>
    Date.parse((await make(await join(await newWorkspace(by), "viewer"), {}).then(own))[0]!.createdAt)

  test("is shown, soon and when it is there", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "admin")
    const now = await nowOf(owner)
    const key = await make(sam, { expiresAt: inDays(now, 8) })
    const account = await workspace.post<NewAccountApiKey>("account-api-keys", {
      name: "ci",
      role: "viewer",
      expiresAt: inDays(now, 8).replace("Z", "+00:00")
    })
    assert.deepStrictEqual([key.made.expiresAt, account.expiresAt], [inDays(now, 8), inDays(now, 8)])
    const soon = async () => [
      (await own(sam)).find(({ id }) => id === key.made.id)?.expiresSoon,
      (await workspace.get<{ accountApiKeys: ReadonlyArray<ApiKey> }>("account-api-keys")).accountApiKeys[0]
        ?.expiresSoon
    ]
    assert.deepStrictEqual(await soon(), [false, false])
    advance("1 day")
    assert.deepStrictEqual(await soon(), [true, true])
    advance(7 * day - 1)
    await key.get("/v1/me")
    await workspace.as(account.secret).get("products")
    advance("1 millis")
    await key.refuse("401", "GET", "/v1/me")
    await workspace.as(account.secret).refuse("401", "GET", "products")
    assert.deepStrictEqual(await soon(), [undefined, undefined])
    await sam.refuse("404 API key", "POST", `/v1/api-keys/${key.made.id}/revoke`)
  })

  test("is in the future, and at most 2 years ahead", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "viewer")
    const now = await nowOf(owner)
    const most = new Date(now)
    most.setUTCFullYear(most.getUTCFullYear() + 2)
    for (const expiresAt of [timestamp(now), timestamp(now - 1), timestamp(most.getTime() + 1), "tomorrow", 7]) {
      await sam.refuse("400 expiresAt", "POST", "/v1/api-keys", { name: "a", expiresAt })
      await workspace.refuse("400 expiresAt", "POST", "account-api-keys", { name: "a", role: "viewer", expiresAt })
    }
    assert.strictEqual((await make(sam, { expiresAt: most.toISOString() })).made.expiresAt, most.toISOString())
    assert.isNull((await make(sam, { expiresAt: null })).made.expiresAt)
  })

  test("lets nobody be invited, who would stay", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "owner")
    const expiresAt = inDays(await nowOf(owner), 30)
    const account = await workspace.post<NewAccountApiKey>("account-api-keys", { name: "ci", role: "admin", expiresAt })
    const key = await make(sam, { expiresAt })
    const email = `${unique("mallory")}@example.com`
    for (const expiring of [key, workspace.as(account.secret), await make(key, {})]) {
      await expiring.refuse("403 key_expires", "POST", "invites", { email, role: "viewer" })
    }
    advance("29 days")
    await key.refuse("403 key_expires", "POST", "invites", { email, role: "viewer" })
    const { invites } = await workspace.get<{ invites: ReadonlyArray<{ email: string }> }>("invites")
    assert.notInclude(
      invites.map((invite) => invite.email),
      email
    )
    await sam.post("invites", { email, role: "viewer" })
  })

  test("gives no member a higher role, nor access again, which would stay", async (owner) => {
    const workspace = await newWorkspace(owner)
    const ofOwner = await join(workspace, "owner")
    const expiresAt = inDays(await nowOf(owner), 30)
    const account = await workspace.post<NewAccountApiKey>("account-api-keys", { name: "ci", role: "admin", expiresAt })
    const key = await make(ofOwner, { expiresAt })
    for (const expiring of [key, workspace.as(account.secret), await make(key, {})]) {
      await refuseAccess(expiring, workspace, "403 key_expires")
    }
    const sam = await join(workspace, "admin")
    await key.refuse("403 key_expires", "PATCH", `members/${sam.id}`, { role: "owner" })
    await ofOwner.patch(`members/${sam.id}`, { role: "owner" })
  })

  test("unblocks nothing that goes on after it", async (owner) => {
    const workspace = await newWorkspace(owner)
    const sam = await join(workspace, "member")
    const now = await nowOf(owner)
    const key = await make(workspace, { expiresAt: inDays(now, 30) })
    const session = await signIn(sam, sam.id)
    const ids = {
      sooner: (await make(sam, { expiresAt: inDays(now, 30) })).made.id,
      later: (await make(sam, { expiresAt: inDays(now, 31) })).made.id,
      never: (await make(sam, {})).made.id,
      session: (await session.get<SignedIn>("/auth/v1/session")).session.id,
      agent: (await registerAgent(sam)).clientId
    }
    for (const id of Object.values(ids)) await key.post(`credentials/${id}/block`, undefined, 200)
    const { sooner, ...others } = ids
    for (const id of Object.values(others)) await key.refuse("403 key_expires", "POST", `credentials/${id}/unblock`)
    await key.post(`credentials/${sooner}/unblock`, undefined, 200)
    for (const id of Object.values(others)) await workspace.post(`credentials/${id}/unblock`, undefined, 200)
  })

  test("leaves room for another key", async (owner, advance) => {
    const sam = await join(await newWorkspace(owner), "viewer")
    const expiresAt = inDays(await nowOf(owner), 1)
    for (let i = 0; i < 19; i++) await make(sam, { expiresAt })
    await sam.refuse("409 too_many_keys", "POST", "/v1/api-keys", { name: "a" })
    advance("1 day")
    await make(sam, {})
    assert.lengthOf(await own(sam), 2)
  })
})
