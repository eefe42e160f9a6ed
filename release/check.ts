import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { get, type IncomingMessage } from "node:http"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import { brotliCompressSync } from "node:zlib"
import { rolldown } from "rolldown"

/**
 * `pnpm release:check`: packs all packages, has them judged, installs the tarballs with npm in empty projects outside of the
 * repository, and type-checks and runs a consumer of each. The clients run on Node 20, the command line also on 22 and 24, the
 * server on the Node of this process.
 */

const root = join(import.meta.dirname, "..")
/** In the order in which one needs the other. */
const names = ["domain", "client", "publishing", "playwright", "vitest", "server", "cli"] as const
type Name = (typeof names)[number]

const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const oldestNode = "20.20.2"
/** Other versions that the command line runs on, beside the one of this process. */
const otherNode = "22.19.0"

const say = (text: string) => console.log(`release:check: ${text}`)

interface Where {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Of the environment only what a shell of a user has: pnpm sets variables that npm reads. */
const plainEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|pnpm_|DELIVERY_|NODE_OPTIONS$|INIT_CWD$)/i.test(name))
)

/** Runs a program to its end. Fails with all that it printed. */
const run = async (program: string, args: ReadonlyArray<string>, { cwd = root, env = {} }: Where = {}) => {
  const options = { cwd, env: { ...plainEnvironment, ...env }, maxBuffer: 64 * 1024 * 1024 }
  const child = promisify(execFile)(program, [...args], options)
  child.child.stdin?.end()
  return child.catch((error: Error & { readonly stdout: string; readonly stderr: string }) => {
    throw new Error(`${program} ${args.join(" ")} failed in ${cwd}.\n${error.stdout}${error.stderr || error.message}`)
  })
}

const versionOf = async (packageDirectory: string): Promise<string> =>
  JSON.parse(await readFile(join(root, packageDirectory, "package.json"), "utf8")).version

/** The tarball of each package, built anew. */
const packAll = async (into: string): Promise<Record<Name, string>> => {
  for (const name of names) {
    say(`packing @delivery/${name}`)
    await run("pnpm", ["pack", "--pack-destination", into], { cwd: join(root, "packages", name) })
  }
  const files = await readdir(into)
  return Object.fromEntries(
    names.map((name) => [
      name,
      join(
        into,
        files.find((file) => file.startsWith(`delivery-${name}-`))!
      )
    ])
  ) as Record<Name, string>
}

/** What tools that know every fault of a package say of the tarballs. */
const judge = async (tarballs: Record<Name, string>) => {
  const bin = (tool: string) => join(root, "node_modules/.bin", tool)
  for (const name of names) {
    say(`judging @delivery/${name}`)
    await run(bin("publint"), ["run", tarballs[name], "--strict"])
    // The command line has nothing to import.
    if (name !== "cli") await run(bin("attw"), [tarballs[name], "--profile", "esm-only", "--no-emoji", "--no-color"])
  }
}

const typeChecks = (types: ReadonlyArray<string>) => ({
  compilerOptions: {
    module: "nodenext",
    target: "es2023",
    lib: ["es2023", "dom", "dom.asynciterable", "esnext.disposable"],
    types,
    strict: true,
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    outDir: "out",
    rootDir: "."
  },
  include: ["*.ts"]
})

const npmInstall = ["install", "--no-audit", "--no-fund", "--prefer-offline"]

/** An empty project with the sources of a consumer, in which npm installs tarballs and packages. */
const makeProject = async (directory: string, sources: string, install: ReadonlyArray<string>): Promise<void> => {
  await mkdir(directory)
  await cp(join(root, "release", sources), directory, { recursive: true })
  await writeFile(join(directory, "package.json"), JSON.stringify({ name: sources, private: true, type: "module" }))
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(typeChecks(["node"])))
  say(`installing what the consumer in ${sources} needs`)
  await run("npm", [...npmInstall, ...install], { cwd: directory })
  await hasOneEffect(directory)
  say(`type-checking the consumer in ${sources}`)
  await run(join(root, "node_modules/.bin/tsc"), ["-p", directory])
}

