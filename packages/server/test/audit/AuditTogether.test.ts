import type { AuditEntry } from "@delivery/domain/audit/Audit"
import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import type { SignedIn } from "@delivery/domain/auth/Session"
import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { askForAccess, decide } from "../agents/OAuthScene.ts"
import { allowLogin, decideLogin, redeemLogin, startLogin } from "../auth/LoginScene.ts"
import { accountKeyOf, inviteOf, keyOf } from "../identity/Keys.ts"
import { layerPostgresAt, makeDatabase, query } from "../support/Databases.ts"
import {
  accept,
  type Answer,
  type Http,
  join,
  newDeployment,
  newLink,
  owner as ownerOf,
  registerAgent,
  signIn,
  unique
} from "../support/Http.ts"
import { layerPostgresServer } from "../support/Servers.ts"

/** What is told and its entry are stored together: neither is there without the other (docs/contract.md, Audit). */

const newEmail = () => `${unique("together")}@example.com`

const sessionIdOf = async (session: Http) => (await session.get<SignedIn>("/auth/v1/session")).session.id

type Change = readonly [action: AuditAction, send: () => Promise<Answer>]

/** One change for each action that the audit tells of credentials, members and secrets, each ready to be made. */
const changesIn = async (workspace: Http): Promise<ReadonlyArray<Change>> => {
  const person = await join(workspace, "owner")
  const visitor = workspace.as(undefined)
  const post =
    (path: string, json?: unknown, by: Http = person) =>
    () =>
      by.send("POST", path, { json })
  const newMember = async () => (await accept(workspace, "viewer", newEmail())).person.id
  const [raised, deactivated, inactive] = [await newMember(), await newMember(), await newMember()]
  await workspace.post(`members/${inactive}/deactivate`, undefined, 200)
  const [lost, reported] = [await keyOf(person), await keyOf(person)]
  const [account, blocked, unblocked] = [
    await accountKeyOf(person),
    await accountKeyOf(person),
    await accountKeyOf(person)
  ]
  await workspace.post(`credentials/${unblocked.id}/block`, undefined, 200)
  const { agent } = await registerAgent(person)
  const accepted = await person.post<NewInvite>("invites", { email: newEmail(), role: "viewer" })
  const consenting = await signIn(workspace, person.id)
  const [proving, ending, leaving] = [
    await signIn(workspace, person.id),
    await signIn(workspace, person.id),
    await signIn(workspace, person.id)
  ]
  const [link, proof] = [await newLink(workspace, person.id), await newLink(workspace, person.id)]
  const [allowed, denied] = [await askForAccess(workspace), await askForAccess(workspace)]
  const [allowedLogin, deniedLogin, fetched] = [
    await startLogin(workspace),
    await startLogin(workspace),
    await startLogin(workspace)
  ]
  const fetching = await allowLogin(consenting, fetched)
  const endingId = await sessionIdOf(ending)
  await person.post("products/shop/secrets", { name: "READ", values: { staging: "value" } })
  const tokens = "deployments/shop/staging/tokens"
  const newToken = () => person.post<NewDeploymentToken>(tokens, { name: "product" })
  const [reading, rotating, revoking, foundToken] = [
    await newToken(),
    await newToken(),
    await newToken(),
    await newToken()
  ]
  const product = person.as(reading.token)
  return [
    ["key_created", post("/v1/api-keys", { name: "made" })],
    ["key_revoked", post(`/v1/api-keys/${lost.id}/revoke`)],
    ["key_created", post("account-api-keys", { name: "made", role: "viewer" })],
    ["key_revoked", post(`account-api-keys/${account.id}/revoke`)],
    ["key_reported", post("/v1/tokens/report", { token: reported.secret }, visitor)],
    ["invite_created", post("invites", { email: newEmail(), role: "viewer" })],
    ["invite_revoked", post(`invites/${(await inviteOf(person)).id}/revoke`)],
    ["member_joined", post("/v1/invites/accept", { token: accepted.token, name: "Sam" }, visitor)],
    ["member_updated", () => person.send("PATCH", `members/${raised}`, { json: { role: "member" } })],
    ["member_deactivated", post(`members/${deactivated}/deactivate`)],
    ["member_reactivated", post(`members/${inactive}/reactivate`)],
    ["credential_blocked", post(`credentials/${blocked.id}/block`)],
    ["credential_unblocked", post(`credentials/${unblocked.id}/unblock`)],
    ["agent_revoked", post(`agents/${agent}/revoke`)],
    ["agent_registered", post("agents/register", { client: "codex", computer: "laptop" })],
    ["agent_allowed", () => decide(consenting, allowed, { allow: true, workspace: workspace.workspace })],
    ["agent_denied", () => decide(consenting, denied, { allow: false })],
    ["login_allowed", () => decideLogin(consenting, allowedLogin.id, { allow: true })],
    ["login_denied", () => decideLogin(consenting, deniedLogin.id, { allow: false })],
    ["key_created", () => redeemLogin(workspace, fetched.id, fetching)],
    ["signed_in", post("/auth/v1/links/consume", { token: link }, visitor)],
    ["session_ended", () => leaving.send("DELETE", `/auth/v1/sessions/${endingId}`)],
    ["signed_out", () => leaving.send("DELETE", "/auth/v1/session")],
    ["session_proved", post("/auth/v1/sudo", { token: proof }, proving)],
    ["workspace_updated", () => person.send("PATCH", "", { json: { name: "Renamed" } })],
    ["secret_created", post("products/shop/secrets", { name: "MADE", values: { staging: "value" } })],
    ["secret_read", () => person.send("GET", "products/shop/secrets/READ")],
    ["token_created", post(tokens, { name: "product" })],
    ["token_rotated", post(`${tokens}/${rotating.id}/rotate`)],
    ["token_revoked", post(`${tokens}/${revoking.id}/revoke`)],
    ["token_reported", post("/v1/tokens/report", { token: foundToken.token }, visitor)],
    ["secrets_loaded", () => product.send("GET", "/deploy/v1/secrets")],
    ["secret_read", () => product.send("GET", "/deploy/v1/secrets/READ")],
    ["audit_exported", () => person.send("GET", "audit", { headers: { accept: "application/x-ndjson" } })]
  ]
}

