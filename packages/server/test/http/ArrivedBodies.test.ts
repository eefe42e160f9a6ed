import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import { once } from "node:events"
import { assert } from "vitest"
import { allow, askForAccess, newClient } from "../agents/OAuthScene.ts"
import {
  answerOf,
  cookieOf,
  finishOf,
  type Http,
  join,
  newDeployment,
  onEachServer,
  refusal,
  registerAgent,
  signIn,
  startRun,
  teamKey,
  unique
} from "../support/Http.ts"

/** Access that ends while a body arrives (docs/contract.md, Order of checks), over a real socket. */

/** A request whose headers and first byte have been sent, and what sends the rest. */
const begin = async (caller: Http, method: string, path: string, json: unknown, chunked = false) => {
  const text = JSON.stringify(json)
  const { key } = caller
  const headers = {
    "content-type": "application/json",
    ...(chunked ? { "transfer-encoding": "chunked" } : { "content-length": String(Buffer.byteLength(text)) }),
    expect: "100-continue",
    ...(key?.startsWith("wtk_") ? cookieOf(key) : {})
  }
  const outgoing = caller.open(method, path, headers)
  const answer = answerOf(outgoing)
  outgoing.flushHeaders()
  await once(outgoing, "continue")
  outgoing.write(text.slice(0, 1))
  return async () => {
    outgoing.end(text.slice(1))
    return refusal(await answer)
  }
}

onEachServer("A body that arrives after its caller's access has ended", (test) => {
  test("makes nothing with a session that ended", async (owner) => {
    const workspace = await newDeployment(owner)
    const person = await join(workspace, "admin")
    const session = await signIn(workspace, person.id)
    const asked = await askForAccess(session)
    const consent = { allow: true, workspace: session.workspace }
    const rests = [
      await begin(session, "POST", "/v1/api-keys", { name: "kept" }),
      await begin(session, "POST", "account-api-keys", { name: "kept", role: "admin" }),
      await begin(session, "POST", "/auth/v1/passkeys/verify", { name: "Kept" }),
      await begin(session, "POST", `/auth/v1/authorizations/${asked}`, consent),
      await begin(session, "POST", "products", { slug: unique("kept"), name: "Kept", type: "api" })
    ]
    await session.delete("/auth/v1/session")
    for (const rest of rests) assert.strictEqual(await rest(), "401")
    assert.notInclude(JSON.stringify(await person.get<unknown>("/v1/api-keys")), "kept")
  })

  test("changes nothing with a key that is revoked or blocked", async (owner) => {
    const workspace = await newDeployment(owner)
    const person = await join(workspace, "admin")
    const [revoked, blocked] = [
      await person.post<NewApiKey>("/v1/api-keys", { name: "revoked" }, 200),
      await person.post<NewApiKey>("/v1/api-keys", { name: "blocked" }, 200)
    ]
    const ofRevoked = await begin(workspace.as(revoked.secret), "PATCH", "deployments/shop/staging", { version: "2" })
    const ofBlocked = await begin(workspace.as(blocked.secret), "PATCH", "deployments/shop/staging", { version: "3" })
    await person.post(`/v1/api-keys/${revoked.id}/revoke`, undefined, 200)
    await workspace.post(`credentials/${blocked.id}/block`, undefined, 200)
    assert.deepStrictEqual([await ofRevoked(), await ofBlocked()], ["401", "404 workspace"])
    assert.isNull((await workspace.get<{ version: string | null }>("deployments/shop/staging")).version)
  })

  test("does what the member's role allows by then, and nothing for who is none", async (owner) => {
    const workspace = await newDeployment(owner)
    const [demoted, gone] = [await join(workspace, "admin"), await join(workspace, "member")]
    const agent = await registerAgent(gone)
    const key = teamKey()
    await workspace.post("teams", { key, name: "Team" })
    const ofDemoted = await begin(demoted, "POST", "products", { slug: unique("late"), name: "Late", type: "api" })
    const allowed = await begin(demoted, "POST", "/v1/workspaces", { slug: unique("own"), name: "Own" })
    const ofGone = await begin(gone, "POST", "tickets", { team: key, title: "Late" })
    const ofAgent = await begin(workspace.as(agent.access_token), "POST", "/agent/v1/tickets", {
      team: key,
      title: "Late"
    })
    await workspace.patch(`members/${demoted.id}`, { role: "viewer" })
    await workspace.post(`members/${gone.id}/deactivate`, undefined, 200)
    assert.deepStrictEqual(
      [await ofDemoted(), await allowed(), await ofGone(), await ofAgent()],
      ["403 role_too_low", "201", "404 workspace", "401"]
    )
  })

  test("finishes no run, however large it is", async (owner) => {
    const workspace = await newDeployment(owner)
    const person = await join(workspace, "member")
    const key = await person.post<NewApiKey>("/v1/api-keys", { name: "ci" }, 200)
    const publisher = workspace.as(key.secret)
    const [small, large] = [await startRun(publisher), await startRun(publisher)]
    const rests = [
      await begin(publisher, "POST", `test-runs/${small.number}/finish`, finishOf()),
      await begin(publisher, "POST", `test-runs/${large.number}/finish`, finishOf(), true)
    ]
    await person.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
    for (const rest of rests) assert.strictEqual(await rest(), "401")
    for (const { number } of [small, large]) {
      assert.strictEqual((await workspace.get<{ state: string }>(`test-runs/${number}`)).state, "running")
    }
  })

  test("joins no workspace with a key that is revoked", async (owner) => {
    const workspace = await newDeployment(owner)
    const person = await join(workspace, "viewer")
    const key = await person.post<NewApiKey>("/v1/api-keys", { name: "late" }, 200)
    const client = newClient()
    const code = await allow(await signIn(workspace, person.id), client)
    const rest = await begin(workspace.as(key.secret), "POST", "/v1/invites/accept", { token: code, name: "Late" })
    await person.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
    assert.strictEqual(await rest(), "401")
  })
})