/** The packages of this repository that a package needs: no registry has them before the release. */
const needs: Record<Name, ReadonlyArray<Name>> = {
  domain: [],
  client: ["domain"],
  publishing: ["domain", "client"],
  playwright: ["domain", "client", "publishing"],
  vitest: ["domain", "client", "publishing"],
  server: ["domain"],
  cli: []
}

/** Runs the commands of READMEs that install a package, with tarballs in its place, and loads what they installed. */
const checkReadmes = async (tarballs: Record<Name, string>, directory: string) => {
  for (const name of names) {
    const readme = await readFile(join(root, "packages", name, "README.md"), "utf8")
    const commands = readme.match(/^npm install .+$/gm) ?? []
    if (commands.length === 0) throw new Error(`The README of @delivery/${name} does not say how to install it.`)
    for (const command of commands) {
      say(`README of @delivery/${name}: ${command}`)
      const project = await mkdtemp(join(directory, "readme-"))
      const files = [...needs[name], name].map((one) => tarballs[one])
      const words = command.split(" ").slice(2)
      const args = words.flatMap((word) => (word === `@delivery/${name}` ? files : [word]))
      await run("npm", [...npmInstall, "--prefix", project, ...args], { cwd: project })
      if (name === "cli") await run(join(project, "bin/delivery"), ["--help"], { cwd: project })
      else {
        await hasOneEffect(project)
        const entry = name === "server" ? "@delivery/server/testing" : `@delivery/${name}`
        await run(process.execPath, ["--input-type=module", "-e", `await import("${entry}")`], { cwd: project })
      }
    }
  }
}

/** Two copies would have two classes of each error. */
const hasOneEffect = async (directory: string) => {
  const lock = JSON.parse(await readFile(join(directory, "package-lock.json"), "utf8"))
  const copies = Object.keys(lock.packages).filter((path) => path.endsWith("node_modules/effect"))
  if (copies.length !== 1) throw new Error(`npm installed ${copies.length} copies of effect: ${copies.join(", ")}.`)
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { readonly port: number }
  server.close()
  await once(server, "close")
  return port
}

interface Started {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** `delivery-server serve` as npm installed it, once it is ready. */
const startServer = async (project: string): Promise<Started> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child: ChildProcess = spawn(process.execPath, [join(project, "node_modules/.bin/delivery-server"), "serve"], {
    cwd: project,
    env: {
      ...plainEnvironment,
      PORT: String(port),
      BASE_URL: url,
      DATA_DIR: join(project, "data"),
      BOOTSTRAP_API_KEY: apiKey
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const output: Array<string> = []
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (part: Buffer) => output.push(part.toString()))
  const isReady = () =>
    fetch(`${url}/ready`).then(
      ({ ok }) => ok,
      () => false
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`delivery-server has ended.\n${output.join("")}`)
    await setTimeout(100)
  }
  const stop = async () => {
    if (child.exitCode !== null) return
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
  }
  return { url, stop }
}

/** The command line as npm links it: calls the service, and signs an agent in and out. */
const checkCommandLine = async (project: string, node: string, environment: Readonly<Record<string, string>>) => {
  const delivery = async (...args: ReadonlyArray<string>) => {
    const { stderr, stdout } = await run(node, [join(project, "node_modules/.bin/delivery"), ...args], {
      cwd: project,
      env: { ...environment, XDG_CONFIG_HOME: join(project, "config") }
    })
    // Node 20 would warn of what it calls an experiment.
    if (stderr !== "") throw new Error(`delivery ${args.join(" ")} printed to standard error: ${stderr}`)
    return stdout
  }
  const printed = await delivery("--version")
  const version = await versionOf("packages/cli")
  if (!printed.includes(version)) throw new Error(`delivery --version says ${printed}, not ${version}.`)
  await delivery("status", "--json")
  await delivery("runs", "list")
  await delivery("agent", "connect", "--client", "claude", "--workspace", "main")
  await delivery("agent", "disconnect", "--client", "claude", "--workspace", "main")
}

/** A product of the deployment starts with its secrets: from the service, and without it from the fallback. */
const checkSecretsRun = async (project: string, node: string, environment: Readonly<Record<string, string>>) => {
  const print = "process.env.GREETING + (process.env.DELIVERY_TOKEN ?? '')"
  const args = ["secrets", "run", "--fallback", "values", "--", node, "-p", print]
  const start = (env: Readonly<Record<string, string>>) =>
    run(node, [join(project, "node_modules/.bin/delivery"), ...args], { cwd: project, env })
  const away = { ...environment, DELIVERY_URL: `http://127.0.0.1:${await freePort()}` }
  for (const [env, expected] of [
    [environment, /^$/],
    [away, /ECONNREFUSED\)\. Starting with the values of values, which are /]
  ] as const) {
    const { stderr, stdout } = await start(env)
    if (stdout !== "It's ready\n" || !expected.test(stderr)) {
      throw new Error(`delivery secrets run printed ${stdout} and, to standard error, ${stderr}.`)
    }
  }
}

