import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { get, type IncomingMessage } from "node:http"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import { brotliCompressSync } from "node:zlib"
import { rolldown } from "rolldown"
import { type Name, names, needs, packAll, plainEnvironment } from "./pack.ts"

/**
 * `pnpm release:check`: packs all packages, has them judged, installs the tarballs with npm in empty projects outside of the
 * repository, and type-checks and runs a consumer of each. The clients run on Node 20, the command line also on 22 and 24, the
 * server on the Node of this process.
 */

const root = join(import.meta.dirname, "..")
const apiKey = "ctk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1wFLQo"
const oldestNode = "20.20.2"
/** Other versions that the command line runs on, beside the one of this process. */
const otherNode = "22.19.0"
/** One that the command line refuses. */
const tooOldNode = "18.20.8"

const say = (text: string) => console.log(`release:check: ${text}`)

interface Where {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

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

/** The commands of docs/install.md, by those of the READMEs that they stand for. */
const installCommands = async (): Promise<ReadonlyMap<string, string>> => {
  const page = await readFile(join(root, "docs/install.md"), "utf8")
  const tarball = /\.\.\/delivery-packages\/delivery-(\w+)-\*\.tgz/g
  return new Map(
    (page.match(/^npm install .+$/gm) ?? []).map((command) => {
      const given = [...command.matchAll(tarball)].map(([, name]) => name as Name)
      const name = given.at(-1)!
      if (given.join() !== [...needs[name], name].join()) {
        throw new Error(`docs/install.md installs ${given.join(", ")} for @delivery/${name}.`)
      }
      const [, ...others] = given
      return [
        others.reduce((text) => text.replace(/\S+\.tgz /, ""), command).replace(/\S+\.tgz/, `@delivery/${name}`),
        command
      ]
    })
  )
}

/** Runs the commands of READMEs that install a package as docs/install.md has them, with tarballs, and loads what they installed. */
const checkReadmes = async (directory: string) => {
  const commandsOf = await installCommands()
  for (const name of names) {
    const readme = await readFile(join(root, "packages", name, "README.md"), "utf8")
    const commands = readme.match(/^npm install .+$/gm) ?? []
    if (commands.length === 0) throw new Error(`The README of @delivery/${name} does not say how to install it.`)
    if (!readme.includes("docs/install.md"))
      throw new Error(`The README of @delivery/${name} names no docs/install.md.`)
    for (const command of commands) {
      const withTarballs = commandsOf.get(command)
      if (withTarballs === undefined) throw new Error(`docs/install.md does not have: ${command}`)
      say(`README of @delivery/${name}: ${command}`)
      const project = await mkdtemp(join(directory, "readme-"))
      await writeFile(join(project, "package.json"), JSON.stringify({ private: true }))
      const quiet = { npm_config_audit: "false", npm_config_fund: "false", npm_config_prefer_offline: "true" }
      const env = command.includes("--global") ? { ...quiet, npm_config_prefix: project } : quiet
      await run("sh", ["-c", withTarballs], { cwd: project, env })
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

/** Bundles pages as their authors do, compares how large they are with what the README says, and has each call the service. */
const checkPages = async (project: string, url: string) => {
  const readme = await readFile(join(root, "packages/client/README.md"), "utf8")
  const [, ...said] = /about (\d+) KB of brotli, where the whole client has about (\d+)/.exec(readme) ?? []
  for (const [entry, most] of [
    ["page", maxPageBytes],
    ["full-page", Infinity]
  ] as const) {
    const kilobytes = Number(said[entry === "page" ? 0 : 1])
    const bundle = await rolldown({ cwd: project, input: `${entry}.ts`, platform: "browser" })
    const file = join(project, "out", `${entry}.bundle.js`)
    const { output } = await bundle.write({ file, format: "esm", minify: true, codeSplitting: false })
    const { code } = output[0]
    const small = brotliCompressSync(code).length
    say(`the bundle of ${entry}.ts has ${code.length} bytes, ${small} in brotli`)
    if (!(Math.abs(small / 1_000 - kilobytes) <= Math.max(0.5, kilobytes / 20))) {
      throw new Error(
        `The README of the client says ${kilobytes} KB of ${entry}.ts, which has ${small} bytes in brotli.`
      )
    }
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
  say(`refusing to start the command line on Node ${tooOldNode}`)
  const tooOld = join(node22, "too-old/node_modules/node/bin/node")
  const refusedCommand = await run(tooOld, [join(clients, "node_modules/.bin/delivery"), "--help"]).then(
    () => "It started.",
    ({ message }: Error) => message
  )
  if (!refusedCommand.endsWith(`\ndelivery needs Node 20.16 or newer. This is Node ${tooOldNode}.\n`)) {
    throw new Error(refusedCommand)
  }
  say(`refusing to start the server on Node ${oldestNode}`)
  const main = "node_modules/@delivery/server/dist/command/main.js"
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
  const tarballs = await packAll(join(directory, "delivery-packages"), say)
  await judge(tarballs)
  await checkReadmes(directory)

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
  const tooOld = join(node22, "too-old")
  await mkdir(tooOld)
  await run("npm", [...npmInstall, "--prefix", tooOld, `node@${tooOldNode}`], { cwd: tooOld })
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
