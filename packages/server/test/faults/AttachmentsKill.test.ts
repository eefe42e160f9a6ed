import type { Attachment } from "@delivery/domain/planning/Attachment"
import type { Team } from "@delivery/domain/planning/Team"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { hash, randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { openDatabase } from "../support/Databases.ts"
import { answerOf, eventually, type Http, http } from "../support/Http.ts"
import { type ServerProcess, startServer } from "../support/ServerProcess.ts"

/** `kill -9` of the server in the middle of uploads to a ticket: what was answered is there, and nothing half. */

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const rounds = 3

const filesBelow = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Begins uploads, of which half is sent and on the disk. */
const beginUploads = async (at: Http, path: string, directory: string, count: number) => {
  const before = filesBelow(directory).length
  const requests = Array.from({ length: count }, () => {
    const request = at.open("POST", `${path}?name=half`, { "content-length": "2000000" })
    // The server dies under it.
    const answer = answerOf(request).then(
      () => assert.fail("The upload was answered."),
      () => "cut off"
    )
    request.write(randomBytes(1_000_000))
    return { request, answer }
  })
  await eventually(
    async () => filesBelow(directory).filter((file) => statSync(file).size > 0).length,
    (written) => written === before + count
  )
  return requests
}

for (const place of ["the embedded database", "PostgreSQL"] as const) {
  describe(`kill -9 during uploads to a ticket, on ${place}`, () => {
    let server: ServerProcess | undefined
    const dataDir = mkdtempSync(join(tmpdir(), "delivery-attachments-kill-"))
    const directory = join(dataDir, "files")
    afterAll(async () => {
      await server?.end()
      rmSync(dataDir, { recursive: true, force: true })
    })

    it("leaves no half file, and loses none that was answered", async () => {
      const database = place === "PostgreSQL" ? await openDatabase() : undefined
      const settings = {
        ...(database === undefined
          ? {}
          : { DATABASE_URL: database.url, VAULT_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}` }),
        DATA_DIR: dataDir,
        BOOTSTRAP_API_KEY: apiKey,
        LOG_LEVEL: "warn"
      }
      server = await startServer(settings)
      let at = http(server.baseUrl, apiKey, "main")
      const team = await at.post<Team>("teams", { key: "ENG", name: "Engineering" })
      const { identifier } = await at.post<Ticket>("tickets", { team: team.key, title: "Ticket" })
      const path = `tickets/${identifier}/attachments`
      const expected = new Map<string, string>()
      const assertKept = async () => {
        const { attachments } = await at.get<{ attachments: ReadonlyArray<Attachment> }>(path)
        assert.deepStrictEqual(
          Object.fromEntries(attachments.map(({ id, sha256 }) => [id, sha256])),
          Object.fromEntries(expected)
        )
        for (const [id, sha256] of expected) {
          assert.strictEqual(hash("sha256", (await at.send("GET", `${path}/${id}`)).bytes), sha256)
        }
      }
      for (let round = 0; round < rounds; round++) {
        const cut = await beginUploads(at, path, directory, 3)
        const bytes = randomBytes(300_000)
        const { body, status } = await at.send<Attachment>("POST", `${path}?name=whole`, { body: bytes })
        assert.strictEqual(status, 201)
        expected.set(body.id, hash("sha256", bytes))
        await server.end("SIGKILL")
        for (const { answer } of cut) assert.strictEqual(await answer, "cut off")
        server = await startServer(settings)
        at = http(server.baseUrl, apiKey, "main")
        await assertKept()
      }
      // What the killed server was writing lapses within seconds and is swept away.
      await eventually(
        async () => filesBelow(directory).length,
        (files) => files === expected.size
      )
      await assertKept()
      await server.end("SIGTERM")
      await database?.drop()
    }, 180_000)
  })
}