/** How long this Node takes with these arguments, in milliseconds: the middle one of ten. */
const medianMillis = async (...args: ReadonlyArray<string>): Promise<number> => {
  const times: Array<number> = []
  for (let run = 0; run < 10; run++) {
    const started = performance.now()
    await promisify(execFile)(process.execPath, args)
    times.push(performance.now() - started)
  }
  return Math.round(times.toSorted((a, b) => a - b)[5]!)
}

interface Page {
  readonly productsOf: (baseUrl: string, apiKey: string) => Promise<ReadonlyArray<string>>
}

/** The largest bundle of the client for pages, in bytes of brotli. */
const maxPageBytes = 6 * 1024

/** Bundles pages as their authors do, prints how large they are, and has each call the service. */
const checkPages = async (project: string, url: string) => {
  for (const [entry, most] of [
    ["page", maxPageBytes],
    ["full-page", Infinity]
  ] as const) {
    const bundle = await rolldown({ cwd: project, input: `${entry}.ts`, platform: "browser" })
    const file = join(project, "out", `${entry}.bundle.js`)
    const { output } = await bundle.write({ file, format: "esm", minify: true, codeSplitting: false })
    const { code } = output[0]
    const small = brotliCompressSync(code).length
    say(`the bundle of ${entry}.ts has ${code.length} bytes, ${small} in brotli`)
    if (small > most) throw new Error(`The bundle of ${entry}.ts has more than ${most} bytes in brotli.`)
    const { productsOf } = (await import(file)) as Page
    const products = await productsOf(url, apiKey)
    if (products.join() !== "shop") throw new Error(`${entry}.ts lists the products ${products.join()}.`)
  }
}

/** What the server at a URL answers to requests for another host. `fetch` cannot say which is meant. */
const statusAt = async (url: string, hostname: string, path: string): Promise<number | undefined> => {
  const { port } = new URL(url)
  const [answer] = (await once(get(new URL(path, url), { headers: { host: `${hostname}:${port}` } }), "response")) as [
    IncomingMessage
  ]
  answer.resume()
  return answer.statusCode
}

