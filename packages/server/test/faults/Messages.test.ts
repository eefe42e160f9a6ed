import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import type { AgentMessage } from "@delivery/domain/agents/Message"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import type { Statement } from "effect/sql"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, describe, it } from "vitest"
import { makeDatabase } from "../support/Databases.ts"
import { eventually } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Two servers on one PostgreSQL: messages between them, through a lost listener and `kill -9`. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const count = 1_000
const takers = 32

interface Taken {
  readonly messages: ReadonlyArray<AgentMessage>
}

const call = async <A>(
  { baseUrl }: Pick<ServerProcess, "baseUrl">,
  token: string,
  method: string,
  path: string,
  body?: unknown
): Promise<A> => {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text) as A
}

const query = (url: string, ask: (sql: PgClient.PgClient) => Statement.Statement<object>) =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, ask).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
  )

describe("Messages between two servers", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-messages-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const withServers = (use: (start: () => Promise<ServerProcess>, url: string) => Promise<void>) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(makeDatabase, ({ url }) => {
          const settings = {
            DATABASE_URL: url,
            VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`,
            DATA_DIR: directory,
            BOOTSTRAP_API_KEY: apiKey,
            LOG_LEVEL: "warn",
            METRICS: "true"
          }
          return Effect.promise(() => use(() => startServer(settings), url))
        })
      )
    )

  const prepare = async (server: ServerProcess) => {
    await call(server, apiKey, "POST", "/v1/workspaces/main/teams", { key: "ENG", name: "Engineering" })
    const { identifier: ticket } = await call<{ identifier: string }>(
      server,
      apiKey,
      "POST",
      "/v1/workspaces/main/tickets",
      { team: "ENG", title: "Pay by card" }
    )
    const signIn = await call<AgentSignIn>(server, apiKey, "POST", "/v1/workspaces/main/agents/register", {
      client: "claude",
      computer: "laptop"
    })
    const send = (by: ServerProcess, note: string) =>
      call<AgentMessage>(by, apiKey, "POST", "/v1/workspaces/main/messages", {
        agent: signIn.agent,
        ticket,
        ask: "build",
        note
      })
    return { signIn, send }
  }

  it("wakes calls that wait at the other server, also after its listener was disconnected", async () => {
    await withServers(async (start, url) => {
      const [one, two] = [await start(), await start()]
      const { send, signIn } = await prepare(one)
      const inbox = () => call<Taken>(two, signIn.access_token, "GET", "/agent/v1/inbox?wait=25")
      const take = () => call<Taken>(two, signIn.access_token, "POST", "/agent/v1/inbox/take", { limit: 10 })
      for (const isCutOff of [false, true]) {
        if (isCutOff) {
          const ended = await query(
            url,
            (sql) => sql`select pg_terminate_backend(pid) from pg_stat_activity
              where datname = current_database() and pid <> pg_backend_pid()`
          )
          assert.isAbove(ended.length, 1)
          await eventually(
            () =>
              take().then(
                () => true,
                () => false
              ),
            (isAnswered) => isAnswered
          )
        }
        const waiting = inbox()
        await eventually(
          async () => (await scrape(two.baseUrl)).value("delivery_message_waiters"),
          (calls) => calls === 1
        )
        const sent = await send(one, "note")
        assert.deepStrictEqual(
          (await waiting).messages.map(({ id }) => id),
          [sent.id]
        )
        await take()
      }
      await Promise.all([one.end("SIGTERM"), two.end("SIGTERM")])
    })
  }, 120_000)

  it("delivers each to one taker, loses none, and notifies the sender once", async () => {
    await withServers(async (start, url) => {
      const [stays, dies] = [await start(), await start()]
      const { send, signIn } = await prepare(stays)
      const sent: Array<string> = []
      const senders = Array.from({ length: 8 }, async (_, sender) => {
        for (let i = sender; i < count; i += 8) sent.push((await send(stays, `note ${i}`)).id)
      })

      const taken: Array<string> = []
      const completed: Array<string> = []
      let isKilled = false
      const work = async (index: number) => {
        let server = index % 2 === 0 ? stays : dies
        for (let idle = 0; idle < 3;) {
          try {
            const { messages } = await call<Taken>(server, signIn.access_token, "POST", "/agent/v1/inbox/take", {
              limit: 3
            })
            taken.push(...messages.map(({ id }) => id))
            for (const { id } of messages) {
              await call(server, signIn.access_token, "POST", `/agent/v1/messages/${id}/complete`, { reply: "Done." })
              completed.push(id)
            }
            if (messages.length > 0) idle = 0
            else {
              const waiting = await call<Taken>(server, signIn.access_token, "GET", "/agent/v1/inbox?wait=1")
              idle = waiting.messages.length > 0 ? 0 : idle + 1
            }
          } catch (error) {
            // Its server was killed: what it had in hand is looked after below.
            if (server === stays || !isKilled) throw error
            server = stays
          }
        }
      }
      const workers = Array.from({ length: takers }, (_, index) => work(index))
      // A busy machine takes a while.
      while (completed.length < count / 4) await sleep(50)
      isKilled = true
      await dies.end("SIGKILL")
      await Promise.all([...senders, ...workers])

      assert.lengthOf(sent, count)
      // By what the takers recorded, none was delivered twice.
      assert.lengthOf(new Set(taken), taken.length)
      const all = await Promise.all(
        sent.map((id) => call<AgentMessage>(stays, signIn.access_token, "GET", `/agent/v1/messages/${id}`))
      )
      assert.deepStrictEqual(
        all.filter(({ status }) => status === "queued"),
        []
      )
      // Answers that the killed server owed are lost with it; their messages stay delivered, and can be completed.
      const open = all.filter(({ status }) => status === "delivered")
      assert.isAtMost(open.length, takers * 3)
      for (const { id } of open) {
        await call(stays, signIn.access_token, "POST", `/agent/v1/messages/${id}/complete`, { reply: "Done." })
      }
      const notified = await query(
        url,
        (sql) => sql`select kind, count(*)::int as count, count(distinct message_id)::int as messages
          from notifications group by kind order by kind`
      )
      assert.deepStrictEqual(notified, [
        { kind: "message_completed", count, messages: count },
        { kind: "message_received", count, messages: count }
      ])
      await stays.end("SIGTERM")
    })
  }, 300_000)
})
