import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { Event } from "@delivery/domain/events/Event"
import type { Invite, NewInvite } from "@delivery/domain/identity/Invite"
import type { StartedTestRun } from "@delivery/domain/runs/TestRun"
import { assert } from "vitest"
import {
  accountKey,
  finishRun,
  type Http,
  join,
  newDeployment,
  newLink,
  newWorkspace,
  refresh,
  refusal,
  registerAgent,
  signIn,
  startRun,
  withClockOnEachServer
} from "../support/Http.ts"
import { allow, callTool, exchange, newClient } from "../agents/OAuthScene.ts"

/** Whoever holds a token may end it (docs/contract.md, Reported tokens). */

const report = (http: Http, token: unknown) =>
  http.as(undefined).send("POST", "/v1/tokens/report", { json: { token } }).then(refusal)

withClockOnEachServer(
  "a reported token",
  (test) => {
    test("of a key ends it with what was made with it, and says so in its workspace", async (owner, advance) => {
      advance("1 hour")
      const workspace = await newWorkspace(owner)
      const person = await join(workspace, "admin")
      const { id, secret } = await person.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
      const made = await accountKey(person.as(secret), "viewer")
      assert.strictEqual(await report(owner, secret), "204")
      await person.as(secret).refuse("401", "GET", "/v1/me")
      await made.refuse("401", "GET", "/v1/me")
      await person.get("/v1/me")
      const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events")
      const ofKeys = events.filter(({ kind }) => kind === "key_reported" || kind === "key_revoked")
      assert.sameDeepMembers(
        ofKeys.map(({ kind, subject }) => [kind, subject.id]),
        [
          ["key_reported", id],
          ["key_revoked", made.id]
        ]
      )
      const account = await accountKey(workspace, "member")
      assert.strictEqual(await report(owner, account.key), "204")
      await account.refuse("401", "GET", "/v1/me")
    })

    test("of a key leaves nothing to the runs that were started with it but to go on", async (owner, advance) => {
      advance("1 hour")
      const person = await join(await newDeployment(owner), "member")
      const leaked = await person.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
      const { number, semaphores } = await startRun(person.as(leaked.secret))
      const lease = person.as(semaphores.token)
      await lease.post("semaphores/staging/leases", { capacity: 1 })
      assert.strictEqual(await report(owner, leaked.secret), "204")
      await lease.refuse("401", "POST", "semaphores/staging/leases", { capacity: 1 })
      await finishRun(person, number)
    })

    test("of an agent ends its sign-in, by either token", async (owner, advance) => {
      advance("1 hour")
      const person = await join(await newWorkspace(owner), "member")
      for (const kind of ["access_token", "refresh_token"] as const) {
        const signIn = await registerAgent(person)
        assert.strictEqual(await report(owner, signIn[kind]), "204")
        await person.as(signIn.access_token).refuse("401", "GET", "/agent/v1/me")
        assert.strictEqual(refusal(await refresh(person, signIn)), "400 invalid_grant")
      }
    })

    test("of a code that a client is about to exchange uses it up, and ends nothing that was exchanged", async (owner, advance) => {
      advance("1 hour")
      const workspace = await newWorkspace(owner)
      const session = await signIn(workspace, (await join(workspace, "member")).id)
      const [client, other] = [newClient(), newClient()]
      const [code, used] = [await allow(session, client), await allow(session, other)]
      const exchanged = await exchange(owner, used, other)
      for (const one of [code, used]) assert.strictEqual(await report(owner, one), "204")
      assert.strictEqual(refusal(await exchange(owner, code, client)), "400 invalid_grant")
      assert.isFalse((await callTool(owner, exchanged.body.access_token, "whoami")).isError)
      // It is still known that it was used.
      assert.strictEqual(refusal(await exchange(owner, used, other)), "400 invalid_grant")
      await owner.as(exchanged.body.access_token).refuse("401", "POST", "/agent/mcp", {})
    })

    test("of an invite revokes it", async (owner, advance) => {
      advance("1 hour")
      const workspace = await newWorkspace(owner)
      const { token } = await workspace.post<NewInvite>("invites", { email: "sam@example.com", role: "viewer" })
      assert.strictEqual(await report(owner, token), "204")
      const { invites } = await workspace.get<{ invites: ReadonlyArray<Invite> }>("invites")
      assert.strictEqual(invites[0]?.status, "revoked")
      assert.strictEqual(await report(owner, token), "204")
    })

    test("of an invite whose maker is blocked revokes it, so that it is not good again with its maker", async (owner, advance) => {
      advance("1 hour")
      const workspace = await newWorkspace(owner)
      const maker = await accountKey(workspace, "admin")
      const { id, token } = await maker.post<NewInvite>("invites", { email: "sam@example.com", role: "viewer" })
      await workspace.post(`credentials/${maker.id}/block`, undefined, 200)
      assert.strictEqual(await report(owner, token), "204")
      await workspace.post(`credentials/${maker.id}/unblock`, undefined, 200)
      const { invites } = await workspace.get<{ invites: ReadonlyArray<Invite> }>("invites")
      assert.deepStrictEqual(
        invites.map((invite) => [invite.id, invite.status]),
        [[id, "revoked"]]
      )
      await owner.as(undefined).refuse("404 invite", "POST", "/v1/invites/accept", { token, name: "Sam" })
    })

    test("of a browser ends its session, and of a link uses it up", async (owner, advance) => {
      advance("1 hour")
      const person = await join(await newWorkspace(owner), "member")
      const [session, other] = [await signIn(person, person.id), await signIn(person, person.id)]
      assert.strictEqual(await report(owner, session.key), "204")
      await session.refuse("401", "GET", "/v1/me")
      await other.get("/v1/me")
      const token = await newLink(person, person.id)
      assert.strictEqual(await report(owner, token), "204")
      await owner.as(undefined).refuse("401 sign_in_failed", "POST", "/auth/v1/links/consume", { token })
    })

    test("of a run is useless, and the run goes on", async (owner, advance) => {
      advance("1 hour")
      const workspace = await newDeployment(owner)
      const run: StartedTestRun = await startRun(workspace)
      const take = (token: string) =>
        workspace
          .as(token)
          .send("POST", "semaphores/one/leases", { json: { capacity: 1 } })
          .then(refusal)
      assert.strictEqual(await take(run.semaphores.token), "201")
      assert.strictEqual(await report(owner, run.semaphores.token), "204")
      assert.strictEqual(await take(run.semaphores.token), "401")
      assert.strictEqual((await workspace.get<{ state: string }>(`test-runs/${run.number}`)).state, "running")
    })

    test("may be anything, as long as it is text", async (owner, advance) => {
      advance("1 hour")
      const { secret } = await owner.post<NewApiKey>("/v1/api-keys", { name: "ended" }, 200)
      for (const token of [secret, secret, `ctk_${"0".repeat(42)}`, `dtk_${"0".repeat(42)}`, "laptop"]) {
        assert.strictEqual(await report(owner, token), "204")
      }
      assert.strictEqual(await report(owner, ""), "400 token")
      assert.strictEqual(await report(owner, 7), "400 token")
    })

    test("is the 21st of an hour only when another hour has come", async (owner, advance) => {
      advance("1 hour")
      for (let i = 0; i < 20; i++) assert.strictEqual(await report(owner, "laptop"), "204")
      const { secret } = await owner.post<NewApiKey>("/v1/api-keys", { name: "leaked" }, 200)
      const refused = await owner.as(undefined).send("POST", "/v1/tokens/report", { json: { token: secret } })
      assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [429, "3600"])
      await owner.as(secret).get("/v1/me")
      advance(60 * 60 * 1000 - 1)
      assert.strictEqual(await report(owner, secret), "429")
      advance("1 millis")
      assert.strictEqual(await report(owner, secret), "204")
      await owner.as(secret).refuse("401", "GET", "/v1/me")
    })
  },
  { TOKEN_REPORT_LIMIT: "20" }
)