/** Every consumer against one server. Each is checked with the Node that it promises to run on. */
const runConsumers = async (clients: string, node22: string, server: string, url: string) => {
  const environment = { DELIVERY_URL: url, DELIVERY_API_KEY: apiKey }
  const oldNode = join(clients, "node_modules/node/bin/node")
  const nodes = [oldNode, join(node22, "node_modules/node/bin/node"), process.execPath]
  for (const node of nodes) {
    const { stdout } = await run(node, ["--version"])
    say(`running the command line on Node ${stdout.trim()}`)
    await checkCommandLine(clients, node, environment)
  }
  const help = await medianMillis(join(clients, "node_modules/.bin/delivery"), "--help")
  const nothing = await medianMillis("--eval", "0")
  say(`delivery --help takes ${help} ms on Node ${process.version}, which alone takes ${nothing}: medians of 10`)
  const inClients = { cwd: clients, env: environment }
  say(`running the consumers of the client on Node ${oldestNode}`)
  await run(oldNode, ["out/promises.js"], inClients)
  await run(oldNode, ["out/effects.js"], inClients)
  const deployed = await run(oldNode, ["out/deployed.js"], inClients)
  for (const node of nodes)
    await checkSecretsRun(clients, node, { DELIVERY_URL: url, DELIVERY_TOKEN: deployed.stdout.trim() })
  say("bundling pages")
  await checkPages(clients, url)
  say(`publishing with Playwright on Node ${oldestNode}`)
  await run(oldNode, ["node_modules/@playwright/test/cli.js", "test"], inClients)
  await run(oldNode, ["out/published.js"], inClients)
  say("opening the website of the packed server")
  const page = await fetch(new URL("/w/main/runs", url), { headers: { accept: "text/html" } })
  const script = /<script [^>]*src="([^"]+)"/.exec(await page.text())?.[1]
  const loaded = script === undefined ? undefined : await fetch(new URL(script, url))
  if (page.status !== 200 || loaded?.status !== 200) throw new Error(`The website answers ${page.status}.`)
  const viewer = await statusAt(url, "files.localhost", "/trace-viewer/sw.bundle.js")
  if (viewer !== 200) throw new Error(`The trace viewer answers ${viewer}.`)
  say(`refusing to start the server on Node ${oldestNode}`)
  const main = "node_modules/@delivery/server/dist/cli/main.js"
  const refused = await run(oldNode, [main, "serve"], { cwd: server }).then(
    () => "It started.",
    ({ message }: Error) => message
  )
  if (!refused.includes("delivery-server needs Node 22.19 or newer.")) throw new Error(refused)
  say("running a consumer's Vitest suite")
  await run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "suite.test.ts"], { cwd: server })
}

const directory = await mkdtemp(join(tmpdir(), "delivery-release-"))
let started: Started | undefined
try {
  const tarballs = await packAll(directory)
  await judge(tarballs)
  await checkReadmes(tarballs, directory)

  const effect = `effect@${await versionOf("packages/client/node_modules/effect")}`
  const types = `@types/node@${await versionOf("node_modules/@types/node")}`
  const playwright = `@playwright/test@${await versionOf("packages/playwright/node_modules/@playwright/test")}`
  const vitest = `vitest@${await versionOf("node_modules/vitest")}`

  const { cli, client, domain, playwright: reporter, publishing, server, vitest: vitestReporter } = tarballs
  const [clientsProject, serverProject] = [join(directory, "clients"), join(directory, "server")]
  await makeProject(clientsProject, "clients", [
    domain,
    client,
    publishing,
    reporter,
    cli,
    effect,
    types,
    playwright,
    `node@${oldestNode}`
  ])
  const node22 = join(directory, "node22")
  await mkdir(node22)
  await run("npm", [...npmInstall, "--prefix", node22, `node@${otherNode}`], { cwd: node22 })
  await makeProject(serverProject, "server", [domain, client, server, effect, types, vitest])
  const vitestProject = join(directory, "vitest")
  await makeProject(vitestProject, "vitest", [domain, client, publishing, vitestReporter, effect, types, vitest])

  started = await startServer(serverProject)
  await runConsumers(clientsProject, node22, serverProject, started.url)
  say("publishing with Vitest")
  const published = await run(process.execPath, ["node_modules/vitest/vitest.mjs", "run"], {
    cwd: vitestProject,
    env: { DELIVERY_URL: started.url, DELIVERY_API_KEY: apiKey }
  })
  if (!/^Delivery: run 2 passed \(1 passed, 0 failed, 0 skipped\)/m.test(published.stdout)) {
    throw new Error(`Vitest has published nothing.\n${published.stdout}`)
  }
  say("all packages install and run.")
} finally {
  await started?.stop()
  await rm(directory, { recursive: true, force: true })
}
