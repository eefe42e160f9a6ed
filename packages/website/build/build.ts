import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { buildName } from "./inputs.ts"
import { pages } from "./pages.ts"
import { filesOf, type Manifest, mostBytes, pageSizes } from "./sizes.ts"

/**
 * Builds the website, unless the sources have made this build already: `node build/build.ts` prints its directory as its last
 * line, `--sizes` also what each page needs. A build appears whole or not at all; several who build it at once get the same.
 *
 * `files/` has what Vite made, beside each text `.br` and `.gz`; `pages/` an HTML page for each pattern of `pages.json`.
 */

const dist = join(import.meta.dirname, "../dist")

/** How many builds are kept: a server that runs has loaded its own. */
const keptBuilds = 2

const isText = (file: string): boolean => /\.(?:js|css|html|svg|json)$/.test(file)

const precompress = async (directory: string): Promise<void> => {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && isText(entry.name) && !entry.parentPath.includes(".vite")
  )
  await Promise.all(
    files.map(async (entry) => {
      const file = join(entry.parentPath, entry.name)
      const bytes = readFileSync(file)
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
      writeFileSync(`${file}.br`, await promisify(brotliCompress)(bytes, { params }))
      writeFileSync(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }))
    })
  )
}

/** The page with links to the files of a module, which a browser then asks for at once. */
const withPreloads = (html: string, files: ReadonlyArray<string>): string => {
  const links = files
    .filter((file) => !html.includes(file))
    .map((file) => `    <link rel="modulepreload" crossorigin href="/${file}">\n`)
  return html.replace("  </head>", `${links.join("")}  </head>`)
}

const writePages = (directory: string): void => {
  const files = join(directory, "files")
  const manifest = JSON.parse(readFileSync(join(files, ".vite/manifest.json"), "utf8")) as Manifest
  const html = readFileSync(join(files, "index.html"), "utf8")
  mkdirSync(join(directory, "pages"))
  const written = pages.map(([pattern, module], index) => {
    writeFileSync(join(directory, `pages/${index}.html`), withPreloads(html, filesOf(manifest, module)))
    return { pattern, file: `${index}.html` }
  })
  renameSync(join(files, "index.html"), join(directory, "pages/other.html"))
  writeFileSync(join(directory, "pages.json"), JSON.stringify([...written, { pattern: "", file: "other.html" }]))
}

const forgetOthers = (name: string): void => {
  const old = readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[0-9a-f]{16}$/.test(entry.name) && entry.name !== name)
    .map((entry) => entry.name)
  for (const other of old.slice(0, Math.max(0, old.length - keptBuilds + 1))) {
    rmSync(join(dist, other), { recursive: true, force: true })
  }
}

const make = async (name: string, directory: string): Promise<void> => {
  // Where the build is there already, as in an image, nothing of Vite need be.
  // What is built must not depend on who builds it: with another value, React is that of development.
  process.env["NODE_ENV"] = "production"
  const { build } = await import("vite")
  const draft = join(dist, `draft-${name}-${process.pid}`)
  try {
    await build({
      configFile: join(import.meta.dirname, "../vite.config.ts"),
      logLevel: "warn",
      build: { outDir: join(draft, "files"), emptyOutDir: true }
    })
    writePages(draft)
    await Promise.all([precompress(join(draft, "files")), precompress(join(draft, "pages"))])
    // Of several who build it at once, one comes first.
    if (!existsSync(directory)) renameSync(draft, directory)
    forgetOthers(name)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const name = buildName()
const directory = join(dist, name)
const lock = join(dist, `${name}.lock`)

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Whether this process is to make the build: several servers may start at once. */
const takeLock = (): boolean => {
  mkdirSync(dist, { recursive: true })
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" })
    return true
  } catch {
    // It is gone already where that process has just ended.
    if (existsSync(lock) && !isAlive(Number(readFileSync(lock, "utf8")))) rmSync(lock, { force: true })
    return false
  }
}

const makeOnce = async (): Promise<void> => {
  if (existsSync(directory)) return
  if (!takeLock()) {
    await setTimeout(100)
    return makeOnce()
  }
  try {
    await make(name, directory)
  } finally {
    rmSync(lock, { force: true })
  }
}

const print = (line: string) => process.stdout.write(`${line}\n`)

await makeOnce()

if (process.argv.includes("--sizes")) {
  for (const { bytes, module } of pageSizes(directory)) {
    print(`${(bytes / 1000).toFixed(1).padStart(6)} KB of ${mostBytes / 1000} ${module}`)
    if (bytes > mostBytes) process.exitCode = 1
  }
}
print(directory)
