import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { Approval, ApprovalsPage } from "@delivery/domain/catalog/Approval"
import type { Environment } from "@delivery/domain/catalog/Environment"
import type { NewAccountApiKey } from "@delivery/domain/identity/AccountApiKey"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { Me } from "@delivery/domain/identity/Me"
import { assert } from "vitest"
import {
  accountKey,
  assertId,
  assertTimestamp,
  type Http,
  join,
  newDeployment,
  onEachServer,
  refusal,
  registerAgent,
  signIn
} from "../support/Http.ts"

/** Approvals of writes by a second person (docs/contract.md, Approvals). */

const body = { environment: "staging", reason: "Rotate a key", minutes: 30 }

onEachServer("approvals", (test) => {
  /** A workspace whose staging needs approvals, with a value there. */
  const guarded = async (owner: Http) => {
    const workspace = await newDeployment(owner)
    await workspace.post("products/shop/secrets", { name: "A", values: { staging: "1" } })
    await workspace.patch("environments/staging", { approvals: true })
    return workspace
  }

  const write = (by: Http) => by.send("PATCH", "products/shop/secrets/A", { json: { values: { staging: "2" } } })

  const approve = (by: Http, { id }: Pick<Approval, "id">) => by.send("POST", `approvals/${id}/approve`)

  const userOf = async (by: Http) => {
    const { email, id, kind, name } = (await by.get<Me>("/v1/me")) as Extract<Me, { readonly kind: "user" }>
    return { kind, id, name, email }
  }

  test("are asked for and decided, and answered as GET answers them", async (owner) => {
    const workspace = await guarded(owner)
    const [member, viewer] = [await join(workspace, "member"), await join(workspace, "viewer")]
    const {
      archived,
      class: environmentClass,
      emoji,
      id,
      name,
      slug
    } = await workspace.get<Environment>("environments/staging")
    const asked = await member.post<Approval>("approvals", { ...body, reason: " Rotate a key ", unknown: true })
    const pending: unknown = {
      id: asked.id,
      environment: { id, slug, name, class: environmentClass, emoji, archived },
      state: "pending",
      reason: "Rotate a key",
      minutes: 30,
      requestedBy: await userOf(member),
      requestedAt: asked.requestedAt,
      decidedBy: null,
      decidedAt: null,
      decisionReason: null,
      expiresAt: asked.expiresAt,
      endedBy: null,
      endedAt: null
    }
    assert.deepStrictEqual<unknown>(asked, pending)
    assertId(asked.id)
    assertTimestamp(asked.requestedAt, asked.expiresAt)
    assert.strictEqual(Date.parse(asked.expiresAt) - Date.parse(asked.requestedAt), 24 * 3_600_000)
    assert.deepStrictEqual(await viewer.get<Approval>(`approvals/${asked.id}`), asked)
    assert.deepStrictEqual(await viewer.get<ApprovalsPage>("approvals?environment=staging&state=pending"), {
      approvals: [asked],
      nextCursor: null
    })
    const approved = await workspace.post<Approval>(`approvals/${asked.id}/approve`, undefined, 200)
    assert.deepStrictEqual(approved, {
      ...asked,
      state: "approved",
      decidedBy: await userOf(workspace),
      decidedAt: approved.decidedAt,
      expiresAt: approved.expiresAt
    })
    assert.strictEqual(Date.parse(approved.expiresAt) - Date.parse(approved.decidedAt!), 30 * 60_000)
    assert.strictEqual(refusal(await write(member)), "200")
    const { entries } = await workspace.get<AuditPage>("audit?action=secret_changed")
    const [entry] = entries
    assert.deepStrictEqual(entry?.changes, [{ field: "environments.staging.approval", from: null, to: asked.id }])
    const ended = await member.post<Approval>(`approvals/${asked.id}/end`, undefined, 200)
    assert.deepStrictEqual(ended, {
      ...approved,
      state: "ended",
      endedBy: await userOf(member),
      endedAt: ended.endedAt
    })
    assert.strictEqual(refusal(await write(member)), "409 approval_required")
    const another = await member.post<Approval>("approvals", body)
    const rejected = await workspace.post<Approval>(`approvals/${another.id}/reject`, { reason: "Not today" }, 200)
    assert.deepStrictEqual([rejected.state, rejected.decisionReason], ["rejected", "Not today"])
    assert.deepStrictEqual(
      (await viewer.get<ApprovalsPage>("approvals")).approvals.map(({ state }) => state),
      ["rejected", "ended"]
    )
  })

  test("take what the contract allows", async (owner) => {
    const workspace = await guarded(owner)
    for (const minutes of [4, 481, 5.5, "30", null]) {
      await workspace.refuse("400 minutes", "POST", "approvals", { ...body, minutes })
    }
    for (const reason of ["", " ", "x".repeat(501), "a\nb", null]) {
      await workspace.refuse("400 reason", "POST", "approvals", { ...body, reason })
    }
    await workspace.refuse("400 environment", "POST", "approvals", { ...body, environment: "" })
    await workspace.refuse("404 environment:", "POST", "approvals", { ...body, environment: "none" })
    await workspace.refuse("404 environment:", "GET", "approvals?environment=none")
    await workspace.refuse("400 state", "GET", "approvals?state=done")
    await workspace.refuse("400 cursor", "GET", "approvals?cursor=1")
    await workspace.refuse("400 approvals", "PATCH", "environments/staging", { approvals: null })
    const member = await join(workspace, "member")
    for (const minutes of [5, 480]) {
      const { id } = await member.post<Approval>("approvals", { ...body, minutes, reason: "x".repeat(500) })
      await workspace.refuse("400 reason", "POST", `approvals/${id}/reject`, { reason: "" })
      await workspace.post(`approvals/${id}/reject`, minutes === 5 ? undefined : { reason: null }, 200)
    }
  })

  test("are approved by no other credential of who asked, and by no key of the workspace", async (owner) => {
    const workspace = await guarded(owner)
    const admin = await join(workspace, "admin")
    const session = await signIn(workspace, admin.id)
    const second = admin.as((await admin.post<NewApiKey>("/v1/api-keys", { name: "Second" }, 200)).secret)
    const own = await accountKey(admin, "admin")
    const made = await own.post<NewAccountApiKey>("account-api-keys", { name: "Made with it", role: "admin" })
    const ofKey = own.as(made.secret)
    const foreign = await accountKey(workspace, "admin")
    const agent = workspace.as((await registerAgent(workspace)).access_token)
    for (const by of [admin, session, second, own, ofKey]) {
      const asked = await by.post<Approval>("approvals", body)
      for (const self of [admin, session, second]) {
        assert.strictEqual(refusal(await approve(self, asked)), "403 own_approval")
      }
      for (const key of [own, ofKey, foreign]) assert.strictEqual(refusal(await approve(key, asked)), "403 account_key")
      // The tokens of agents open none of these doors.
      assert.strictEqual(refusal(await approve(agent, asked)), "401")
      assert.strictEqual(refusal(await write(by)), "409 approval_required")
      assert.strictEqual(refusal(await approve(workspace, asked)), "200")
      assert.strictEqual(refusal(await write(by)), "200")
      // Neither who approved, nor another key of who asked.
      assert.strictEqual(refusal(await write(workspace)), "409 approval_required")
      assert.strictEqual(refusal(await write(by === own ? ofKey : foreign)), "409 approval_required")
      await workspace.post(`approvals/${asked.id}/end`, undefined, 200)
    }
    assert.strictEqual(refusal(await agent.send("POST", "approvals", { json: body })), "401")
  })

  test("ask for the scope vault, and for admin to decide", async (owner) => {
    const workspace = await guarded(owner)
    const admin = await join(workspace, "admin")
    const limited = async (...scopes: ReadonlyArray<string>) =>
      admin.as((await admin.post<NewApiKey>("/v1/api-keys", { name: "Limited", scopes }, 200)).secret)
    const [vault, decider] = [await limited("vault"), await limited("admin")]
    await decider.refuse("403 scope_missing", "POST", "approvals", body)
    const { id } = await vault.post<Approval>("approvals", body)
    await vault.refuse("403 scope_missing", "POST", `approvals/${id}/approve`)
    await decider.refuse("403 own_approval", "POST", `approvals/${id}/approve`)
    const { id: other } = await workspace.post<Approval>("approvals", body)
    await decider.post(`approvals/${other}/approve`, undefined, 200)
    assert.strictEqual(refusal(await write(workspace)), "200")
  })

  test("end with the key that they were asked for with, and with that of who approved", async (owner) => {
    const workspace = await guarded(owner)
    const admin = await join(workspace, "admin")
    const keyOf = async (by: Http) => {
      const { id, secret } = await by.post<NewApiKey>("/v1/api-keys", { name: "One" }, 200)
      return { ...by.as(secret), id }
    }
    for (const which of ["requester", "approver"] as const) {
      const [requester, approver] = [await keyOf(admin), await keyOf(workspace)]
      const asked = await requester.post<Approval>("approvals", body)
      assert.strictEqual(refusal(await approve(approver, asked)), "200")
      assert.strictEqual(refusal(await write(admin)), "200")
      const [of, key] = which === "requester" ? [admin, requester] : [workspace, approver]
      await of.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
      assert.strictEqual(refusal(await write(admin)), "409 approval_required", which)
      assert.strictEqual((await admin.get<Approval>(`approvals/${asked.id}`)).state, "ended")
    }
  })
})
