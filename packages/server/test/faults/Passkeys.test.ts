import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { eventually, http, newPasskey, passkeyRequest, refusal, sessionIn } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** Passkeys on two servers over one PostgreSQL. */

describe("passkeys on two servers", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "delivery-passkeys-"))
  const origin = "https://delivery.example"
  let drop = async () => {}
  const servers: Array<ServerProcess> = []

  beforeAll(async () => {
    const opened = await openDatabase()
    drop = opened.drop
    const start = () =>
      startServer({
        DATABASE_URL: opened.url,
        DATA_DIR: dataDir,
        VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
        BASE_URL: origin,
        LOG_LEVEL: "info",
        TRUSTED_PROXIES: "127.0.0.1/32,::1/128"
      })
    servers.push(await start(), await start())
  })
  afterAll(async () => {
    for (const server of servers) await server.end()
    await drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  it("a challenge that is answered 50 times at once signs in once", async () => {
    const visitors = servers.map(({ baseUrl }) => http(baseUrl, undefined, "main"))
    const printed = /#(ltk_\w{42})/
    const output = await eventually(
      async () => servers[0]!.output(),
      (output) => printed.test(output)
    )
    const json = { token: printed.exec(output)![1] }
    const session = visitors[0]!.as(sessionIn(await visitors[0]!.send("POST", "/auth/v1/links/consume", { json })))
    const passkey = await newPasskey(session, { origin })
    for (let round = 0; round < 5; round++) {
      const request = await passkeyRequest(visitors[round % 2]!)
      // Each from a network address of its own: of one, only so many failures are looked at.
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          visitors[index % 2]!.send("POST", "/auth/v1/passkeys/sign-in/verify", {
            json: passkey.prove(request),
            headers: { "x-forwarded-for": `10.2.${round}.${index}` }
          })
        )
      )
      const refusals = answers.map(refusal).toSorted()
      assert.deepStrictEqual(refusals, ["200", ...Array.from({ length: 49 }, () => "401 sign_in_failed")])
      const begun = answers.find(({ status }) => status === 200)
      for (const visitor of visitors)
        assert.strictEqual((await visitor.as(sessionIn(begun!)).send("GET", "/v1/me")).status, 200)
    }
  })
})
