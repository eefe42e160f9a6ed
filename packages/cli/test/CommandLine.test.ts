import type { Approval } from "@delivery/domain/catalog/Approval"
import type { Commit } from "@delivery/domain/catalog/Commit"
import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import type { Me } from "@delivery/domain/identity/Me"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { Readiness } from "@delivery/domain/flow/Readiness"
import type { Release, ReleasePage } from "@delivery/domain/releases/Release"
import type { TestRun, TestRunPage, TestRunSummary } from "@delivery/domain/runs/TestRun"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { createServer, request as forward } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import {
  accountKey,
  attempt,
  finishRun,
  type Http,
  join as joinWorkspace,
  newDeployment,
  newWorkspace,
  report,
  startRun,
  teamKey
} from "../../server/test/support/Http.ts"
import type { Published } from "../src/PublishRun.ts"
import { freePort } from "../../server/src/cli/FreePort.ts"
import type { Home, Options } from "./support/Home.ts"
import { apiKey, type Service, useService } from "./support/Service.ts"

/** The commands as processes, against a server on a socket. */

const fixture = (name: string) => join(import.meta.dirname, "junit", name)
/** A run whose results were saved, as a reporter begins and finishes it. */
const savedStart = {
  product: "shop",
  environment: "staging",
  baseUrl: "https://staging.shop.example",
  git: { branch: "main", sha: "a".repeat(40), dirty: false, subject: "Sell" },
  machine: { hostname: "ci", platform: "linux" },
  selection: { coverage: null, folders: [], caseIds: [] }
}
const finish = { interrupted: false, error: null, durationMs: 5, cleanup: null, tests: [] }
const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8")

/** Between a command and the service: passes everything on but uploads of files, which it answers nothing, and `cut` ends all. */
const holdingUploads = async (service: Service) => {
  let hold = () => {}
  const asked = new Promise<void>((resolve) => (hold = resolve))
  const between = createServer((request, answer) => {
    if (request.method === "PUT") return hold()
    const headers = { ...request.headers, host: new URL(service.baseUrl).host }
    const passed = forward(`${service.baseUrl}${request.url}`, { method: request.method, headers }, (from) => {
      answer.writeHead(from.statusCode!, from.headers)
      from.pipe(answer)
    })
    request.pipe(passed)
  }).listen(0, "127.0.0.1")
  service.afterwards(() => (between.closeAllConnections(), between.close()))
  await once(between, "listening")
  const cut = () => (between.closeAllConnections(), between.close())
  return { asked, cut, url: `http://127.0.0.1:${(between.address() as AddressInfo).port}` }
}

