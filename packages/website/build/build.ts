import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildName } from "./inputs.ts"
import { dist, makeOnce } from "./once.ts"
import { pages } from "./pages.ts"
import { precompress } from "./precompress.ts"
import { filesOf, type Manifest, mostBytes, pageSizes } from "./sizes.ts"

/**
 * Builds the website, unless the sources have made this build already: `node build/build.ts` prints its directory as its last
 * line, `--sizes` also what each page needs. A build appears whole or not at all; several who build it at once get the same.
 *
 * `files/` has what Vite made, beside each text `.br` and `.gz`; `pages/` an HTML page for each pattern of `pages.json`.
 */

/** How many builds are kept: a server that runs has loaded its own. */
const keptBuilds = 2

/** The page with links to the files of its modules, which a browser then asks for at once. */
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
  const written = pages.map(([pattern, ...modules], index) => {
    writeFileSync(join(directory, `pages/${index}.html`), withPreloads(html, filesOf(manifest, ...modules)))
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

const make = async (draft: string): Promise<void> => {
  // Where the build is there already, as in an image, nothing of Vite need be.
  // What is built must not depend on who builds it: with another value, React is that of development.
  process.env["NODE_ENV"] = "production"
  const { build } = await import("vite")
  await build({
    configFile: join(import.meta.dirname, "../vite.config.ts"),
    logLevel: "warn",
    build: { outDir: join(draft, "files"), emptyOutDir: true }
  })
  writePages(draft)
  await Promise.all([precompress(join(draft, "files")), precompress(join(draft, "pages"))])
}

const print = (line: string) => process.stdout.write(`${line}\n`)

const name = buildName()
const directory = await makeOnce(name, make)
forgetOthers(name)

if (process.argv.includes("--sizes")) {
  for (const { bytes, module } of pageSizes(directory)) {
    print(`${(bytes / 1000).toFixed(1).padStart(6)} KB of ${mostBytes / 1000} ${module}`)
    if (bytes > mostBytes) process.exitCode = 1
  }
}
print(directory)
