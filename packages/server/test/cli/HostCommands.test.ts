import type { AuditPage } from "@delivery/domain/audit/Audit"
import type { Member } from "@delivery/domain/identity/Member"
import { execFile, spawnSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, describe, inject, it } from "vitest"
import { eventually } from "../support/Http.ts"
import { freePort } from "../../src/cli/FreePort.ts"
import { baseEnvironment, startServer } from "../support/ServerProcess.ts"

/** What `pnpm delivery ...` says on the host when it cannot do what it was asked to. */

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url))
const VAULT_KEYS = `k1:${Buffer.alloc(32, 7).toString("base64")}`

const run = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)(process.execPath, [main, ...args], { env: { ...baseEnvironment, ...environment } }).then(
    ({ stderr, stdout }) => ({ code: 0, stdout, stderr }),
    ({ code, stderr, stdout }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr })
  )

/** A failure that is explained by these lines of standard error, and by nothing else. */
const failure = (...lines: ReadonlyArray<string>) => ({
  code: 1,
  stdout: "",
  stderr: lines.map((line) => `${line}\n`).join("")
})

// Most of it is processes that start, each on one core: several at once.
describe.concurrent("the commands of the host", () => {
  const directory = mkdtempSync(join(tmpdir(), "delivery-host-"))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  for (const [args, lines] of [
    [
      ["api-key", "create"],
      ["Missing required argument: email.", "Usage: delivery-server api-key create [flags] <email>"]
    ],
    [
      ["api-key", "create", "--nmae", "x"],
      [
        "Unrecognized flag: --nmae in command delivery-server api-key create. Did you mean --name?",
        "Usage: delivery-server api-key create [flags] <email>"
      ]
    ],
    [
      ["persn", "list"],
      [
        `Unknown subcommand "persn" for "delivery-server". Did you mean person?`,
        "Usage: delivery-server <subcommand> [flags]"
      ]
    ],
    // LOG_LEVEL sets it.
    [
      ["serve", "--log-level", "debug"],
      ["Unrecognized flag: --log-level in command delivery-server serve.", "Usage: delivery-server serve [flags]"]
    ]
  ] as const) {
    it(`say what is wrong with "${args.join(" ")}", and not the whole help`, async () => {
      assert.deepStrictEqual(await run(args), failure(...lines, "Add --help to see how it is used."))
    })
  }

  it("send those who look for the commands of coding agents to them", async () => {
    const line =
      "This command runs on the host of the service. " +
      "For coding agents, use: pnpm exec node packages/cli/src/main.ts agent"
    assert.deepStrictEqual(await run(["agent"]), failure(line))
    assert.deepStrictEqual(await run(["agent", "connect", "--client", "claude", "--write"]), failure(line))
  })

  it("offer no flag that has no effect", async () => {
    const { code, stdout } = await run(["serve", "--help"])
    assert.strictEqual(code, 0)
    assert.include(stdout, "--workers")
    assert.notInclude(stdout, "--log-level")
  })

  it("tell a connection that was refused from a login that was", async () => {
    const given = inject("postgresUrl")
    const { host } = new URL(given)
    const urlOf = (changes: Readonly<Partial<Record<"host" | "username" | "pathname", string>>>) =>
      Object.assign(new URL(given), changes).href
    const cases: ReadonlyArray<readonly [url: string, message: string | RegExp]> = [
      [
        urlOf({ host: "127.0.0.1:1" }),
        "the connection to 127.0.0.1:1 was refused: no PostgreSQL listens there. Start it, or correct host and port."
      ],
      [urlOf({ host: "not-here.invalid:5432" }), "there is no host with the name not-here.invalid."],
      // PostgreSQL names the user, and says more or less, as it is configured.
      [
        urlOf({ username: "stranger" }),
        new RegExp(`^PostgreSQL at ${host} refused the login: .*"stranger".*\\. Correct user and password\\.$`)
      ],
      [
        urlOf({ pathname: "/nowhere" }),
        `PostgreSQL at ${host} refused the connection: database "nowhere" does not exist. Create it, or correct the name.`
      ]
    ]
    const check = async (args: ReadonlyArray<string>, DATABASE_URL: string, message: string | RegExp) => {
      const { stderr, ...ended } = await run(args, { DATABASE_URL, VAULT_KEYS, DATA_DIR: directory })
      assert.deepStrictEqual(ended, { code: 1, stdout: "" }, args.join(" "))
      const said = stderr.replace(/^DATABASE_URL: /, "").replace(/\n$/, "")
      if (typeof message === "string") assert.strictEqual(said, message)
      else assert.match(said, message)
    }
    for (const [url, message] of cases) {
      await Promise.all([check(["serve"], url, message), check(["person", "list"], url, message)])
    }
  }, 300_000)

  it("ask the server that holds the embedded database, by a socket that its owner alone may use", async () => {
    const DATA_DIR = join(directory, "embedded")
    const port = String(await freePort())
    const url = `http://127.0.0.1:${port}`
    const settings = { DATA_DIR, BASE_URL: url }
    const server = await startServer({ ...settings, PORT: port, LOG_LEVEL: "none" })
    const socket = join(DATA_DIR, "host.sock")
    try {
      await eventually(
        async () => server.output(),
        (output) => output.includes(`${url}/sign-in#ltk_`)
      )
      assert.strictEqual(statSync(socket).mode & 0o777, 0o600)
      assert.isTrue(statSync(socket).isSocket())
      assert.deepStrictEqual(await run(["person", "list"], settings), {
        code: 0,
        stdout: "owner@example.com  Owner  main (owner)\n",
        stderr: ""
      })
      assert.deepStrictEqual(await run(["cases", "rebuild"], settings), {
        code: 0,
        stdout: "Counted the results of tests of 0 products again.\n",
        stderr: ""
      })
      const made = await run(["api-key", "create", "Owner@Example.com", "--name", "Found again"], settings)
      const key = /ctk_\w{42}/.exec(made.stdout)![0]
      const authorization = `Bearer ${key}`
      assert.strictEqual((await fetch(`${url}/v1/me`, { headers: { authorization } })).status, 200)
      const printed = await run(["sign-in-link", "owner@example.com"], settings)
      assert.strictEqual(printed.code, 0, printed.stderr)
      const token = new RegExp(`^${url}/sign-in#(ltk_\\w{42})$`, "m").exec(printed.stdout)![1]
      const begun = await fetch(`${url}/auth/v1/links/consume`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: url },
        body: JSON.stringify({ token })
      })
      assert.strictEqual(begun.status, 200)
      assert.deepStrictEqual(
        await run(["sign-in-link", "nobody@example.com"], settings),
        failure('There is no person with the email or id "nobody@example.com". List all persons with `person list`.')
      )
      const accept = async (email: string, workspace = "main") => {
        const post = (path: string, body: object, headers = {}) =>
          fetch(`${url}${path}`, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: JSON.stringify(body)
          })
        const invited = await post(`/v1/workspaces/${workspace}/invites`, { email, role: "viewer" }, { authorization })
        const { token } = (await invited.json()) as { token: string }
        const accepted = await post("/v1/invites/accept", { token, name: "Sam" })
        return ((await accepted.json()) as { person: { id: string } }).person.id
      }
      const isProven = async (id: string) => {
        const answer = await fetch(`${url}/v1/workspaces/main/members`, { headers: { authorization } })
        const { members } = (await answer.json()) as { members: ReadonlyArray<Member> }
        return members.find((member) => member.id === id)!.emailVerifiedAt !== null
      }
      const sam = await accept("sam@example.com")
      assert.isFalse(await isProven(sam))
      const verified = await run(["person", "verify", "Sam@Example.com"], settings)
      assert.deepStrictEqual(verified, {
        code: 0,
        stdout: "The email address sam@example.com is proven to be that of Sam.\n",
        stderr: ""
      })
      assert.isTrue(await isProven(sam))
      const kim = await accept("kim@example.com")
      assert.strictEqual((await run(["person", "verify", kim], settings)).code, 0)
      assert.isTrue(await isProven(kim))
      assert.deepStrictEqual(
        await run(["person", "verify", "nobody@example.com"], settings),
        failure('There is no person with the email or id "nobody@example.com". List all persons with `person list`.')
      )
      // Strangers to each other, who share an address that neither has proven.
      await fetch(`${url}/v1/workspaces`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization },
        body: JSON.stringify({ slug: "other", name: "Other" })
      })
      const [one, other] = [await accept("lee@example.com"), await accept("lee@example.com", "other")]
      const several = await run(["sign-in-link", "lee@example.com"], settings)
      assert.deepStrictEqual(
        several,
        failure(
          "Several persons have this email, and none has proven it. " +
            `Name one by their id: ${one} (Sam), ${other} (Sam).`
        )
      )
      const ofOther = await run(["sign-in-link", other], settings)
      assert.match(ofOther.stdout, new RegExp(`^${url}/sign-in#ltk_\\w{42}$`, "m"))
      const audit = await fetch(`${url}/v1/workspaces/main/audit`, { headers: { authorization } })
      const { entries } = (await audit.json()) as AuditPage
      const byHost = entries.filter(({ credential }) => credential?.kind === "host")
      assert.deepStrictEqual(
        byHost.toReversed().map(({ action, subject }) => `${action} ${subject.label}`),
        [
          "key_created first key",
          "workspace_created main",
          "sign_in_link_created Owner",
          "key_created Found again",
          "sign_in_link_created Owner",
          "address_proven Sam",
          "address_proven Sam"
        ]
      )
      assert.deepStrictEqual([...new Set(byHost.map(({ address }) => address))], [null])
      // The key is printed once, and whoever cannot read it must know.
      const full = openSync("/dev/full", "w")
      const lost = spawnSync(process.execPath, [main, "api-key", "create", "owner@example.com"], {
        encoding: "utf8",
        env: { ...baseEnvironment, ...settings },
        stdio: ["ignore", full, "pipe"]
      })
      closeSync(full)
      assert.deepStrictEqual(
        [lost.status, lost.stderr],
        [1, "Standard output cannot be written: what was to be printed is lost.\n"]
      )
      const line =
        `A running server (or another command) holds the embedded database in DATA_DIR ${DATA_DIR}. ` +
        "Stop it, run this command again, and then start the server."
      const needing = [
        ["vault", "status"],
        ["vault", "rotate"],
        ["fixtures", "rotate"]
      ]
      const ended = await Promise.all(needing.map((args) => run(args, { DATA_DIR })))
      assert.deepStrictEqual(
        ended,
        needing.map(() => failure(line))
      )
    } finally {
      await server.end()
    }
    // It was killed, and left its socket: the commands open its database themselves.
    const alone = await run(["sign-in-link", "owner@example.com"], { DATA_DIR, BASE_URL: "http://localhost:4000" })
    assert.match(alone.stdout, /^http:\/\/localhost:4000\/sign-in#ltk_\w{42}$/m)
    const insecure = await run(["sign-in-link", "owner@example.com"], { DATA_DIR, BASE_URL: "http://delivery.example" })
    assert.match(insecure.stderr, /BASE_URL is http/)
  }, 300_000)
})