/** Everything that is stored, but what was counted and when something was last used. */
const stateOf = async (url: string): Promise<ReadonlyArray<object>> => {
  const tables = (await query(
    url,
    "select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'throttles' order by 1"
  )) as ReadonlyArray<{ readonly name: string }>
  const rowsOf = ({ name }: { readonly name: string }) => `select '${name}' as name, (
    select jsonb_agg(row order by row::text)
    from (select to_jsonb(t) - 'last_used_at' - 'last_used_from' - 'last_seen_at' as row from "${name}" t) r) as rows`
  return query(url, tables.map(rowsOf).join(" union all "))
}

it.live("a change is not made where its entry cannot be stored, and has one where it is made", () =>
  Effect.gen(function* () {
    const { url } = yield* makeDatabase
    const context = yield* Layer.build(layerPostgresServer({}, layerPostgresAt(url)))
    const owner = yield* Effect.provideContext(ownerOf, context)
    yield* Effect.promise(async () => {
      const workspace = await newDeployment(owner)
      const changes = await changesIn(workspace)
      await query(
        url,
        `create function refuse_entry() returns trigger language plpgsql as
          $$ begin raise exception 'No entry is stored.'; end $$`
      )
      await query(
        url,
        "create trigger refuse before insert on audit_entries for each row execute function refuse_entry()"
      )
      const before = await stateOf(url)
      for (const [action, send] of changes) {
        const { status, text } = await send()
        assert.strictEqual(status, 500, `${action}: ${text}`)
        assert.deepStrictEqual(await stateOf(url), before, action)
      }
      await query(url, "drop trigger refuse on audit_entries")
      const made: Array<readonly [action: AuditAction, requestId: string]> = []
      for (const [action, send] of changes) {
        const { headers, status, text } = await send()
        assert.isBelow(status, 300, `${action}: ${text}`)
        made.push([action, String(headers["x-request-id"])])
      }
      const lines = await workspace.send("GET", "audit", { headers: { accept: "application/x-ndjson" } })
      const entries = lines.text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as AuditEntry)
      for (const [action, requestId] of made) {
        const found = entries.filter((entry) => entry.requestId === requestId).map((entry) => entry.action)
        assert.include(found, action)
      }
    })
  })
)
