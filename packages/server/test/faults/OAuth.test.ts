import type { NewInvite } from "@delivery/domain/identity/Invite"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join as joinPath } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  authorize,
  authorizeQuery,
  callTool,
  type ClientOf,
  decide,
  exchange,
  newClient,
  newVerifier
} from "../agents/OAuthScene.ts"
import { openDatabase, query } from "../support/Databases.ts"
import { type Http, http, newWorkspace, refresh, refusal, sessionIn, unique } from "../support/Http.ts"
import { freePort } from "../../src/cli/FreePort.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"
import { type Collector, startCollector } from "../telemetry/Collector.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Sign-ins by the server's URL at two servers over one PostgreSQL, and what these leave behind. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

describe("sign-ins by the server's URL at two servers", () => {
  let drop = async () => {}
  let database = ""
  let collector: Collector
  const dataDir = mkdtempSync(joinPath(tmpdir(), "delivery-oauth-"))
  const servers: Array<ServerProcess> = []
  let owners: readonly [Http, Http]
  /** Codes and tokens, which nothing may keep. */
  const canaries: Array<string> = []

  beforeAll(async () => {
    const opened = await openDatabase()
    database = opened.url
    drop = opened.drop
    collector = await startCollector()
    const port = await freePort()
    for (const PORT of [String(port), String(await freePort())]) {
      servers.push(
        await startServer({
          DATABASE_URL: database,
          DATA_DIR: dataDir,
          PORT,
          BASE_URL: `http://127.0.0.1:${port}`,
          VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
          BOOTSTRAP_API_KEY: apiKey,
          LOG_LEVEL: "trace",
          METRICS: "true",
          OTLP_URL: collector.url
        })
      )
    }
    owners = [http(servers[0]!.baseUrl, apiKey, "main"), http(servers[1]!.baseUrl, apiKey, "main")]
  })
  afterAll(async () => {
    for (const server of servers) await server.end()
    await collector.close()
    await drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** A new person of a new workspace, signed in with a browser. */
  const signedIn = async (): Promise<Http> => {
    const workspace = await newWorkspace(owners[0])
    const email = `${unique("invited")}@example.com`
    const { token } = await workspace.post<NewInvite>("invites", { email, role: "member", deliver: "link" })
    const json = { token, name: "Sam" }
    return workspace.as(sessionIn(await workspace.as(undefined).send("POST", "/auth/v1/invites/accept", { json })))
  }

  /** The code that a client gets; asked for at one server, and allowed at the other. */
  const codeFor = async (session: Http, client: ClientOf): Promise<string> => {
    const asked = await authorize(owners[1], authorizeQuery(client))
    const id = asked.headers.location!.split("#")[1]!
    const { body } = await decide(session, id, { allow: true, workspace: session.workspace })
    const code = new URL(body.location).searchParams.get("code")!
    canaries.push(code, client.verifier, session.key!)
    return code
  }

  it("a code that is exchanged 50 times at once works once, and its second use ends the sign-in", async () => {
    for (let round = 0; round < 3; round++) {
      const client = newClient()
      const code = await codeFor(await signedIn(), client)
      const answers = await Promise.all(times(50).map((index) => exchange(owners[index % 2]!, code, client)))
      const [worked, ...others] = answers.filter(({ status }) => status === 200)
      assert.lengthOf(others, 0)
      assert.deepStrictEqual(
        answers.filter((answer) => answer !== worked).map(refusal),
        Array<string>(49).fill("400 invalid_grant")
      )
      canaries.push(worked!.body.access_token, worked!.body.refresh_token)
      for (const at of owners) assert.strictEqual((await callTool(at, worked!.body.access_token, "whoami")).status, 401)
    }
  })

  it("50 exchanges that fail at once leave the code to who can use it", async () => {
    const client = newClient()
    const code = await codeFor(await signedIn(), client)
    const wrong = times(50).map((index) => exchange(owners[index % 2]!, code, { ...client, verifier: newVerifier() }))
    const [right] = await Promise.all([exchange(owners[0], code, client), ...wrong])
    assert.strictEqual(right.status, 200, right.text)
    assert.strictEqual((await callTool(owners[1], right.body.access_token, "whoami")).status, 200)
    canaries.push(right.body.access_token, right.body.refresh_token)
  })

  it("a refresh token that both servers are sent 20 times at once gives 20 pairs, and all of them work", async () => {
    const client = newClient()
    const { body } = await exchange(owners[0], await codeFor(await signedIn(), client), client)
    const held = { clientId: client.clientId, refresh_token: body.refresh_token }
    const answers = await Promise.all(times(20).map((index) => refresh(owners[index % 2]!, held)))
    for (const { body, status, text } of answers) {
      assert.strictEqual(status, 200, text)
      assert.strictEqual((await callTool(owners[0], body.access_token, "whoami")).status, 200)
      const next = await refresh(owners[1], { clientId: client.clientId, refresh_token: body.refresh_token })
      assert.strictEqual(next.status, 200, next.text)
      canaries.push(body.access_token, body.refresh_token, next.body.access_token, next.body.refresh_token)
    }
    canaries.push(body.access_token, body.refresh_token)
  })

  it("codes and tokens are in no log at level trace, metric, exported span, event, file or row", async () => {
    assert.isAbove(canaries.length, 50)
    const assertClean = (place: string, text: string) => {
      assert.isNotEmpty(text, place)
      assert.isUndefined(
        canaries.find((canary) => text.includes(canary)),
        place
      )
    }
    for (const server of servers) {
      assertClean("a metric", (await scrape(server.baseUrl)).text)
      await server.end("SIGTERM")
      assertClean("the log", server.output())
    }
    assertClean("an exported span", collector.text())
    assert.includeMembers(
      collector.spans().map(({ name }) => name),
      ["Authorizations.request", "Authorizations.decide", "AuthorizationCodes.exchange"]
    )
    const files = readdirSync(dataDir, { recursive: true, encoding: "utf8" })
      .map((name) => joinPath(dataDir, name))
      .filter((path) => statSync(path).isFile())
    for (const path of files) {
      const text = readFileSync(path).toString("latin1")
      if (text !== "") assertClean(path, text)
    }
    const tables = (await query(
      database,
      "select tablename as name from pg_tables where schemaname = 'public'"
    )) as ReadonlyArray<{ readonly name: string }>
    let rows = ""
    for (const { name } of tables) {
      rows += JSON.stringify(await query(database, `select t::text as row from "${name}" t`))
    }
    assert.include(rows, "agent_registered")
    assertClean("the database", rows)
  })
})