describe("delivery", () => {
  const server = useService()
  const { as, home } = server
  const test = (name: string, body: (owner: Http) => Promise<void>) => it(name, () => body(server.owner()))

  const json = async <A>(at: Home, args: ReadonlyArray<string>, options?: Options): Promise<A> => {
    const { code, err, out } = await at.delivery([...args, "--json"], options)
    assert.deepStrictEqual({ code, err }, { code: 0, err: "" })
    return JSON.parse(out) as A
  }

  test("login keeps a key that works in a file of the user, and logout deletes it", async (owner) => {
    const workspace = await newWorkspace(owner)
    const at = home()
    const login = ["login", "--url", `${server.baseUrl}/`, "--workspace", workspace.workspace]
    const signedIn = await at.delivery(login, { input: `${apiKey}\n` })
    assert.include(signedIn, { code: 0, err: "" })
    assert.notInclude(signedIn.out, apiKey)
    const file = join(at.directory, "config/delivery/profiles.json")
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    assert.strictEqual(statSync(join(file, "..")).mode & 0o777, 0o700)

    const { me } = await json<{ readonly me: Me }>(at, ["status"])
    assert.strictEqual(me.kind, "user")
    const { out } = await at.delivery(["status"])
    assert.notInclude(out, apiKey)
    assert.notInclude(out, "\u001b")
    assert.match(out, /^API key\s+…FLQo\s+the profile "default"$/m)
    assert.match(out, new RegExp(`^Workspace\\s+${workspace.workspace}\\s+the profile "default"$`, "m"))

    assert.include(await at.delivery(["logout"]), { code: 0, err: "" })
    const after = await at.delivery(["runs", "list"])
    assert.include(after, { code: 3, out: "" })
    assert.deepStrictEqual(await json(at, ["logout"]), { profile: "default", wasSignedIn: false })
  })

  test("logins that run at once keep all their profiles", async () => {
    const at = home()
    const names = ["one", "two", "three", "four", "five", "six"]
    const login = ["login", "--url", server.baseUrl, "--workspace", "main", "--profile"]
    await Promise.all(names.map((name) => json(at, [...login, name], { input: apiKey })))
    const directory = join(at.directory, "config/delivery")
    const { profiles } = JSON.parse(readFileSync(join(directory, "profiles.json"), "utf8"))
    assert.sameMembers(Object.keys(profiles), names)
    assert.deepStrictEqual(readdirSync(join(directory, "profiles.json.locks")), [])
    await Promise.all(names.map((profile) => json(at, ["logout", "--profile", profile])))
    assert.deepStrictEqual(JSON.parse(readFileSync(join(directory, "profiles.json"), "utf8")).profiles, {})
  })

  test("says so when a login takes the profile of another service", async () => {
    const at = home()
    await json(at, ["login", "--url", server.baseUrl, "--workspace", "main"], { input: apiKey })
    const again = await at.delivery(["login", "--url", server.baseUrl, "--workspace", "main"], { input: apiKey })
    assert.include(again, { code: 0, err: "" })
    // The same server by another address is another service, as far as the command line can know.
    const other = server.baseUrl.replace("127.0.0.1", "localhost")
    const taken = await at.delivery(["login", "--url", other, "--workspace", "main"], { input: apiKey })
    assert.strictEqual(taken.code, 0)
    assert.include(taken.err, `The profile "default" was for ${server.baseUrl}, which is signed out.`)
  })

  test("flags come before the environment, the environment before the profile", async (owner) => {
    const [first, second, third] = [await newWorkspace(owner), await newWorkspace(owner), await newWorkspace(owner)]
    const at = home()
    await json(at, ["login", "--url", server.baseUrl, "--workspace", first.workspace], { input: apiKey })
    const workspaceOf = async (args: ReadonlyArray<string>, env: Record<string, string>) =>
      (await json<{ readonly workspace: object }>(at, ["status", ...args], { env })).workspace
    const env = { DELIVERY_WORKSPACE: second.workspace }
    assert.deepStrictEqual(await workspaceOf([], {}), { source: 'the profile "default"', value: first.workspace })
    assert.deepStrictEqual(await workspaceOf([], env), { source: "DELIVERY_WORKSPACE", value: second.workspace })
    assert.deepStrictEqual(await workspaceOf(["--workspace", third.workspace], env), {
      source: "--workspace",
      value: third.workspace
    })
    assert.deepStrictEqual(await workspaceOf([], { DELIVERY_WORKSPACE: "" }), {
      source: 'the profile "default"',
      value: first.workspace
    })
  })

  test("no older profile takes the place of one that is signed out, and one that is not there is named", async () => {
    const at = home()
    const login = ["login", "--url", server.baseUrl, "--workspace", "main"]
    await json(at, login, { input: apiKey })
    await json(at, [...login, "--profile", "two"], { input: apiKey })
    assert.deepStrictEqual(await json(at, ["logout"]), { profile: "two", wasSignedIn: true })
    const out = await at.delivery(["runs", "list"])
    assert.include(out, { code: 3, out: "" })
    assert.include(
      out.err,
      "You are signed out, and no profile is in use. Stored are: default. Name one with --profile."
    )
    assert.deepInclude(await json<object>(at, ["logout"]), { wasSignedIn: false })
    assert.include(await at.delivery(["runs", "list", "--profile", "default"]), { code: 0, err: "" })
    const missing = 'There is no profile "nope". Stored are: default.'
    const status = await at.delivery(["status", "--profile", "nope"])
    assert.strictEqual(status.code, 3)
    assert.include(status.err, missing)
    assert.match(status.out, /^Profile\s+none named nope\s+--profile$/m)
    assert.include((await at.delivery(["runs", "list"], { env: { DELIVERY_PROFILE: "nope" } })).err, missing)
    assert.deepStrictEqual(await at.delivery(["logout", "--profile", "nope"]), {
      code: 2,
      out: "",
      err: `${missing}\n`
    })
    assert.match((await at.delivery(["status"])).out, /^Profile\s+none\s+the default$/m)
    const elsewhere = await at.delivery(["status", "--profile", "default", "--workspace", "nope"])
    assert.deepInclude(elsewhere, { code: 1, err: 'There is no workspace "nope" that this key may act in.\n' })
    assert.include(await at.delivery(["login", "--url", server.baseUrl, "--workspace", "main"], { input: apiKey }), {
      code: 0
    })
    assert.include(await at.delivery(["runs", "list"]), { code: 0, err: "" })
  })

  test("status says where a deployment token comes from, and shows none of it", async () => {
    const at = home()
    const token = `dtk_${"a".repeat(38)}Wxyz`
    writeFileSync(join(at.directory, "token"), `${token}\n`)
    const env = { DELIVERY_URL: server.baseUrl, DELIVERY_API_KEY: apiKey, DELIVERY_TOKEN_FILE: "token" }
    const { code, out } = await at.delivery(["status"], { env })
    assert.strictEqual(code, 0)
    assert.match(out, /^Deployment token\s+…Wxyz\s+DELIVERY_TOKEN_FILE$/m)
    assert.notInclude(out, token)
    const both = { env: { ...env, DELIVERY_TOKEN: token } }
    const { deploymentToken } = await json<{ deploymentToken: object }>(at, ["status"], both)
    assert.deepStrictEqual(deploymentToken, { lastFour: "Wxyz", source: "DELIVERY_TOKEN" })
  })

  test("login is enough to connect an agent", async (owner) => {
    const workspace = await newWorkspace(owner)
    const at = home()
    await json(at, ["login", "--url", server.baseUrl, "--workspace", workspace.workspace], { input: apiKey })
    const connected = await json<{ agent: string }>(at, ["agent", "connect", "--client", "claude"])
    assert.isString(connected.agent)
    const { agents } = await workspace.get<{ agents: ReadonlyArray<{ id: string }> }>("agents")
    assert.lengthOf(agents, 1)
    assert.deepStrictEqual(await json(at, ["agent", "disconnect", "--client", "claude"]), {
      wasSignedIn: true,
      file: null
    })
  })

  test("the key of a profile is sent to no other service", async () => {
    const at = home()
    await json(at, ["login", "--url", server.baseUrl, "--profile", "one", "--workspace", "main"], { input: apiKey })
    const other = server.baseUrl.replace("127.0.0.1", "localhost")
    const refused = await at.delivery(["runs", "list", "--url", other])
    assert.include(refused, { code: 3, out: "" })
    assert.include(refused.err, `its API key is not sent to ${other}`)
  })

  test("login refuses what is no key, a key that does not work, and a workspace of others", async (owner) => {
    const at = home()
    await newWorkspace(owner)
    const login = (input: string, ...args: ReadonlyArray<string>) =>
      at.delivery(["login", "--url", server.baseUrl, ...args], { input })
    assert.include(await login(""), { code: 2 })
    const wrong = `ctk_${"b".repeat(42)}`
    const refused = await login(wrong)
    assert.include(refused, { code: 3, out: "" })
    assert.notInclude(refused.err, wrong)
    assert.include(await login(apiKey, "--workspace", "nobodys"), { code: 1 })
    const several = await login(apiKey)
    assert.include(several, { code: 2, out: "" })
    assert.match(several.err, /^Say which workspace with --workspace: /)
    assert.include(await at.delivery(["status"]), { code: 3 })
  })

  it("ends with 2 for a wrong use, and with 4 where no service is", async () => {
    const at = home()
    const url = `http://127.0.0.1:${await freePort()}`
    const env = { DELIVERY_URL: url, DELIVERY_API_KEY: apiKey }
    for (const [args, code] of [
      [["runs", "publsh"], 2],
      [["runs", "show"], 2],
      [["runs", "show", "0"], 2],
      [["runs", "list", "--url", "ftp://example.com"], 2],
      [["runs", "list", "--profile", "../x"], 2],
      [["runs", "list"], 4],
      [["status"], 4]
    ] as const) {
      assert.deepInclude(await at.delivery(args, { env }), { code }, args.join(" "))
    }
  })

  it("prints completions for bash, zsh and fish", async () => {
    const at = home()
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, out } = await at.delivery(["--completions", shell])
      assert.strictEqual(code, 0)
      assert.include(out, "publish")
    }
  })

  it("describes each command in the help of all as in its own", async () => {
    const at = home()
    const { out } = await at.delivery(["--help"])
    const commands = [...out.slice(out.indexOf("SUBCOMMANDS")).matchAll(/^ {2}(\w+) +(\S.*)$/gm)]
    assert.lengthOf(commands, 9)
    for (const [, name = "", description = ""] of commands) {
      const own = await at.delivery([name, "--help"])
      assert.strictEqual(own.out.split("\n")[1]?.trim(), description)
      assert.include(own.out, "--profile")
    }
  })

  it("completes commands and flags in bash", async () => {
    const { out } = await home().script(`delivery --completions bash > completions
      exec bash -c '. ./completions
        completed() { COMP_LINE="$*" COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=(); _delivery; echo "\${COMPREPLY[@]}"; }
        completed delivery secrets r
        completed delivery runs publish --at'`)
    assert.strictEqual(out, "run\n--attach\n")
  })

  test("publishes the files of six test runners, with the counts of their elements", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    for (const [name, passed, failed, skipped] of [
      ["pytest.xml", 6, 2, 2],
      ["jest.xml", 10, 0, 0],
      ["go.xml", 2, 2, 1],
      ["maven-surefire.xml", 0, 4, 0],
      ["gradle.xml", 2, 1, 0],
      ["cypress.xml", 3, 0, 0]
    ] as const) {
      const { run } = await json<{ run: TestRunSummary }>(at, ["runs", "publish", fixture(name)], { env })
      assert.deepStrictEqual(run.counts, { total: passed + failed + skipped, passed, flaky: 0, failed, skipped }, name)
      assert.strictEqual(run.result, failed === 0 ? "passed" : "failed")
      assert.strictEqual(run.baseUrl, "https://staging.shop.example")
    }
    const { runs } = await json<TestRunPage>(at, ["runs", "list", "--result", "failed"], { env })
    assert.deepStrictEqual(
      runs.map(({ number }) => number),
      [5, 4, 3, 1]
    )
    const shown = await at.delivery(["runs", "show", "4"], { env })
    assert.include(shown, { code: 0, err: "" })
    assert.include(shown.out, "example.ExampleTests › throwsOnlyFirstAttempt")
    assert.include(shown.out, "First attempt throws exception")
    assert.include(await at.delivery(["runs", "show", "7"], { env }), { code: 1, out: "" })
  })

  test("publishes several files as one run, attaches files, and fails only if asked to", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    mkdirSync(join(at.directory, "shots/deep"), { recursive: true })
    writeFileSync(join(at.directory, "shots/deep/a.png"), "picture")
    writeFileSync(join(at.directory, "server.log"), "started\n")
    const results = `${fixture("go.xml")} ${fixture("jest.xml")}`
    const flags =
      "--product shop --environment staging --base-url https://preview.shop.example --coverage critical --attach shots --attach server.log"
    const publish = `runs publish ${results} ${flags}`.split(" ")
    const env = as(workspace)
    const noVersion =
      "No version is set in Staging: this run counts for no version. To set one before the tests run: delivery deployments set-version --product shop --environment staging\n"
    const { err, out } = await at.delivery([...publish, "--json"], { env })
    assert.strictEqual(err, noVersion)
    const published = JSON.parse(out) as { run: TestRunSummary; files: ReadonlyArray<string> }
    assert.deepStrictEqual(published.files.toSorted(), ["server.log", "shots/deep/a.png"])
    assert.include(published.run, { baseUrl: "https://preview.shop.example", coverage: "critical", state: "finished" })
    const file = await workspace.send("GET", `test-runs/${published.run.number}/files/shots/deep/a.png`)
    assert.strictEqual(file.status, 200)
    assert.strictEqual(file.headers["content-type"], "image/png")
    const { tests } = await workspace.get<TestRun>(`test-runs/${published.run.number}`)
    assert.lengthOf(tests, 15)
    const failing = await at.delivery([...publish, "--fail"], { env })
    assert.include(failing, { code: 1, err: `${noVersion}The run failed.\n` })
    assert.match(
      failing.out,
      /^Run 2 .*\nTested https:\/\/preview\.shop\.example, which is not the deployment: https:\/\/staging\.shop\.example\n$/
    )

    // With all that failed muted, it does not fail, and says why.
    const failed = tests.filter(({ status }) => status === "failed")
    await workspace.post("teams", { key: "MUTE", name: "Muting" })
    const me = await workspace.get<Me>("/v1/me")
    const ticket = await workspace.post<Ticket>("tickets", { team: "MUTE", title: "Mend", owner: me.id })
    const until = new Date(Date.now() + 24 * 60 * 60_000).toISOString()
    const mute = { product: "shop", cases: failed.map(({ caseId }) => caseId), until }
    assert.strictEqual((await workspace.send("PUT", `tickets/${ticket.identifier}/mute`, { json: mute })).status, 200)
    const muted = await at.delivery([...publish, "--fail"], { env })
    assert.strictEqual(muted.code, 0, muted.err)
    assert.isTrue(muted.err.startsWith(noVersion))
    assert.sameMembers(
      muted.err.slice(noVersion.length).trimEnd().split("\n"),
      failed.map(
        ({ title }) =>
          `muted by ${ticket.identifier} until ${until.slice(0, 16).replace("T", " ")} UTC: ${title} (failed)`
      )
    )

    // Of a run that passed, too.
    const passes = tests.find(({ status, title }) => status === "passed" && title !== "")!
    const all = { ...mute, cases: [passes.caseId] }
    assert.strictEqual((await workspace.send("PUT", `tickets/${ticket.identifier}/mute`, { json: all })).status, 200)
    const passing = await at.delivery(["runs", "publish", fixture("jest.xml"), ...flags.split(" ")], { env })
    assert.match(passing.err.slice(noVersion.length), /^muted by MUTE-1 until .* UTC: .* \(passed\)\n$/)
  })

  test("prints the commands that make what a run needs, one after the other", async (owner) => {
    const workspace = await newWorkspace(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    const missing = [
      'There is no product "shop"',
      'There is no environment "staging"',
      'The product "shop" has no deployment in "staging"'
    ]
    for (const sentence of missing) {
      const flags = sentence.includes("deployment") ? ["--base-url", "https://staging.shop.example"] : []
      const { code, err } = await at.delivery(["runs", "publish", fixture("go.xml"), ...flags], { env })
      assert.strictEqual(code, 1)
      assert.include(err, sentence)
      const [, command = ""] = /`(curl [^`]+)`/.exec(err)!
      const made = await at.script(command.replace("curl", "curl --fail-with-body --silent"), { env })
      assert.strictEqual(made.code, 0, made.out + made.err)
    }
    const { run } = await json<{ run: TestRunSummary }>(at, ["runs", "publish", fixture("go.xml")], { env })
    assert.strictEqual(run.baseUrl, "https://staging.shop.example")
  })

  test("names what there is where a name is mistyped, and keeps the directories of attachments elsewhere", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "stagin" }
    const mistyped = await at.delivery(["runs", "publish", fixture("go.xml")], { env })
    assert.include(mistyped, { code: 1, out: "" })
    assert.include(
      mistyped.err,
      `There is no environment "stagin" in the workspace ${workspace.workspace}, which has staging. An admin makes it`
    )
    for (const name of ["one", "two"]) {
      mkdirSync(join(at.directory, "shots", name), { recursive: true })
      writeFileSync(join(at.directory, "shots", name, "a.png"), name)
    }
    mkdirSync(join(at.directory, "work"))
    const cwd = join(at.directory, "work")
    const flags = ["--environment", "staging", "--base-url", "https://staging.shop.example", "--attach", "../shots"]
    const published = await json<{ files: ReadonlyArray<string> }>(
      at,
      ["runs", "publish", fixture("go.xml"), ...flags, "--attach", "../shots/one/a.png"],
      { env, cwd }
    )
    assert.deepStrictEqual(published.files.toSorted(), ["shots/one/a.png", "shots/two/a.png"])
  })

  test("starts no run for a file that it refuses, or for an attachment that is not there", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    writeFileSync(join(at.directory, "open.xml"), "<testsuite>")
    const refused = await at.delivery(["runs", "publish", fixture("go.xml"), "open.xml"], { env })
    assert.include(refused, { code: 1, out: "" })
    assert.match(refused.err, /^open\.xml is not published: it is not well-formed XML: .*\n$/)
    writeFileSync(join(at.directory, "none.xml"), '<testsuites><testsuite name="empty" tests="0"/></testsuites>')
    const empty = await at.delivery(["runs", "publish", "none.xml"], { env })
    assert.deepStrictEqual(empty, { code: 1, out: "", err: "Nothing is published: none.xml has no test.\n" })
    writeFileSync(join(at.directory, "bytes.xml"), "")
    assert.include(await at.delivery(["runs", "publish", "bytes.xml"], { env }), { code: 1, out: "" })
    const missing = await at.delivery(["runs", "publish", fixture("go.xml"), "--attach", "nothing"], { env })
    assert.deepInclude(missing, { code: 2, out: "", err: "--attach: nothing cannot be read.\n" })
    const noUrl = await at.delivery(["runs", "publish", fixture("go.xml"), "--base-url", "nowhere"], { env })
    assert.deepStrictEqual([noUrl.code, noUrl.err], [2, "--base-url: expected an absolute http or https URL.\n"])
    const nowhere = await at.delivery(["runs", "publish", fixture("go.xml"), "--environment", "moon"], { env })
    assert.include(nowhere, { code: 1, out: "" })
    assert.deepStrictEqual((await json<TestRunPage>(at, ["runs", "list"], { env })).runs, [])
  })

  test("fails a run for what failed outside of its tests", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    const passed = '<testcase name="a" classname="s"/>'
    writeFileSync(join(at.directory, "passed.xml"), `<testsuite name="s" tests="1">${passed}</testsuite>`)
    writeFileSync(
      join(at.directory, "set-up.xml"),
      `<testsuite name="s" errors="1"><error message="set-up broke"/>${passed}</testsuite>`
    )
    writeFileSync(join(at.directory, "counts.xml"), `<testsuite name="s" failures="2" errors="1">${passed}</testsuite>`)
    writeFileSync(join(at.directory, "empty.json"), '{"suites": [], "errors": [{"message": "Error: no database"}]}')
    for (const [files, total, error] of [
      [["passed.xml", "set-up.xml"], 2, "set-up broke"],
      [["counts.xml"], 1, "counts.xml says 3 failed in s, and lists none of them."],
      [["empty.json"], 0, "Error: no database"]
    ] as const) {
      const { code, err } = await at.delivery(["runs", "publish", ...files, "--fail"], { env })
      assert.deepStrictEqual([code, err], [1, "The run failed.\n"])
      const { runs } = await json<TestRunPage>(at, ["runs", "list"], { env })
      const run = await json<TestRun>(at, ["runs", "show", String(runs[0]!.number)], { env })
      assert.deepInclude(run, { result: "failed", gateResult: "failed", error })
      assert.include(run.counts, { total, passed: total, failed: 0 })
    }
  })

  test("says of a run, alone and in the list, what it came to without its muted tests, where that is something else", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = as(workspace)
    const { id } = await workspace.get<Me>("/v1/me")
    const key = teamKey()
    await workspace.post("teams", { key, name: "Checkout" })
    const ticket = await workspace.post<Ticket>("tickets", { team: key, title: "Mend it", owner: id })
    const json = { product: "shop", cases: ["a"], until: new Date(Date.now() + 24 * 60 * 60_000).toISOString() }
    assert.include(await workspace.send("PUT", `tickets/${ticket.identifier}/mute`, { json }), { status: 200 })
    const [failed, passed] = [(caseId: string) => report(caseId, { attempt: attempt("failed") }), report("c")]
    for (const tests of [[failed("a"), passed], [failed("a"), failed("b")], [passed]]) {
      await finishRun(workspace, (await startRun(workspace)).number, { tests })
    }
    const shown = async (run: number) => (await at.delivery(["runs", "show", String(run)], { env })).out.split("\n")
    assert.deepStrictEqual((await shown(1)).slice(0, 3).toSpliced(1, 1), [
      "Run 1 failed: 1 passed, 1 failed, 0 skipped",
      "passed without its muted tests"
    ])
    for (const run of [2, 3]) assert.notInclude((await shown(run)).join("\n"), "muted")
    const { out } = await at.delivery(["runs", "list"], { env })
    assert.deepStrictEqual(
      out.split("\n").flatMap((line) => (/^\d/.test(line) ? [line.split(/\s{2,}/).slice(0, 2)] : [])),
      [
        ["3", "passed"],
        ["2", "failed"],
        ["1", "failed, passed without its muted tests"]
      ]
    )
  })

  test("tells apart the failed tests of several projects", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    await json(at, ["runs", "publish", join(import.meta.dirname, "playwright-report.json")], { env })
    const { out } = await at.delivery(["runs", "show", "1"], { env })
    for (const project of ["one", "two"]) {
      assert.include(
        out,
        `failed Checkout › pays by invoice checkout.spec.ts › Checkout › pays by invoice [${project}]\n`
      )
    }
  })

  test("leaves no run behind that seems to go on when publishing is interrupted", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    writeFileSync(join(at.directory, "server.log"), "started\n")
    symlinkSync("/etc/hostname", join(at.directory, "link"))
    const { asked, url } = await holdingUploads(server)
    const env = {
      ...as(workspace),
      DELIVERY_URL: url,
      DELIVERY_PRODUCT: "shop",
      DELIVERY_ENVIRONMENT: "staging"
    }
    const flags = ["--base-url", "https://staging.shop.example", "--attach", "."]
    const running = at.start(["runs", "publish", fixture("go.xml"), ...flags], { env })
    await asked
    running.child.kill("SIGINT")
    assert.strictEqual(await running.code, 130)
    assert.strictEqual(running.err(), "--attach: symbolic links are left out: link.\nRun 1 has ended as interrupted.\n")
    const run = await workspace.get<TestRun>("test-runs/1")
    assert.deepInclude(run, { state: "interrupted", result: null })
  })

  test("names the run that it started when the service is lost, and ends it later", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    writeFileSync(join(at.directory, "server.log"), "started\n")
    const { asked, cut, url } = await holdingUploads(server)
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    const flags = ["--base-url", "https://staging.shop.example", "--attach", "server.log"]
    const running = at.start(["runs", "publish", fixture("go.xml"), ...flags], { env: { ...env, DELIVERY_URL: url } })
    await asked
    cut()
    assert.strictEqual(await running.code, 4)
    assert.match(
      running.err(),
      /^Run 1 was started and is not finished: http:\S+ cannot be reached: .* `delivery runs end 1` ends it; /
    )
    const ended = await json<TestRunSummary>(at, ["runs", "end", "1"], { env })
    assert.deepInclude(ended, { number: 1, state: "interrupted", result: null })
    assert.deepStrictEqual(await at.delivery(["runs", "end", "1"], { env }), {
      code: 1,
      out: "",
      err: "The run is no longer running.\n"
    })
  })

  test("keeps saved results where they were made, and their run for another try when it is interrupted", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const { asked, url } = await holdingUploads(server)
    const env = { ...as(workspace), DELIVERY_URL: url }
    writeFileSync(join(at.directory, "saved.json"), JSON.stringify({ start: savedStart, finish }))
    writeFileSync(join(at.directory, "server.log"), "started\n")
    const publish = ["runs", "publish", "saved.json", "--attach", "server.log"]
    const running = at.start(publish, { env })
    await asked
    running.child.kill("SIGINT")
    assert.strictEqual(await running.code, 130)
    assert.strictEqual(running.err(), "Run 1 is not finished. Publish saved.json again to finish it.\n")
    assert.deepStrictEqual(await at.delivery([...publish, "--environment", "live"], { env }), {
      code: 2,
      out: "",
      err: "--environment: saved.json has the results of staging. Leave the flag out.\n"
    })
    const { DELIVERY_URL: service = "", ...others } = as(workspace)
    assert.deepStrictEqual(await at.delivery(publish, { env: as(workspace) }), {
      code: 2,
      out: "",
      err: `saved.json has results of run 1 of ${url}, and this is ${service}. Say with --url where that service is.\n`
    })
    // Where a run of that number is another one, nothing is sent to it.
    const saved = JSON.parse(readFileSync(join(at.directory, "saved.json"), "utf8")) as { readonly url: string }
    const elsewhere = saved.url.replace("//", "//elsewhere.")
    writeFileSync(join(at.directory, "other.json"), JSON.stringify({ ...saved, url: elsewhere }))
    assert.deepStrictEqual(await at.delivery(["runs", "publish", "other.json"], { env }), {
      code: 2,
      out: "",
      err: `other.json has results of ${elsewhere}, and not of ${saved.url}. Say with --url where that service is.\n`
    })
    assert.include(await json<TestRunSummary>(at, ["runs", "show", "1"], { env: as(workspace) }), { state: "running" })
    const again = await at.delivery([...publish, "--url", service, "--json"], { env: others })
    assert.deepInclude(again, { code: 0, err: `saved.json was saved for ${url}, and goes to ${service}.\n` })
    assert.include((JSON.parse(again.out) as { readonly run: TestRunSummary }).run, { number: 1, state: "finished" })
    const other = { ...JSON.parse(readFileSync(join(at.directory, "saved.json"), "utf8")), service: undefined }
    writeFileSync(join(at.directory, "saved.json"), JSON.stringify({ ...other, finish: { ...finish, durationMs: 6 } }))
    assert.deepStrictEqual(await at.delivery(["runs", "publish", "saved.json"], { env: as(workspace) }), {
      code: 1,
      out: "",
      err: "The run is no longer running. To publish saved.json as a run of its own, add --again.\n"
    })
  })

  test("takes a version as a flag, too, and answers no other command with its own version", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop\r\n", DELIVERY_ENVIRONMENT: "" }
    const set = ["deployments", "set-version", "--environment", "staging", "--no-commits"]
    const { deployment } = await json<{ readonly deployment: { readonly version: string } }>(
      at,
      [...set, "--version", "v7"],
      { env }
    )
    assert.strictEqual(deployment.version, "v7")
    const wrong = async (args: ReadonlyArray<string>) => {
      const { code, err, out } = await at.delivery(args, { env })
      assert.deepStrictEqual([code, out], [2, ""], args.join(" "))
      return err
    }
    assert.include(await wrong([...set, "v8", "--version", "v7"]), "Say the version once")
    assert.include(await wrong(["runs", "publish", "junit.xml", "--version"]), "--version")
    assert.include(await wrong(["secrets", "run", "--version", "--", "true"]), "--version")
    assert.include(await wrong([...set, "v8", "--product", ""]), "Expected a text that is not empty.")
    assert.match((await at.delivery(["--version"])).out, /\d+\.\d+\.\d+/)
  })

  test("says that files of other tools become a run each time, and names a workspace that is not found", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    writeFileSync(
      join(at.directory, "junit.xml"),
      '<testsuites><testsuite name="a"><testcase name="b"/></testsuite></testsuites>'
    )
    const publish = ["runs", "publish", "junit.xml", "--product", "shop", "--environment", "staging", "--again"]
    const { code, err } = await at.delivery(publish, { env: as(workspace) })
    assert.deepStrictEqual(
      [code, err],
      [0, "--again changes nothing here: each time these files are published, they become a run of their own.\n"]
    )
    const elsewhere = { ...as(workspace), DELIVERY_WORKSPACE: "nope" }
    for (const command of [publish.slice(0, -1), ["runs", "list"]]) {
      const refused = await at.delivery(command, { env: elsewhere })
      assert.deepStrictEqual([refused.code, refused.err], [1, 'There is no workspace "nope" that you can see.\n'])
    }
  })

  test("makes one run of saved results that several publish at once", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = as(workspace)
    const files = [{ path: "a/shot.txt", contentType: "text/plain", source: "shot.txt" }]
    writeFileSync(join(at.directory, "shot.txt"), "seen")
    writeFileSync(join(at.directory, "saved.json"), JSON.stringify({ start: savedStart, finish, files }))
    const publish = () => at.delivery(["runs", "publish", "saved.json", "--json"], { env })
    for (const { code, err, out } of await Promise.all([publish(), publish(), publish()])) {
      assert.deepStrictEqual({ code, err }, { code: 0, err: "" })
      assert.include((JSON.parse(out) as { readonly run: TestRunSummary }).run, { number: 1, state: "finished" })
    }
    const { runs } = await json<{ readonly runs: ReadonlyArray<TestRunSummary> }>(at, ["runs", "list"], { env })
    assert.deepStrictEqual(
      runs.map(({ number }) => number),
      [1]
    )
  })

  test("publishes saved results where they were to go, with their files, and as flags correct them", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = as(workspace)
    const start = { ...savedStart, product: "shpo" }
    const files = [
      { path: "a/shot.txt", contentType: "text/plain", source: "saved/0" },
      { path: "a/gone.txt", contentType: "text/plain", source: "saved/1" }
    ]
    mkdirSync(join(at.directory, "saved"))
    writeFileSync(join(at.directory, "saved/0"), "seen")
    const write = (fields: object) =>
      writeFileSync(join(at.directory, "saved.json"), JSON.stringify({ start, finish, files, ...fields }))
    const publish = ["runs", "publish", "saved.json"]
    write({ service: env.DELIVERY_URL, workspace: env.DELIVERY_WORKSPACE })
    const refused = await at.delivery(publish, { env })
    assert.strictEqual(refused.code, 1)
    assert.match(refused.err, /^There is no product "shpo" in the workspace/)
    // The workspace is that of the file, whatever the environment says.
    const { code, err, out } = await at.delivery([...publish, "--product", "shop", "--json"], {
      env: { ...env, DELIVERY_WORKSPACE: "another" }
    })
    // The run is published, and a file that is gone is told as one that could not be attached.
    assert.deepStrictEqual([code, err.includes(`Publishing to the workspace ${env.DELIVERY_WORKSPACE}`)], [1, true])
    assert.include(err, "a/gone.txt")
    const published = JSON.parse(out) as Published
    assert.deepStrictEqual(published.files, ["a/shot.txt"])
    assert.deepStrictEqual(
      published.notAttached.map(({ path }) => path),
      ["a/gone.txt"]
    )
    assert.strictEqual(published.run.product.slug, "shop")
    // Corrected by a flag, the file goes on with its run, with and without the flag.
    for (const flags of [["--product", "shop"], []]) {
      const again = await json<Published>(at, [...publish, ...flags], { env })
      assert.strictEqual(again.run.number, published.run.number)
    }
    // The run has ended, and the file of its results says that it lacks some of theirs.
    const { number, url } = published.run
    const ended = { service: env.DELIVERY_URL, workspace: env.DELIVERY_WORKSPACE, run: number, url }
    write({ ...ended, start: { ...start, product: "shop" }, lacksFiles: true })
    assert.include(
      (await at.delivery(publish, { env })).err,
      `Run ${number} lacks files, and takes none any more. To publish all as a run of its own, add --again.`
    )
    assert.notInclude((await at.delivery([...publish, "--again"], { env })).err, "lacks files")
    // A number is of one service and one workspace.
    write({ service: "http://elsewhere.example", workspace: env.DELIVERY_WORKSPACE, run: 1 })
    const elsewhere = await at.delivery(publish, { env })
    assert.strictEqual(elsewhere.code, 2)
    assert.match(elsewhere.err, /has results of run 1 of http:\/\/elsewhere\.example, and this is/)
    write({ service: env.DELIVERY_URL, workspace: "another", run: 1 })
    const named = await at.delivery([...publish, "--workspace", env["DELIVERY_WORKSPACE"]!], { env })
    assert.deepStrictEqual(
      [named.code, named.err],
      [2, "--workspace: saved.json has results of the workspace another. Leave the flag out.\n"]
    )
  })

  test("publish --fail exits with 1 where nothing passed or failed", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    const skipped = '<testcase name="is skipped" classname="s"><skipped/></testcase>'
    writeFileSync(join(at.directory, "skip.xml"), `<testsuite name="s">${skipped}</testsuite>`)
    const passed = '<testcase name="passes" classname="s"/>'
    writeFileSync(join(at.directory, "some.xml"), `<testsuite name="s">${skipped}${passed}</testsuite>`)
    const publish = (...args: ReadonlyArray<string>) => at.delivery(["runs", "publish", ...args], { env })
    const failing = await publish("skip.xml", "--fail")
    assert.include(failing, {
      code: 1,
      err: "Nothing was tested: no test passed or failed, muted ones left out.\n"
    })
    assert.match(failing.out, /^Run 1 passed: 0 passed, 0 failed, 1 skipped/)
    assert.include(await publish("skip.xml"), { code: 0, err: "" })
    assert.include(await publish("some.xml", "--fail"), { code: 0, err: "" })
  })

  test("publish takes no file for the version that was set after it was written", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    const file = join(at.directory, "left.xml")
    writeFileSync(file, '<testsuite name="s"><testcase name="passes" classname="s"/></testsuite>')
    const hourAgo = new Date(Date.now() - 3_600_000)
    const publish = (...more: ReadonlyArray<string>) =>
      at.delivery(["runs", "publish", "left.xml", "--coverage", "critical", ...more], { env })
    const coverageOf = async (run: number) => (await json<TestRun>(at, ["runs", "show", String(run)], { env })).coverage

    // Where no version was set, a file may be of any age, and the run counts for none.
    utimesSync(file, hourAgo, hourAgo)
    const setting = "delivery deployments set-version --product shop --environment staging"
    assert.include(await publish("--fail"), {
      code: 0,
      err: `No version is set in Staging: this run counts for no version. To set one before the tests run: ${setting}\n`
    })
    assert.strictEqual(await coverageOf(1), "critical")

    await at.delivery([...setting.split(" ").slice(1), "0123456789abcdef", "--no-commits"], { env })
    const left = await publish("--fail")
    assert.strictEqual(left.code, 1)
    assert.match(
      left.err,
      /^left\.xml was written \S+Z, before the version 0123456 was set in \S+ \(\S+Z\)\. So the run has no coverage, and decides nothing\. --ignore-times keeps it\.\nThe results are older than the version: nothing was tested of it\.\n$/
    )
    assert.strictEqual(await coverageOf(2), null)
    assert.include(await publish(), { code: 0 })
    const kept = await publish("--fail", "--ignore-times")
    assert.strictEqual(kept.code, 0)
    assert.match(
      kept.err,
      /^left\.xml was written \S+Z, before the version 0123456 was set in \S+ \(\S+Z\)\. --ignore-times keeps the coverage of the run all the same\.\n$/
    )
    assert.strictEqual(await coverageOf(4), "critical")
    writeFileSync(file, readFileSync(file))
    assert.include(await publish("--fail"), { code: 0, err: "" })
    assert.strictEqual(await coverageOf(5), "critical")
    // What was tested is asked for before the deployment of it.
    const nowhere = await at.delivery(["runs", "publish", "left.xml", "--coverage", "critical"], { env: as(workspace) })
    assert.include(nowhere, { code: 2, err: "Say what was tested, and where: --product and --environment.\n" })
  })

  test("publish takes no results for the version that was set after their tests ended, as their file says", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    await at.delivery(["deployments", "set-version", "0123456789abcdef", "--no-commits"], { env })
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    const local = (minutes: number) => minutesAgo(minutes).slice(0, 19)
    const suite = (timestamp: string, seconds = 0) =>
      `<testsuite name="s"${timestamp}><testcase name="passes" classname="s" time="${seconds}"/></testsuite>`
    const stamped = (time: string, seconds?: number) => suite(` timestamp="${time}"`, seconds)
    const playwright = (starts: ReadonlyArray<string>) => {
      const results = starts.map((startTime) => ({ status: "passed", duration: 5, startTime, errors: [] }))
      const tests = [{ projectName: "", expectedStatus: "passed", results }]
      return JSON.stringify({ suites: [{ title: "a", specs: [{ title: "b", file: "a.ts", tests }] }] })
    }
    const published = async (contents: ReadonlyArray<string>, more: ReadonlyArray<string> = [], TZ = "UTC") => {
      const files = contents.map((content, number) => {
        writeFileSync(join(at.directory, `copy${number}.xml`), content)
        return `copy${number}.xml`
      })
      const ended = await at.delivery(["runs", "publish", ...files, "--coverage", "critical", "--fail", ...more], {
        env: { ...env, TZ }
      })
      const number = /^Run (\d+) /.exec(ended.out)![1]!
      const { coverage } = await workspace.get<TestRun>(`test-runs/${number}`)
      return { code: ended.code, coverage, err: ended.err }
    }
    const counts = { code: 0, coverage: "critical" as const, err: "" }

    const hourAgo = minutesAgo(60)
    const left = await published([stamped(hourAgo)])
    assert.include(left, { code: 1, coverage: null })
    const about = `The last test of copy0.xml ended ${hourAgo}, by the times in it, before the version 0123456 was set in `
    assert.include(left.err, about)
    assert.match(
      left.err,
      /\(\S+Z\)\. So the run has no coverage, and decides nothing\. --ignore-times keeps it\.\nThe results are older than the version: nothing was tested of it\.\n$/
    )
    const kept = await published([stamped(hourAgo)], ["--ignore-times"])
    assert.include(kept, { code: 0, coverage: "critical" })
    assert.include(kept.err, about)
    assert.match(kept.err, /\(\S+Z\)\. --ignore-times keeps the coverage of the run all the same\.\n$/)

    // It is told when the last test ended; a file without times is judged by when it was written.
    assert.deepStrictEqual(await published([stamped(hourAgo, 3_600)]), counts)
    assert.deepStrictEqual(await published([suite("")]), counts)
    // Each file is told for itself.
    assert.include(await published([suite(""), stamped(hourAgo)]), { code: 1, coverage: null })
    // Without an offset, the later of UTC and the time of the machine counts.
    assert.include(await published([stamped(local(60))]), { code: 1, coverage: null })
    assert.deepStrictEqual(await published([stamped(local(60))], [], "America/New_York"), counts)
    assert.include(await published([stamped(local(60))], [], "Asia/Tokyo"), { code: 1, coverage: null })
    assert.include(await published([stamped(local(24 * 60))], [], "America/New_York"), { code: 1, coverage: null })
    // Playwright's report: its newest attempt, which a retry may be.
    assert.include(await published([playwright([hourAgo])]), { code: 1, coverage: null })
    assert.deepStrictEqual(await published([playwright([hourAgo, minutesAgo(0)])]), counts)
  })

  test("opens the page of a run with the browser that BROWSER names", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    const { run } = await json<{ run: TestRunSummary }>(at, ["runs", "publish", fixture("go.xml")], { env })
    writeFileSync(join(at.directory, "bin/browser"), `#!/bin/sh\necho "$1" > "$HOME/opened"\n`, { mode: 0o755 })
    const opened = { url: run.url, opened: true }
    assert.deepStrictEqual(await json(at, ["runs", "open", "1"], { env: { ...env, BROWSER: "browser" } }), opened)
    assert.strictEqual(readFileSync(join(at.directory, "opened"), "utf8"), `${run.url}\n`)
    const without = { ...env, BROWSER: "no-such-browser" }
    assert.deepStrictEqual(await json(at, ["runs", "open", "1"], { env: without }), { ...opened, opened: false })
  })

  const git = (at: Home, ...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-c", "user.name=Ana Diaz", "-c", "user.email=ana@example.com", ...args], {
      cwd: at.directory,
      encoding: "utf8"
    }).trim()
  const commit = (at: Home, subject: string) => {
    git(at, "commit", "--quiet", "--allow-empty", "-m", subject)
    return git(at, "rev-parse", "HEAD")
  }

  /** What lies there besides is no change. */
  const repository = (at: Home) => {
    git(at, "init", "--quiet")
    writeFileSync(join(at.directory, ".git/info/exclude"), "*\n")
  }

  test("set-version sends the commits that git has since the last version", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    repository(at)
    const first = commit(at, "Add the basket")
    const setVersion = (...args: ReadonlyArray<string>) => at.delivery(["deployments", "set-version", ...args], { env })
    assert.deepInclude(await setVersion(), { code: 0, err: "No commits are sent: there was no version before.\n" })
    const second = commit(at, "Pay by card: \u001b[31mé, %n $(x)")
    git(at, "tag", "v2")
    const third = commit(at, "Pay by invoice")
    assert.include(await setVersion("v2"), { code: 0, err: "" })
    const args = ["deployments", "set-version", third]
    const changed = await json<{ previous: string; commits: ReadonlyArray<Commit> }>(at, args, { env })
    assert.strictEqual(changed.previous, "v2")
    assert.deepStrictEqual(
      changed.commits.map(({ author, sha, subject }) => ({ author, sha, subject })),
      [{ author: "Ana Diaz", sha: third, subject: "Pay by invoice" }]
    )
    const { releases } = await workspace.get<ReleasePage>("deployments/shop/staging/history")
    assert.deepStrictEqual(
      releases.map(({ commits, version }) => [version, commits.map(({ sha }) => sha)]),
      [
        [third, [third]],
        ["v2", [second]],
        [first, []]
      ]
    )
    assert.deepInclude(await setVersion("--no-commits", "other", "--override", "Payment is down"), { code: 0, err: "" })
    const [newest] = (await workspace.get<ReleasePage>("deployments/shop/staging/history")).releases
    assert.deepInclude(newest, { version: "other", override: "Payment is down" })
    // A short id, as screens show it, is the commit's.
    assert.deepInclude(await setVersion(third.slice(0, 7)), {
      code: 0,
      err: "No commits are sent: git knows no commit other here.\n"
    })
    const listed = await at.delivery(["deployments", "list"], { env })
    assert.match(listed.out, new RegExp(`^shop\\s+staging\\s+${third}`, "m"))
  })

  test("set-version says that the commit is recorded without the uncommitted changes", async (owner) => {
    const workspace = await newDeployment(owner, { version: "1" })
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    repository(at)
    writeFileSync(join(at.directory, "basket.ts"), "1")
    git(at, "add", "--force", "basket.ts")
    const head = commit(at, "Add the basket")
    const setVersion = (...args: ReadonlyArray<string>) =>
      at.delivery(["deployments", "set-version", "--no-commits", ...args], { env })
    assert.include(await setVersion(), { code: 0, err: "" })
    writeFileSync(join(at.directory, "basket.ts"), "2")
    const { code, err } = await setVersion()
    assert.deepStrictEqual(
      [code, err],
      [0, `There are uncommitted changes here: the commit ${head} is recorded, which is without them.\n`]
    )
    assert.strictEqual((await workspace.get<Deployment>("deployments/shop/staging")).version, head)
    assert.include(await setVersion("v2"), { code: 0, err: "" })
  })

  test("set-version says what the policy has against the version, unless it is told why", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    const set = (...args: ReadonlyArray<string>) =>
      at.delivery(["deployments", "set-version", ...args, "--no-commits"], { env })
    assert.deepStrictEqual(await set("1"), { code: 0, out: "Shop in Staging: unknown → 1.\n", err: "" })
    const policy = await workspace.send("PUT", "deployments/shop/staging/readiness-policy", {
      json: { requires: [{ coverage: "critical" }] }
    })
    assert.strictEqual(policy.status, 200, policy.text)
    assert.deepStrictEqual(await set("2"), {
      code: 0,
      out: "Shop in Staging: 1 → 2.\n",
      err:
        "The policy keeps this version back: No run of 2 with the whole coverage critical has finished in another environment. A run is of the version that the deployment had when the run began, not of its commit: record the version first, with delivery deployments set-version. " +
        "It is recorded all the same, without a reason: a release takes that with the version, from --override REASON.\n"
    })
    // A wrong call says how it is called right.
    const wrong = await set("3", "surplus")
    assert.include(wrong, { code: 2, out: "" })
    assert.include(wrong.err, "\nUsage: delivery deployments set-version [flags] [<version>]\nAdd --help")
    const late = await set("2", "--override", "Too late")
    assert.deepInclude(late, { code: 1, out: "" })
    assert.include(late.err, "nothing has changed, and the reason is not kept")
    assert.deepStrictEqual(await set("3", "--override", "An outage"), {
      code: 0,
      out: "Shop in Staging: 2 → 3.\n",
      err: ""
    })
  })

  test("history tells which releases went out against the policy", async (owner) => {
    const workspace = await newDeployment(owner)
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    const set = (...args: ReadonlyArray<string>) =>
      at.delivery(["deployments", "set-version", ...args, "--no-commits"], { env })
    const history = (...args: ReadonlyArray<string>) =>
      at.delivery(["deployments", "history", "shop", "staging", ...args], { env })
    assert.deepStrictEqual(await history(), { code: 0, out: "No release.\n", err: "" })
    await set("1")
    assert.deepStrictEqual(await history("--not-ready"), {
      code: 0,
      out: "No release that was not ready.\nThe deployment has no readiness policy: what goes out there is not judged.\n1 release was not judged: 1.\n",
      err: ""
    })
    const policy = { requires: [{ coverage: "critical" }] }
    await workspace.send("PUT", "deployments/shop/staging/readiness-policy", { json: policy })
    await set("2", "--override", "Payment is down")
    await workspace.send("PUT", "deployments/shop/staging/readiness-policy", { json: {} })
    await set("3")
    assert.deepStrictEqual(
      (await history()).out
        .split("\n")
        .map((row) => row.replace(/\s\s+(\S+Z)\s\s+/, " at ").trimEnd())
        .slice(1),
      [
        "3        3 at Owner  ready, but nothing is required; warned of version unknown",
        "2        2 at Owner  not ready: run missing; warned of version unknown          Override: Payment is down",
        "1        1 at Owner",
        ""
      ]
    )
    const kept = await json<{ releases: ReadonlyArray<Release>; notJudged: ReadonlyArray<number>; before: null }>(
      at,
      ["deployments", "history", "shop", "staging", "--not-ready"],
      { env }
    )
    assert.deepStrictEqual(
      [kept.releases.map(({ readiness, version }) => [version, readiness]), kept.notJudged, kept.before],
      [
        [
          [
            "2",
            {
              ready: false,
              reasons: [{ kind: "run_missing", count: 1 }],
              warnings: [{ kind: "version_unknown", count: 1 }],
              requires: ["critical"],
              runs: []
            }
          ]
        ],
        [1],
        null
      ]
    )
    assert.match((await history("--not-ready")).out, /not ready: run missing.*\n1 release was not judged: 1\.\n$/)
    const first = await history("--not-ready", "--before", "2")
    assert.strictEqual(first.out, "No release that was not ready.\n1 release was not judged: 1.\n")

    // Whoever deletes the deployment deletes nothing that went out there.
    const { baseUrl, id } = await workspace.get<Deployment>("deployments/shop/staging")
    const deployment = { product: "shop", environment: "staging", baseUrl }
    await workspace.send("DELETE", "deployments/shop/staging")
    const ended = /2 .* not ready: run missing.*Override: Payment is down; Its deployment was deleted at \S+Z\n/
    assert.match((await history("--not-ready")).out, ended)
    assert.match((await history("--not-ready", "--before", "2")).out, /1 release was not judged: 1\.\n$/)
    await workspace.post("deployments", { ...deployment, version: "4" })
    const rows = (await history()).out.split("\n")
    assert.deepStrictEqual(
      rows.map((row) => [row[0], row.includes("Its deployment was deleted at")]),
      [
        ["R", false],
        ["4", false],
        ["3", true],
        ["2", true],
        ["1", true],
        [undefined, false]
      ]
    )
    assert.match((await history("--not-ready")).out, ended)
    const second = await history("--before", "2", "--deployment", id)
    assert.deepStrictEqual(
      second.out.split("\n").map((row) => row[0]),
      ["R", "1", undefined]
    )
    const unknown = await history("--deployment", "0197a1b2-0000-7000-8000-000000000006")
    assert.deepInclude(unknown, { code: 1, out: "" })
  })

  test("set-version says which locked run holds the deployment, and does nothing", async (owner) => {
    const workspace = await newDeployment(owner, { version: "1" })
    const at = home()
    const env = { ...as(workspace), DELIVERY_PRODUCT: "shop", DELIVERY_ENVIRONMENT: "staging" }
    await startRun(workspace, { locked: true })
    const held = await at.delivery(["deployments", "set-version", "2", "--no-commits"], { env })
    assert.include(held, { code: 1, out: "" })
    assert.match(held.err, /run 1/)
    const { version } = await workspace.get<Deployment>("deployments/shop/staging")
    assert.strictEqual(version, "1")
    assert.include(await at.delivery(["deployments", "set-version", "2", "--no-commits", "--force"], { env }), {
      code: 0
    })
  })

  test("runs say what the gate says where that is something else, and why", async (owner) => {
    const workspace = await newDeployment(owner, { version: "1" })
    const at = home()
    const env = as(workspace)
    const { number } = await startRun(workspace, { git: savedStart.git })
    await finishRun(workspace, number, { tests: [report("a", { attempt: attempt("failed") })] })
    await workspace.send("PATCH", "deployments/shop/staging", { json: { version: "2" } })
    const { retry } = await workspace.post<{ retry: number }>(`test-runs/${number}/retries`, {
      passes: 1,
      baseUrl: null,
      git: savedStart.git,
      machine: savedStart.machine
    })
    const attempts = [attempt("passed")]
    await workspace.post(
      `test-runs/${number}/retries/${retry}/finish`,
      { interrupted: false, tests: [{ caseId: "a", attempts }] },
      200
    )
    const why =
      "failed for the gate: what failed passed only on another release or address, or with uncommitted changes"
    assert.include((await at.delivery(["runs", "list"], { env })).out, `passed, ${why}`)
    assert.match(
      (await at.delivery(["runs", "show", String(number)], { env })).out,
      /^Retry 1 passed: 1 of 1 test passed, on another release or address, or with uncommitted changes: https?:.*$/m
    )
    assert.match((await at.delivery(["runs", "show", String(number)], { env })).out, new RegExp(`^${why}$`, "m"))
  })

  test("runs say where they tested nothing, a part of the tests or a deployment that changed", async (owner) => {
    const workspace = await newDeployment(owner, { version: "1" })
    const at = home()
    const env = as(workspace)
    const { number } = await startRun(workspace, { selection: { coverage: null, folders: ["basket"], caseIds: [] } })
    await workspace.send("PATCH", "deployments/shop/staging", { json: { version: "2" } })
    await finishRun(workspace, number, { tests: [report("a", { attempt: null })] })
    const whole = await startRun(workspace)
    await finishRun(workspace, whole.number, { tests: [report("a")] })
    const { out } = await at.delivery(["runs", "list"], { env })
    const [, newest, first] = out.split("\n")
    assert.include(first, "passed, nothing tested, the deployment changed while it ran, a part of the tests")
    assert.notMatch(newest!, /nothing|changed|part/)
    const shown = await at.delivery(["runs", "show", String(number)], { env })
    assert.match(shown.out, /^Nothing tested\nThe deployment changed while it ran\nA part of the tests$/m)
    const { events } = await workspace.get<{
      events: ReadonlyArray<{ kind: string; changes: ReadonlyArray<{ field: string; to: string | null }> }>
    }>("events?kinds=run_finished")
    const told = events.map(({ changes }) => changes.filter(({ to }) => to === "true").map(({ field }) => field))
    assert.deepStrictEqual(
      told.toSorted((a, b) => a.length - b.length),
      [[], ["nothingTested", "deploymentChanged", "partOfTests"]]
    )
  })

  test("runs say which of them tested another address than the deployment's", async (owner) => {
    const workspace = await newDeployment(owner, { version: "1" })
    const at = home()
    const env = as(workspace)
    await startRun(workspace, { baseUrl: "https://staging.shop.example/" })
    const { number } = await startRun(workspace, { baseUrl: "https://preview-7.example.com" })
    const { out } = await at.delivery(["runs", "list"], { env })
    const [, newest, first] = out.split("\n")
    assert.include(newest, "running, of another address")
    assert.notInclude(first, "address")
    assert.match(
      (await at.delivery(["runs", "show", String(number)], { env })).out,
      /^Tested https:\/\/preview-7\.example\.com, which is not the deployment: https:\/\/staging\.shop\.example$/m
    )
  })

  test("runs end the retry that nobody finishes, if it is theirs", async (owner) => {
    const workspace = await newDeployment(owner, { version: "1" })
    const at = home()
    const { number } = await startRun(workspace, { git: savedStart.git })
    await finishRun(workspace, number, { tests: [report("a", { attempt: attempt("failed") })] })
    const startRetry = (by: Http) =>
      by.post(`test-runs/${number}/retries`, {
        passes: 1,
        baseUrl: null,
        git: savedStart.git,
        machine: savedStart.machine
      })
    await startRetry(workspace)
    const shown = async () => (await at.delivery(["runs", "show", String(number)], { env: as(workspace) })).out
    assert.match(await shown(), /^Retry 1 is running: 1 test$/m)
    const ci = await accountKey(workspace, "member")
    assert.deepStrictEqual(
      await at.delivery(["runs", "end", String(number)], { env: { ...as(workspace), DELIVERY_API_KEY: ci.key! } }),
      {
        code: 1,
        out: "",
        err: `Only its publisher, Owner, or an admin may end retry 1 of run ${number}. Otherwise the service ends it, at its time limit.\n`
      }
    )
    const ended = await at.delivery(["runs", "end", String(number)], { env: as(workspace) })
    assert.deepInclude(ended, { code: 0, err: "" })
    assert.match(ended.out, new RegExp(`^Retry 1 of run ${number} has ended as interrupted\\. http`))
    assert.match(await shown(), /^Retry 1 interrupted: 0 of 1 test passed$/m)
    const run = await workspace.get<TestRun>(`test-runs/${number}`)
    assert.deepStrictEqual(
      [run.state, run.result, ...run.retries.map(({ state }) => state)],
      ["finished", "failed", "interrupted"]
    )
    assert.include(await at.delivery(["runs", "end", String(number)], { env: as(workspace) }), {
      code: 1,
      err: "The run is no longer running.\n"
    })
  })

  test("ready tells why a version may not go out, and says so by its exit code", async (owner) => {
    const workspace = await newDeployment(owner, { version: "1" })
    const at = home()
    const env = as(workspace)
    const ready = (...args: ReadonlyArray<string>) =>
      at.delivery(["deployments", "ready", "shop", "staging", ...args], { env })
    const put = async (json: object) => {
      const { status } = await workspace.send("PUT", "deployments/shop/staging/readiness-policy", { json })
      assert.strictEqual(status, 200)
    }
    const free = "1 for shop in staging: ready, but no run is required\n"
    assert.deepStrictEqual(await ready(), { code: 0, out: free, err: "" })
    assert.include(await ready("--known"), { code: 0, out: free })
    const typo = await ready("--version", "typo-1")
    assert.include(typo, { code: 0, err: "" })
    assert.deepStrictEqual(
      typo.out.split("\n").map((line) => line.split(/\s{2,}/)),
      [
        ["typo-1 for shop in staging: ready, but nobody has released or tested it, and no run is required"],
        ["Severity", "Reason"],
        ["warn", "version_unknown", "Nobody has released or tested typo-1: no deployment of the product ever had it."],
        [""]
      ]
    )
    assert.include(await ready("--version", "typo-1", "--known"), {
      code: 1,
      err: "Nobody has released or tested the version.\n"
    })
    // Of a commit, its beginning will do.
    const sha = "2".repeat(40)
    for (const version of [sha, "1"]) await workspace.patch("deployments/shop/staging", { version })
    assert.include(await ready("--version", "2222222", "--known"), { code: 0, out: free.replace("1", sha) })
    await put({ requires: [{ coverage: "critical" }, { coverage: "regression", severity: "warn" }] })
    const refused = await ready("--version", "2")
    assert.include(refused, { code: 1, err: "It may not go out.\n" })
    assert.deepStrictEqual(
      refused.out.split("\n").map((line) => line.split(/\s{2,}/)),
      [
        ["2 for shop in staging: not ready"],
        ["Severity", "Reason"],
        [
          "block",
          "run_missing",
          "No run of 2 with the whole coverage critical has finished in another environment. A run is of the version that the deployment had when the run began, not of its commit: record the version first, with delivery deployments set-version."
        ],
        ["warn", "version_unknown", "Nobody has released or tested 2: no deployment of the product ever had it."],
        [
          "warn",
          "run_missing",
          "No run of 2 with the whole coverage regression has finished in another environment. A run is of the version that the deployment had when the run began, not of its commit: record the version first, with delivery deployments set-version."
        ],
        [""]
      ]
    )
    // What decides is told with what it rests on.
    await workspace.post("environments", { slug: "dev", name: "Dev", class: "non-production" })
    await workspace.post("deployments", {
      product: "shop",
      environment: "dev",
      baseUrl: "https://dev.example",
      version: "1"
    })
    const [key, critical] = [teamKey(), { coverage: "critical", folders: [], caseIds: [] } as const]
    await workspace.post("teams", { key, name: "Engineering" })
    const me = await workspace.get<Me>("/v1/me")
    const { identifier } = await workspace.post<Ticket>("tickets", { team: key, title: "Tax", owner: me.id })
    const until = new Date(Date.now() + 24 * 60 * 60_000).toISOString()
    const muting = await workspace.send("PUT", `tickets/${identifier}/mute`, {
      json: { product: "shop", cases: ["tax"], until }
    })
    assert.strictEqual(muting.status, 200, muting.text)
    const started = { environment: "dev", selection: critical, baseUrl: "https://dev.example" }
    const preview = await startRun(workspace, { ...started, baseUrl: "http://localhost:3000" })
    const now = { startedAt: new Date().toISOString() }
    const pays = report("pays", { attempt: attempt("passed", now) })
    await finishRun(workspace, preview.number, { tests: [pays] })
    const isLeftOut = `Run ${preview.number} passed, but does not count: it tested http://localhost:3000, not the address that the deployment had then and has now.`
    await put({ requires: [{ coverage: "critical" }] })
    const unready = await ready()
    assert.strictEqual(unready.code, 1)
    assert.include(unready.out, isLeftOut)
    const run = await startRun(workspace, started)
    const [failed, skipped] = [{ attempt: attempt("failed", now) }, { attempt: null }]
    await finishRun(workspace, run.number, {
      tests: [report("tax", { ...failed, title: "rounds the tax" }), pays, report("prints", skipped)]
    })
    const mutedLines = [
      "1 for shop in staging: ready, but 1 failed test is muted",
      `Run ${run.number} in dev, critical: failed, passed without its muted tests (1 failed, 1 passed, 1 skipped), tests of main 9fceb02 against 1`,
      `Run ${run.number}: “rounds the tax” failed, and was muted by ${identifier}.`
    ]
    assert.deepStrictEqual(await ready(), { code: 0, out: `${mutedLines.join("\n")}\n`, err: "" })
    const newer = await startRun(workspace, started)
    assert.include(
      (await ready()).out,
      `Run ${newer.number} is still running: until it ends, run ${run.number} decides for the coverage critical.`
    )
    await finishRun(workspace, newer.number, { interrupted: true })
    assert.include(
      (await ready()).out,
      `Run ${newer.number} is newer and was interrupted: run ${run.number} decides for the coverage critical.`
    )

    await put({ requires: [{ coverage: "critical", severity: "warn" }] })
    const warned = await json<Readiness>(at, ["deployments", "ready", "shop", "staging", "--version", "2"], { env })
    assert.deepStrictEqual(
      [warned.ready, warned.version, warned.reasons.map(({ kind }) => kind)],
      [true, "2", ["version_unknown", "run_missing"]]
    )
    await workspace.post("environments", { slug: "qa", name: "QA", class: "non-production" })
    await put({ from: "qa" })
    const sourceless = await ready()
    assert.include(sourceless, { code: 1, err: "No version is known to go out: say which, with --version.\n" })
    assert.deepStrictEqual(
      sourceless.out.split("\n").map((line) => line.split(/\s{2,}/)),
      [
        ["1 for shop in staging: not ready, no next version is known"],
        ["Severity", "Reason"],
        ["block", "version_missing", "No version is known to run in QA, from which versions come, and none was named."],
        [""]
      ]
    )
    const undeployed = await ready("--version", "1")
    assert.strictEqual(undeployed.code, 1)
    assert.include(undeployed.out, "The product is not deployed in QA, from which versions come")
    await workspace.post("deployments", {
      product: "shop",
      environment: "qa",
      version: "1",
      baseUrl: "https://qa.example"
    })
    assert.include(await ready("--version", "1"), { code: 0, err: "" })
    assert.include(await ready("--version"), { code: 2, out: "" })
    assert.include(await at.delivery(["deployments", "ready", "shop"], { env }), { code: 2, out: "" })
    const absent = await at.delivery(["deployments", "ready", "shop", "nowhere"], { env })
    assert.include(absent, { code: 1, out: "" })
    const unreachable = { ...env, DELIVERY_URL: "http://127.0.0.1:1" }
    assert.include(await at.delivery(["deployments", "ready", "shop", "staging"], { env: unreachable }), { code: 4 })
    // The command line still tells its own version.
    assert.match((await at.delivery(["--version"])).out, /\d+\.\d+\.\d+/)
  })

  test("tickets are created, listed, shown and taken, and not taken from others unless forced", async (owner) => {
    const workspace = await newWorkspace(owner)
    const key = teamKey()
    await workspace.post("teams", { key, name: "Engineering", visibility: "open" })
    const at = home()
    const env = as(workspace)
    writeFileSync(join(at.directory, "about.md"), "Visa\n\u001b[31mMastercard\n")
    const create = ["tickets", "create", "Pay by card", "--team", key.toLowerCase(), "--description-file", "about.md"]
    const made = await json<Ticket>(at, create, { env })
    assert.strictEqual(made.description, "Visa\n\u001b[31mMastercard\n")
    const sam = await joinWorkspace(workspace, "member")
    const taken = await json<Ticket>(at, ["tickets", "take", made.identifier], { env: as(sam) })
    assert.strictEqual(taken.owner?.id, sam.id)
    const refused = await at.delivery(["tickets", "take", made.identifier], { env })
    assert.deepInclude(refused, {
      code: 1,
      out: "",
      err: "Sam is responsible for it: add --force to take it nevertheless.\n"
    })
    const forced = await json<Ticket>(at, ["tickets", "take", made.identifier, "--force"], { env })
    assert.notStrictEqual(forced.owner?.id, sam.id)
    const ofTeam = ["tickets", "list", "--owner", "me", "--team", key.toLowerCase()]
    const listed = await at.delivery(ofTeam, { env })
    assert.match(listed.out, new RegExp(`^${made.identifier}\\s+Todo|^${made.identifier}\\s+Backlog`, "m"))
    const slug = key.toLowerCase()
    await workspace.post("projects", { slug, name: slug, teams: [key] })
    await workspace.post(`projects/${slug}/milestones`, { name: "Beta" })
    await workspace.patch(`tickets/${made.identifier}`, { project: slug, milestone: 1 })
    await workspace.post("tickets", { team: key, title: "Another", project: slug })
    const ofMilestone = await json<{ tickets: ReadonlyArray<Ticket> }>(
      at,
      ["tickets", "list", "--milestone", `${slug}/1`],
      { env }
    )
    assert.deepStrictEqual(
      ofMilestone.tickets.map(({ identifier }) => identifier),
      [made.identifier]
    )
    const shown = await at.delivery(["tickets", "show", made.identifier.toLowerCase()], { env })
    assert.include(shown.out, "\nVisa\nMastercard\n")
    const machine = await accountKey(workspace, "member")
    assert.include(await at.delivery(["tickets", "take", made.identifier], { env: as(machine) }), { code: 1, out: "" })
  })

  const withProduction = async (owner: Http): Promise<Http> => {
    const workspace = await newDeployment(owner)
    await workspace.post("environments", { slug: "live", name: "Live", class: "production" })
    return workspace
  }
  const secretsEnv = (workspace: Http) => ({
    ...as(workspace),
    DELIVERY_PRODUCT: "shop",
    DELIVERY_ENVIRONMENT: "staging"
  })

  test("set and get keep a value to the byte, and values of production are not given out", async (owner) => {
    const workspace = await withProduction(owner)
    const at = home()
    const env = secretsEnv(workspace)
    const value = "  π'\"$x\\n\r\nlast"
    assert.include(await at.delivery(["secrets", "set", "A"], { env, input: `${value}\n` }), { code: 0, err: "" })
    assert.deepStrictEqual(await at.delivery(["secrets", "get", "A"], { env }), { code: 0, err: "", out: value })
    writeFileSync(join(at.directory, "value"), `${value}\n`)
    // A pipe that brings nothing clears nothing, and a value in an argument is refused.
    assert.include(await at.delivery(["secrets", "set", "A"], { env, input: "" }), { code: 2, out: "" })
    const asArgument = await at.delivery(["secrets", "set", "A=canary-argument"], { env, input: "x" })
    assert.include(asArgument, { code: 2, out: "" })
    assert.notInclude(asArgument.err, "canary-argument")
    assert.deepStrictEqual(await at.delivery(["secrets", "get", "A"], { env }), { code: 0, err: "", out: value })
    const fromFile = await at.delivery(["secrets", "set", "A", "--file", "value"], { env })
    assert.include(fromFile, { code: 0, err: "" })
    assert.notInclude(fromFile.out, "π")
    assert.deepInclude(await json<object>(at, ["secrets", "get", "A"], { env }), { version: 2, value: `${value}\n` })
    const live = { env: { ...env, DELIVERY_ENVIRONMENT: "live" }, input: "canary-7f" }
    assert.include(await at.delivery(["secrets", "set", "A"], live), { code: 0, err: "" })
    for (const command of [["get", "A"], ["export"], ["export", "--json"]]) {
      const refused = await at.delivery(["secrets", ...command], live)
      assert.include(refused, { code: 1, out: "" }, command.join(" "))
      assert.match(refused.err, /hidden from you/)
    }
    const listed = await at.delivery(["secrets", "list"], { env })
    assert.match(listed.out, /^Secret +live +staging\nA +1 +2\n$/)
    assert.include(await at.delivery(["secrets", "get", "B"], { env }), { code: 1, out: "" })
  })

  test("a value that is too long is named with its size, and nothing is written", async (owner) => {
    const workspace = await withProduction(owner)
    const at = home()
    const env = secretsEnv(workspace)
    const tooLong = { code: 2, out: "", err: "OVER is 65,537 bytes; a value may have 65,536.\n" }
    writeFileSync(join(at.directory, "value"), `€${"a".repeat(65_534)}`)
    assert.deepStrictEqual(await at.delivery(["secrets", "set", "OVER", "--file", "value"], { env }), tooLong)
    writeFileSync(join(at.directory, "a.env"), `A=1\nOVER=€${"a".repeat(65_534)}\n`)
    assert.deepStrictEqual(await at.delivery(["secrets", "import", "a.env", "--yes"], { env }), tooLong)
    assert.deepStrictEqual(await json(at, ["secrets", "export"], { env }), {})
    writeFileSync(join(at.directory, "value"), `€${"a".repeat(65_533)}`)
    assert.include(await at.delivery(["secrets", "set", "FULL", "--file", "value"], { env }), { code: 0, err: "" })
  })

  test("set says which names and values no product can be started with, as import does", async (owner) => {
    const workspace = await withProduction(owner)
    const at = home()
    const env = secretsEnv(workspace)
    const warning = "No shell can have these names, and `secrets export` prints none of them: a-b.\n"
    assert.deepStrictEqual(await at.delivery(["secrets", "set", "a-b"], { env, input: "1" }), {
      code: 0,
      out: "a-b is at version 1 in staging.\n",
      err: warning
    })
    writeFileSync(join(at.directory, "a.env"), "a-b=2\n")
    assert.include((await at.delivery(["secrets", "import", "a.env", "--yes"], { env })).err, warning)
    const binary = await at.delivery(["secrets", "set", "A"], { env, input: "a\0b" })
    assert.deepInclude(binary, {
      code: 0,
      err: "No product can be started with these values, which have a NUL: A.\n"
    })
  })

  test("clear takes the value of one environment away, once that is confirmed", async (owner) => {
    const workspace = await withProduction(owner)
    const at = home()
    const env = secretsEnv(workspace)
    assert.include(await at.delivery(["secrets", "set", "A"], { env, input: "canary" }), { code: 0 })
    const unasked = await at.delivery(["secrets", "clear", "A"], { env })
    assert.deepInclude(unasked, {
      code: 2,
      err: "Nobody can be asked here: add --yes to do this without asking.\n"
    })
    assert.include(await at.delivery(["secrets", "get", "A"], { env }), { code: 0, out: "canary" })
    assert.deepStrictEqual(await at.delivery(["secrets", "clear", "A", "--yes"], { env }), {
      code: 0,
      err: "",
      out: "A has no value in staging since version 2. Earlier versions are kept.\n"
    })
    assert.deepStrictEqual(await at.delivery(["secrets", "get", "A"], { env }), {
      code: 1,
      out: "",
      err: "A has no value in staging.\n"
    })
    assert.include(await at.delivery(["secrets", "clear", "NONE", "--yes"], { env }), { code: 1, out: "" })
  })

  test("import shows what would change, by name, and writes it once it is agreed to", async (owner) => {
    const workspace = await withProduction(owner)
    const at = home()
    const env = secretsEnv(workspace)
    await at.delivery(["secrets", "set", "SAME"], { env, input: "canary-same" })
    await at.delivery(["secrets", "set", "OTHER"], { env, input: "canary-old" })
    writeFileSync(join(at.directory, ".env"), "SAME=canary-same\nOTHER='canary new'\n# none\nNEW=\"canary\nlines\"\n")
    const asked = await at.delivery(["secrets", "import", ".env"], { env })
    assert.include(asked, { code: 2, out: "" })
    assert.notInclude(asked.err, "canary")
    assert.include(asked.err, "Secret  Change\nNEW     create\nOTHER   change\nSAME    same\n")
    assert.strictEqual((await at.delivery(["secrets", "get", "OTHER"], { env })).out, "canary-old")
    const done = await at.delivery(["secrets", "import", ".env", "--yes"], { env })
    assert.include(done, { code: 0, out: "2 values are written.\n" })
    assert.strictEqual((await at.delivery(["secrets", "get", "OTHER"], { env })).out, "canary new")
    assert.deepInclude(await json<object>(at, ["secrets", "get", "SAME"], { env }), { version: 1 })
    const again = await at.delivery(["secrets", "import", ".env"], { env })
    assert.deepStrictEqual(again, { code: 0, err: "", out: "Nothing would change.\n" })
    const live = { env: { ...env, DELIVERY_ENVIRONMENT: "live" } }
    await at.delivery(["secrets", "import", ".env", "--yes"], live)
    const hidden = await at.delivery(["secrets", "import", ".env"], live)
    assert.include(hidden.err, "SAME    write\n")
  })

  test("import names what no product can be started with before it writes anything", async (owner) => {
    const workspace = await withProduction(owner)
    const at = home()
    const env = secretsEnv(workspace)
    writeFileSync(join(at.directory, ".env"), "A=1\nLD_PRELOAD=evil.so\nNODE_OPTIONS=-r\nZERO='\0'\n")
    assert.deepStrictEqual(await at.delivery(["secrets", "import", ".env", "--yes"], { env }), {
      code: 2,
      out: "",
      err: "Nothing is written: no product may be started with these names or values: LD_PRELOAD, NODE_OPTIONS, ZERO. Take them out of the file.\n"
    })
    assert.deepInclude(await json<object>(at, ["secrets", "list"], { env }), { secrets: [] })
    writeFileSync(join(at.directory, ".env"), "A=1\na-b=2\nmy.name=3\n")
    const strange = await at.delivery(["secrets", "import", ".env"], { env })
    assert.strictEqual(strange.code, 2)
    assert.include(
      strange.err,
      "No shell can have these names, and `secrets export` prints none of them: a-b, my.name.\n"
    )
  })

  test("export prints what sh and Node read back to the byte, or names what a file cannot have", async (owner) => {
    const workspace = await withProduction(owner)
    const at = home()
    const env = secretsEnv(workspace)
    const values = { A: "it's # plain", B: '"$HOME" `x` \\n', C: "two\nlines ", D: "", E: "🧪=1" }
    for (const [name, value] of Object.entries(values)) {
      await workspace.post("products/shop/secrets", { name, values: { staging: value } })
    }
    const { out } = await at.delivery(["secrets", "export"], { env })
    writeFileSync(join(at.directory, "exported"), out)
    const printed = 'JSON.stringify(Object.fromEntries("ABCDE".split("").map((n) => [n, process.env[n]])))'
    const print = ["-p", printed]
    const options = { cwd: at.directory, encoding: "utf8", env: { PATH: process.env["PATH"]! } } as const
    const byNode = execFileSync(process.execPath, ["--env-file=exported", ...print], options)
    assert.deepStrictEqual(JSON.parse(byNode), values)
    const script = `set -a; . ./exported; exec "${process.execPath}" -p '${printed}'`
    assert.deepStrictEqual(JSON.parse(execFileSync("sh", ["-c", script], options)), values)
    await workspace.post("products/shop/secrets", { name: "not a name", values: { staging: "x" } })
    await workspace.post("products/shop/secrets", { name: "BOTH", values: { staging: `'"` } })
    const refused = await at.delivery(["secrets", "export"], { env })
    assert.include(refused, { code: 1, out: "" })
    assert.include(refused.err, "BOTH, not a name")
    writeFileSync(join(at.directory, "a.env"), "A=1\n")
    for (const args of [["get", "BOTH"], ["export"], ["import", "a.env", "--yes"]]) {
      const nowhere = await at.delivery(["secrets", ...args, "--environment", "moon"], { env })
      assert.deepStrictEqual(nowhere, { code: 1, out: "", err: 'There is no environment "moon".\n' })
    }
    assert.deepStrictEqual(await json(at, ["secrets", "export"], { env }), { ...values, BOTH: `'"`, "not a name": "x" })
  })

  test("a write that needs a second person is asked for, approved, made and ended", async (owner) => {
    const workspace = await withProduction(owner)
    await workspace.patch("environments/live", { approvals: true })
    const [sam, ada] = [await joinWorkspace(workspace, "member"), await joinWorkspace(workspace, "admin")]
    const at = home()
    const set = () =>
      at.delivery(["secrets", "set", "A"], {
        env: { ...secretsEnv(workspace), ...as(sam), DELIVERY_ENVIRONMENT: "live" },
        input: "canary-7f"
      })
    const refused = await set()
    assert.include(refused, { code: 1, out: "" })
    assert.include(refused.err, "Live: writes there need the approval of a second person.")
    assert.include(refused.err, "`delivery approvals request live`")
    const approvals = (by: Http, ...args: ReadonlyArray<string>) => at.delivery(["approvals", ...args], { env: as(by) })
    assert.include(await approvals(sam, "list"), { code: 0, err: "", out: "No approvals.\n" })
    for (const minutes of ["4", "481", "x"]) {
      assert.include(await approvals(sam, "request", "live", "--reason", "Why", "--minutes", minutes), { code: 2 })
    }
    const ask = async () => {
      const args = ["approvals", "request", "live", "--reason", "Rotate a key"]
      return json<Approval>(at, args, { env: as(sam) })
    }
    const { id } = await ask()
    const again = await approvals(sam, "request", "live", "--reason", "Rotate a key", "--minutes", "5")
    assert.include(again, { code: 1, err: "You have asked for an approval in Live already. It is pending.\n" })
    const listed = await approvals(ada, "list", "--state", "pending", "--environment", "live")
    assert.include(listed, { code: 0, err: "" })
    assert.match(listed.out, new RegExp(`^${id} +live +pending +30 min +Sam +20`, "m"))
    assert.include(await approvals(sam, "approve", id), { code: 1, out: "" })
    const approved = await approvals(ada, "approve", id)
    assert.include(approved, { code: 0, err: "" })
    assert.match(approved.out, /^Sam may write in Live until 20\S+Z\.\n$/)
    assert.include(await set(), { code: 0, err: "", out: "A is at version 1 in live.\n" })
    assert.include(await approvals(ada, "end", id), {
      code: 0,
      out: "The approval has ended: writes are refused from now on.\n"
    })
    assert.include(await set(), { code: 1, out: "" })
    assert.include(await approvals(ada, "reject", (await ask()).id, "--reason", "Not today"), {
      code: 0,
      out: "Sam may not write in Live.\n"
    })
    assert.include(await approvals(ada, "reject", (await ask()).id), { code: 0 })
    assert.include(await approvals(sam, "end", (await ask()).id), { code: 0, out: "The approval is withdrawn.\n" })
    const { approvals: all } = await json<{ approvals: ReadonlyArray<Approval> }>(at, ["approvals", "list"], {
      env: as(sam)
    })
    assert.deepStrictEqual(
      all.map(({ decisionReason, reason, state }) => [state, reason, decisionReason]),
      [
        ["withdrawn", "Rotate a key", null],
        ["rejected", "Rotate a key", null],
        ["rejected", "Rotate a key", "Not today"],
        ["ended", "Rotate a key", null]
      ]
    )
  })

  test("every command of the README works", async (owner) => {
    const workspace = await newDeployment(owner)
    const made = await workspace.post<NewDeploymentToken>("deployments/shop/staging/tokens", { name: "server" })
    await workspace.post("teams", { key: "ENG", name: "Engineering", visibility: "open" })
    const at = home()
    repository(at)
    commit(at, "Add the basket")
    mkdirSync(join(at.directory, "screenshots"))
    writeFileSync(join(at.directory, "screenshots/a.png"), "picture")
    writeFileSync(join(at.directory, "key"), apiKey)
    writeFileSync(join(at.directory, "password"), "hunter2\n")
    writeFileSync(join(at.directory, "staging.env"), "API_URL=https://api.example.com\n")
    writeFileSync(join(at.directory, "token"), made.token)
    writeFileSync(join(at.directory, "server.js"), "")
    mkdirSync(join(at.directory, "results"))
    copyFileSync(fixture("maven-surefire.xml"), join(at.directory, "results/junit.xml"))
    copyFileSync(join(import.meta.dirname, "playwright-report.json"), join(at.directory, "results/playwright.json"))
    writeFileSync(join(at.directory, "bin/xdg-open"), "#!/bin/sh\n", { mode: 0o755 })
    writeFileSync(join(at.directory, "bin/open"), "#!/bin/sh\n", { mode: 0o755 })
    const blocks = [...readme.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block!)
    assert.isAbove(blocks.length, 3)
    const script = blocks
      .join("\n")
      // `pnpm release:check` runs it, with the packed package.
      .replace("npm install --global @delivery/cli\n", "")
      // They need a project with Playwright: RunsPlaywright.test.ts.
      .replace(/^delivery runs (retry|trace) .*\n/gm, "")
      // They need a second person: the test above.
      .replace(/^delivery approvals (request|approve|end) .*\n/gm, "")
      .replaceAll("dtk_...", made.token)
      .replaceAll("https://delivery.example.com", server.baseUrl)
      .replaceAll("--workspace main", `--workspace ${workspace.workspace}`)
      .replaceAll("ctk_...", apiKey)
    const { code, err } = await at.script(script)
    const notes = "No commits are sent: there was no version before.\nSecret   Change\nAPI_URL  create\n"
    assert.deepStrictEqual({ code, err }, { code: 0, err: notes }, script)
    const { runs } = await workspace.get<TestRunPage>("test-runs")
    assert.lengthOf(runs, 2)
  })
})
