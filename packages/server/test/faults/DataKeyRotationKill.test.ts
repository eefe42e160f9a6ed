import type { WebhookWithSecret } from "@delivery/domain/webhooks/Webhook"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { makeDatabase } from "../support/Databases.ts"
import { eventually, http } from "../support/Http.ts"
import { baseEnvironment, main, type ServerProcess, startCommand, startServer } from "../support/ServerProcess.ts"
import { isSignedBy, startReceiver, status } from "../webhooks/Receiver.ts"

/** `vault rotate --data-keys` beside a server, killed with `kill -9` between its steps. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"

interface Shown {
  readonly environments: ReadonlyArray<{ readonly value: string | null }>
}

describe("A rotation of data keys", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-data-keys-"))
  const servers: Array<ServerProcess> = []
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.end()))
    rmSync(directory, { recursive: true, force: true })
  })
  const start = async (settings: Record<string, string>) => {
    const server = await startServer(settings)
    servers.push(server)
    return http(server.baseUrl, apiKey, "main")
  }

  /** Runs the command; kills it once it has printed the words. What it has printed. */
  const rotate = async (settings: Record<string, string>, killAt?: string): Promise<string> => {
    const { child, code, output } = startCommand(process.execPath, [main, "vault", "rotate", "--data-keys"], {
      ...baseEnvironment,
      LOG_LEVEL: "warn",
      ...settings
    })
    const ended = code()
    if (killAt !== undefined) {
      await eventually(
        async () => output(),
        (printed) => printed.includes(killAt) || child.exitCode !== null
      )
      child.kill("SIGKILL")
    }
    await ended
    return output()
  }

  const seeded = async (api: Awaited<ReturnType<typeof start>>, secrets: number) => {
    await api.post("products", { slug: "shop", name: "Shop", type: "library" })
    await api.post("environments", { slug: "staging", name: "Staging", class: "non-production" })
    for (let n = 0; n < secrets; n++) {
      await api.post("products/shop/secrets", { name: `S${n}`, values: { staging: `value ${n}` } })
    }
  }

  const allRead = async (api: Awaited<ReturnType<typeof start>>, secrets: number) => {
    const names = Array.from({ length: secrets }, (_, n) => n)
    const read = await Promise.all(names.map((n) => api.get<Shown>(`products/shop/secrets/S${n}`)))
    assert.deepStrictEqual(
      read.map(({ environments }) => environments[0]?.value),
      names.map((n) => `value ${n}`)
    )
  }

  it("loses nothing, and leaves nothing under the old keys, on PostgreSQL", async () => {
    const scenario = Effect.gen(function* () {
      const { url } = yield* makeDatabase
      const forget = Effect.flatMap(PgClient.PgClient, (sql) => sql`delete from vault_replaced_data_keys`)
      const settings = {
        DATABASE_URL: url,
        DATA_DIR: directory,
        BOOTSTRAP_API_KEY: apiKey,
        WEBHOOK_PRIVATE: "true",
        VAULT_KEYS: `k1:${randomBytes(32).toString("base64")}`
      }
      yield* Effect.promise(async () => {
        const api = await start(settings)
        await seeded(api, 150)
        const receiver = await startReceiver()
        receiver.answer(status(204))
        const webhook = await api.post<WebhookWithSecret>("webhooks", { url: receiver.url, kinds: ["tag_created"] })
        const { body: rotated } = await api.send<WebhookWithSecret>("POST", `webhooks/${webhook.id}/rotate`, {
          json: {}
        })

        assert.include(await rotate(settings, "Replaced"), "Replaced 1 data keys.")
        await allRead(api, 150)
        assert.include(await rotate(settings, "Waiting"), "Encrypted 152 values under the new keys.")
        await allRead(api, 150)
        await servers.pop()!.end("SIGKILL")

        const other = await start(settings)
        await Effect.runPromise(Effect.provide(forget, PgClient.layer({ url: Redacted.make(url) })))
        await allRead(other, 150)
        await other.post("tags", { name: "urgent", color: "#112233" })
        const [request] = await eventually(
          async () => receiver.received,
          ({ length }) => length > 0
        )
        assert.isTrue(isSignedBy(webhook.secret, request!) && isSignedBy(rotated.secret, request!))
        receiver.stop()
      })
    })
    await Effect.runPromise(Effect.scoped(scenario))
  }, 120_000)

  it("needs no wait on the embedded database, where no server runs beside it", async () => {
    const settings = { DATA_DIR: join(directory, "embedded"), BOOTSTRAP_API_KEY: apiKey }
    await seeded(await start(settings), 3)
    assert.include(await rotate(settings), "holds the embedded database")
    await servers.pop()!.end("SIGTERM")
    const printed = await rotate(settings)
    assert.include(printed, "Replaced 1 data keys.\nEncrypted 3 values under the new keys.\nlocal: 2 data keys")
    await allRead(await start(settings), 3)
  }, 120_000)
})
