import type { AgentMe, AgentSignIn, RegisteredAgent } from "@delivery/domain/agents/Agent"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join as joinPath } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import {
  eventually,
  type Http,
  http,
  join,
  newWorkspace,
  refresh,
  refusal,
  registerAgent,
  teamKey
} from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Sign-ins on two servers over one PostgreSQL: what one decides holds at the other with its next request. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

describe("sign-ins on two servers", () => {
  let drop = async () => {}
  const dataDir = mkdtempSync(joinPath(tmpdir(), "delivery-agents-"))
  const servers: Array<ServerProcess> = []
  let database = ""
  let owners: readonly [Http, Http]

  const start = () =>
    startServer({
      DATABASE_URL: database,
      DATA_DIR: dataDir,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: "info",
      METRICS: "true"
    })

  beforeAll(async () => {
    const opened = await openDatabase()
    database = opened.url
    drop = opened.drop
    servers.push(await start(), await start())
    owners = [http(servers[0]!.baseUrl, apiKey, "main"), http(servers[1]!.baseUrl, apiKey, "main")]
  })
  afterAll(async () => {
    for (const server of servers) await server.end()
    await drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** The same caller at the other server. */
  const atBoth = ({ key, workspace }: Http): readonly [Http, Http] => [
    owners[0].as(key).in(workspace),
    owners[1].as(key).in(workspace)
  ]

  const isAlive = async (at: Http, { access_token }: Pick<AgentSignIn, "access_token">) =>
    (await at.as(access_token).send("GET", "/agent/v1/me")).status === 200

  /** A person of a new workspace at both servers, and its owner at both. */
  const scene = async () => {
    const workspace = await newWorkspace(owners[0])
    const person = await join(workspace, "member")
    return { id: person.id, owner: atBoth(workspace), person: atBoth(person) }
  }

  it("refresh at once, and at most one refresh token works afterwards", async () => {
    const { person } = await scene()
    for (const round of times(8)) {
      const signIn = await registerAgent(person[0], { computer: `computer ${round}` })
      const answers = await Promise.all(times(12).map((index) => refresh(owners[index % 2]!, signIn)))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        times(12).map(() => 200)
      )
      assert.lengthOf(new Set(answers.map(({ body }) => body.refresh_token)), 12)
      // Their access tokens live on, at either server.
      for (const [index, { body }] of answers.entries()) assert.isTrue(await isAlive(owners[(index + 1) % 2]!, body))
      const again: Array<string> = []
      for (const [index, { body }] of answers.entries()) {
        again.push(refusal(await refresh(owners[(index + 1) % 2]!, { ...signIn, ...body })))
      }
      // One of them is the successor; the others were replaced, and the first of these to be sent ends the sign-in.
      assert.isAtMost(again.filter((answer) => answer === "200").length, 1)
      for (const [index, { body }] of answers.entries()) assert.isFalse(await isAlive(owners[index % 2]!, body))
    }
  })

  it("refresh a token that was used long ago at the other, and nothing of the sign-in works anywhere", async () => {
    const { person } = await scene()
    for (const round of times(4)) {
      const signIn = await registerAgent(person[0], { computer: `computer ${round}` })
      const second = { ...signIn, ...(await refresh(owners[0], signIn)).body }
      const third = { ...signIn, ...(await refresh(owners[1], second)).body }
      assert.isTrue(await isAlive(owners[0], third))
      // The thief and the client at once: whoever is first, the sign-in ends.
      const [thief] = await Promise.all([refresh(owners[0], signIn), refresh(owners[1], third)])
      assert.strictEqual(refusal(thief), "400 invalid_grant")
      for (const at of owners) {
        for (const pair of [signIn, second, third]) assert.isFalse(await isAlive(at, pair))
        assert.strictEqual(refusal(await refresh(at, third)), "400 invalid_grant")
      }
    }
  })

  /** Calls at both servers again and again, from before the change until long after: none succeeds after it. */
  const during = async (signIn: AgentSignIn, change: () => Promise<unknown>, isOver: (me: AgentMe) => boolean) => {
    let stop = false
    const calls: Array<{ readonly sentAt: number; readonly hasAccess: boolean }> = []
    const callers = times(8).map(async (index) => {
      while (!stop) {
        const sentAt = performance.now()
        const answer = await owners[index % 2]!.as(signIn.access_token).send<AgentMe>("GET", "/agent/v1/me")
        calls.push({ sentAt, hasAccess: answer.status === 200 && !isOver(answer.body) })
      }
    })
    const since = (at: number) => calls.filter(({ sentAt }) => sentAt >= at)
    const many = (found: ReadonlyArray<unknown>) => found.length > 24
    await eventually(() => Promise.resolve(calls), many)
    assert.isTrue(calls.every(({ hasAccess }) => hasAccess))
    await change()
    const changedAt = performance.now()
    const after = await eventually(() => Promise.resolve(since(changedAt)), many)
    stop = true
    await Promise.all(callers)
    assert.lengthOf(
      [...after, ...since(changedAt)].filter(({ hasAccess }) => hasAccess),
      0
    )
  }

  const never = () => false

  it("end access at once, during use, when the agent is revoked", async () => {
    const { person } = await scene()
    const signIn = await registerAgent(person[0])
    await during(signIn, () => person[1].post(`agents/${signIn.agent}/revoke`, undefined, 200), never)
    assert.strictEqual(refusal(await refresh(owners[0], signIn)), "400 invalid_grant")
  })

  it("end access at once when the computer is registered again", async () => {
    const { person } = await scene()
    const signIn = await registerAgent(person[0])
    await during(signIn, () => registerAgent(person[1]), never)
  })

  it("end access at once when the refresh token or the access token is revoked", async () => {
    const { person } = await scene()
    for (const token of ["refresh_token", "access_token"] as const) {
      const signIn = await registerAgent(person[0])
      await during(
        signIn,
        () => owners[1].as(undefined).send("POST", "/agent/oauth/revoke", { form: { token: signIn[token] } }),
        never
      )
    }
  })

  it("end access at once when the member is deactivated", async () => {
    const { id, owner, person } = await scene()
    const signIn = await registerAgent(person[0])
    await during(signIn, () => owner[1].post(`members/${id}/deactivate`, undefined, 200), never)
    for (const at of owners) assert.strictEqual(refusal(await refresh(at, signIn)), "400 invalid_grant")
  })

  it("narrow access at once when the member becomes a viewer", async () => {
    const { id, owner, person } = await scene()
    const signIn = await registerAgent(person[0])
    await during(
      signIn,
      () => owner[1].patch(`members/${id}`, { role: "viewer" }),
      ({ scope }) => scope === "read"
    )
  })

  /** Calls of the sign-in that wait for a message, two at each server; begun when this answers. */
  const waiting = async ({ access_token }: AgentSignIn) => {
    const calls = times(4).map((index) =>
      owners[index % 2]!.as(access_token).send<{ messages: ReadonlyArray<AgentMessage> }>(
        "GET",
        "/agent/v1/inbox?wait=25"
      )
    )
    for (const { baseUrl } of servers) {
      await eventually(
        async () => (await scrape(baseUrl)).value("delivery_message_waiters"),
        (calls) => calls === 2
      )
    }
    // A call that nobody wakes answers 200 without messages when its time is over.
    return () => Promise.all(calls)
  }

  it("end waiting calls at once at both servers when their access ends", async () => {
    const { id, owner, person } = await scene()
    const form = (at: Http, path: string, fields: Record<string, string>) =>
      at.as(undefined).send("POST", `/agent/oauth/${path}`, { form: fields })
    let signIn = await registerAgent(person[0])
    const ends: Readonly<Record<string, (at: 0 | 1) => Promise<unknown>>> = {
      "the computer is registered again": (at) => registerAgent(person[at]),
      "the refresh token is revoked": (at) => form(owners[at], "revoke", { token: signIn.refresh_token }),
      "the access token is revoked": (at) => form(owners[at], "revoke", { token: signIn.access_token }),
      "a refresh token is used again": async (at) => {
        const second = { ...signIn, ...(await refresh(owners[at], signIn)).body }
        await refresh(owners[at], second)
        assert.strictEqual(refusal(await refresh(owners[at], signIn)), "400 invalid_grant")
      },
      "the member is deactivated": (at) => owner[at].post(`members/${id}/deactivate`, undefined, 200),
      "the agent is revoked": (at) => person[at].post(`agents/${signIn.agent}/revoke`, undefined, 200)
    }
    for (const [name, end] of Object.entries(ends)) {
      for (const at of [0, 1] as const) {
        await owner[0].post(`members/${id}/reactivate`, undefined, 200)
        signIn = await registerAgent(person[0])
        const answers = await waiting(signIn)
        await end(at)
        for (const answer of await answers()) {
          assert.deepStrictEqual([refusal(answer), answer.text.includes("Unauthorized")], ["401", true], name)
        }
      }
    }
  })

  it("leave calls alone that wait with another sign-in, or with a role that may less", async () => {
    const { id, owner, person } = await scene()
    const [laptop, tower] = [await registerAgent(person[0]), await registerAgent(person[1], { computer: "tower" })]
    const team = teamKey()
    await owner[0].post("teams", { key: team, name: "Team" })
    const { identifier } = await owner[0].post<Ticket>("tickets", { team, title: "Pay by card" })
    const answers = await waiting(laptop)
    const { status } = await owners[1]
      .as(undefined)
      .send("POST", "/agent/oauth/revoke", { form: { token: tower.refresh_token } })
    assert.strictEqual(status, 200)
    await owner[1].patch(`members/${id}`, { role: "viewer" })
    const { agent, computer } = laptop
    const message = { agent, computer: computer.id, ticket: identifier, ask: "build" }
    const sent = await owner[0].post<AgentMessage>("messages", message)
    for (const { body } of await answers()) {
      assert.deepStrictEqual(
        body.messages.map(({ id }) => id),
        [sent.id]
      )
    }
  })

  it("keep no token, neither in the database nor in a log", async () => {
    const { person } = await scene()
    const signIn = await registerAgent(person[1])
    const next = (await refresh(owners[1], signIn)).body
    await owners[1].as(next.access_token).send("GET", `/agent/v1/${next.refresh_token}`)
    const tokens = [signIn, next].flatMap(({ access_token, refresh_token }) => [access_token, refresh_token])
    const rows = await Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const tables = yield* sql<{ name: string }>`select table_name as name from information_schema.tables
        where table_schema = 'public'`
      const texts = yield* Effect.forEach(
        tables,
        ({ name }) => sql<{ row: string }>`select t::text as row from ${sql(name)} t`
      )
      return texts.flat().map(({ row }) => row)
    }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(database) })), Effect.runPromise)
    assert.isTrue(
      rows.some((row) => row.includes(signIn.clientId)),
      "the sign-in is there"
    )
    for (const text of [...rows, ...servers.map((server) => server.output())]) {
      for (const token of tokens) assert.notInclude(text, token)
    }
  })

  it("show within a second what was seen at the other, and when it was killed, too", async () => {
    const { person } = await scene()
    const signIn = await registerAgent(person[0])
    const seen = async (at: Http) => (await at.get<{ agents: ReadonlyArray<RegisteredAgent> }>("agents")).agents[0]!
    const { lastSeenAt } = await seen(person[1])
    // Used within a millisecond, it is seen at the same time.
    const now = await eventually(
      async () => {
        assert.isTrue(await isAlive(owners[0], signIn))
        return (await seen(person[0])).lastSeenAt!
      },
      (now) => Date.parse(now) > Date.parse(lastSeenAt!)
    )
    await eventually(
      () => seen(person[1]),
      (agent) => agent.lastSeenAt === now
    )
    // What was answered lives through a kill.
    const next = { ...signIn, ...(await refresh(owners[0], signIn)).body }
    await servers[0]!.end("SIGKILL")
    assert.isTrue(await isAlive(owners[1], next))
    assert.strictEqual((await refresh(owners[1], next)).status, 200)
  })
})
