import type { SignedIn } from "@delivery/domain/auth/Session"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { NewInvite } from "@delivery/domain/identity/Invite"
import type { Member } from "@delivery/domain/identity/Member"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join as joinPath } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { type Answer, type Http, http, join, newWorkspace, refusal, sessionIn, unique } from "../support/Http.ts"
import { baseEnvironment, main, type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** Credentials on two servers over one PostgreSQL: used up once, and ended everywhere with the next request. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

describe("credentials on two servers", () => {
  let drop = async () => {}
  const dataDir = mkdtempSync(joinPath(tmpdir(), "delivery-credentials-"))
  const servers: Array<ServerProcess> = []
  let settings: Record<string, string> = {}
  let owners: readonly [Http, Http]

  beforeAll(async () => {
    const opened = await openDatabase()
    drop = opened.drop
    settings = {
      DATABASE_URL: opened.url,
      DATA_DIR: dataDir,
      VAULT_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
      BOOTSTRAP_API_KEY: apiKey,
      LOG_LEVEL: "warn",
      // Each client of these tests has an address of its own.
      TRUSTED_PROXIES: "127.0.0.1/32",
      TOKEN_REPORT_LIMIT: "1000"
    }
    servers.push(await startServer(settings), await startServer(settings))
    owners = [http(servers[0]!.baseUrl, apiKey, "main"), http(servers[1]!.baseUrl, apiKey, "main")]
  })
  afterAll(async () => {
    for (const server of servers) await server.end()
    await drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** The same caller at either server. */
  const at = ({ key, workspace }: Http, server: number): Http => owners[server % 2]!.as(key).in(workspace)

  let address = 0
  const elsewhere = () => {
    address++
    return { "x-forwarded-for": `10.0.${address >> 8}.${address & 255}` }
  }

  /** The token of a link that the command of the host prints. */
  const newLink = async (person: string): Promise<string> => {
    const environment = { ...baseEnvironment, ...settings, BASE_URL: "http://localhost" }
    const { stdout } = await promisify(execFile)(process.execPath, [main, "sign-in-link", person], { env: environment })
    return /#(ltk_\w{42})$/m.exec(stdout)![1]!
  }

  const consume = (token: string, server: number) =>
    owners[server % 2]!.as(undefined).send<SignedIn>("POST", "/auth/v1/links/consume", {
      json: { token },
      headers: elsewhere()
    })

  /** A new person of a new workspace, signed in with a browser. */
  const signedIn = async () => {
    const workspace = await newWorkspace(owners[0])
    const person = await join(workspace, "admin")
    return { workspace, person, session: workspace.as(sessionIn(await consume(await newLink(person.id), 0))) }
  }

  it("use a link up once, however many try it at once", async () => {
    const { person } = await signedIn()
    for (const _ of times(3)) {
      const token = await newLink(person.id)
      const answers = await Promise.all(times(50).map((index) => consume(token, index)))
      const begun = answers.filter(({ status }) => status === 200)
      assert.lengthOf(begun, 1)
      assert.lengthOf(
        answers.filter((answer) => refusal(answer) === "401 sign_in_failed"),
        49
      )
      for (const server of [0, 1]) await at(person.as(sessionIn(begun[0]!)), server).get("/v1/me")
    }
  })

  it("use an invite up once, with a key or a session", async () => {
    const workspace = await newWorkspace(owners[0])
    for (const round of times(3)) {
      const { token } = await workspace.post<NewInvite>("invites", {
        email: `${unique("sam")}@example.com`,
        role: "viewer"
      })
      const answers = await Promise.all(
        times(50).map((index) =>
          owners[index % 2]!.as(undefined).send(
            "POST",
            index % 4 < 2 ? "/v1/invites/accept" : "/auth/v1/invites/accept",
            {
              json: { token, name: "Sam" },
              headers: elsewhere()
            }
          )
        )
      )
      const refusals = answers.map(refusal)
      assert.lengthOf(
        refusals.filter((answer) => answer === "201"),
        1
      )
      assert.lengthOf(
        refusals.filter((answer) => answer === "404 invite"),
        49
      )
      const { members } = await workspace.get<{ members: ReadonlyArray<Member> }>("members")
      assert.lengthOf(members, 2 + round)
    }
  })

  /** What ends a credential while both servers use it: none of the requests that begin afterwards is let in. */
  const during = async (by: Http, path: string, refused: string, end: () => Promise<unknown>) => {
    const use = (server: number) => at(by, server).send("GET", path).then(refusal)
    const before = times(12).map(use)
    const ending = end()
    const beside = times(12).map(use)
    await ending
    const after = await Promise.all(times(12).map(use))
    assert.deepStrictEqual(
      after,
      times(12).map(() => refused)
    )
    for (const answer of await Promise.all([...before, ...beside])) assert.oneOf(answer, ["200", refused])
  }

  const newKey = async (by: Http) => {
    const { id, secret } = await by.post<NewApiKey>("/v1/api-keys", { name: "used" }, 200)
    return { ...by.as(secret), id }
  }

  it("end during use by being revoked, reported or blocked at the other, or with what they were made with", async () => {
    const { person, workspace } = await signedIn()
    for (const _ of times(4)) {
      const [revoked, reported, blocked, maker] = [
        await newKey(person),
        await newKey(person),
        await newKey(person),
        await newKey(person)
      ]
      const made = await newKey(maker)
      await during(revoked, "members", "401", () =>
        at(person, 1).post(`/v1/api-keys/${revoked.id}/revoke`, undefined, 200)
      )
      await during(reported, "members", "401", () =>
        at(person, 1)
          .as(undefined)
          .send("POST", "/v1/tokens/report", { json: { token: reported.key } })
      )
      await during(blocked, "members", "404 workspace", () =>
        at(workspace, 1).post(`credentials/${blocked.id}/block`, undefined, 200)
      )
      await during(made, "members", "401", () => at(person, 1).post(`/v1/api-keys/${maker.id}/revoke`, undefined, 200))
    }
  })

  it("of a browser end during use", async () => {
    const { person, session, workspace } = await signedIn()
    const other = person.as(sessionIn(await consume(await newLink(person.id), 1)))
    const { session: shown } = await session.get<SignedIn>("/auth/v1/session")
    await during(session, "members", "404 workspace", () =>
      at(workspace, 1).post(`credentials/${shown.id}/block`, undefined, 200)
    )
    await workspace.post(`credentials/${shown.id}/unblock`, undefined, 200)
    await during(session, "members", "401", () => at(other, 1).delete(`/auth/v1/sessions/${shown.id}`))
    await other.get("/v1/me")
  })

  it("of a browser are replaced once by two proofs, and requests beside them have an answer", async () => {
    const { person, session: first } = await signedIn()
    let session = first
    const { session: shown } = await session.get<SignedIn>("/auth/v1/session")
    for (const _ of times(4)) {
      const links = [await newLink(person.id), await newLink(person.id)]
      const prove = (server: number): Promise<Answer> =>
        at(session, server).send("POST", "/auth/v1/sudo", { json: { token: links[server] }, headers: elsewhere() })
      const read = (server: number) => at(session, server).send("GET", "/v1/me")
      const [one, other, ...read12] = await Promise.all([prove(0), prove(1), ...times(12).map(read)])
      const proved = [one, other].filter(({ status }) => status === 200)
      assert.lengthOf(proved, 1)
      for (const answer of [one, other, ...read12]) assert.oneOf(answer.status, [200, 401])
      for (const server of [0, 1]) assert.strictEqual((await read(server)).status, 401)
      session = session.as(sessionIn(proved[0]!))
      for (const server of [0, 1]) {
        assert.strictEqual((await at(session, server).get<SignedIn>("/auth/v1/session")).session.id, shown.id)
      }
    }
  })
})
