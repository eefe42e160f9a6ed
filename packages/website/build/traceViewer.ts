import { createHash } from "node:crypto"
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { dist, makeOnce } from "./once.ts"
import { precompress } from "./precompress.ts"

/**
 * Makes the directory of Playwright's own trace viewer, as the server serves it, with its license and notices:
 * `node build/traceViewer.ts` prints it. It is another one for another version of Playwright.
 */

/** Where there is a build already, as in an image, Playwright need not be. */
const version = (): string => {
  const catalog = readFileSync(join(import.meta.dirname, "../../../pnpm-workspace.yaml"), "utf8")
  return /^ *playwright-core: (\S+)$/m.exec(catalog)![1]!
}

const prefix = "trace-viewer-"

const nameOfBuild = (): string => {
  const hash = createHash("sha256").update(version())
  for (const file of ["traceViewer.ts", "precompress.ts"]) hash.update(readFileSync(join(import.meta.dirname, file)))
  return `${prefix}${hash.digest("hex").slice(0, 16)}`
}

/** What the viewer shares its directory with: the mode of Playwright with a user interface. */
const isOther = (file: string): boolean => /^(?:uiMode|xtermModule)/.test(basename(file))

const make = async (draft: string): Promise<void> => {
  const playwright = dirname(createRequire(import.meta.url).resolve("playwright-core/package.json"))
  cpSync(join(playwright, "lib/vite/traceViewer"), join(draft, "files"), {
    recursive: true,
    filter: (file) => !isOther(file)
  })
  for (const notice of ["LICENSE", "NOTICE", "ThirdPartyNotices.txt"]) {
    cpSync(join(playwright, notice), join(draft, "files", notice))
  }
  await precompress(join(draft, "files"))
}

const name = nameOfBuild()
const directory = await makeOnce(name, make)
for (const other of readdirSync(dist)) {
  if (other.startsWith(prefix) && !other.startsWith(name)) rmSync(join(dist, other), { recursive: true, force: true })
}
process.stdout.write(`${directory}\n`)
