import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Browser, chromium, type LaunchOptions } from "playwright-core"
import { root } from "./ServerProcess.ts"

/**
 * A real Chromium. `CHROMIUM_PATH` names one; else, on Linux on x64, it is that of `@sparticuz/chromium`, with the libraries
 * that a bare machine lacks; elsewhere it is the Chrome of the machine. Where there is none, tests fail.
 */

const unpacked = async (): Promise<string> => {
  const library = fileURLToPath(import.meta.resolve("@sparticuz/chromium"))
  const caches = join(root, "node_modules/.cache/chromium")
  const { version } = createRequire(library)("../package.json") as { readonly version: string }
  const folder = join(caches, version)
  if (existsSync(folder)) return folder
  await mkdir(caches, { recursive: true })
  const draft = await mkdtemp(join(caches, "draft-"))
  const script = `import(${JSON.stringify(library)}).then(({ default: chromium }) => chromium.executablePath())`
  await promisify(execFile)(process.execPath, ["--eval", script], {
    cwd: dirname(library),
    // It unpacks into the folder of temporary files, the libraries only where it takes the machine for its own.
    env: { ...process.env, TMPDIR: draft, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" }
  })
  // Its own names folders of another machine.
  const fonts = `<fontconfig><dir>${folder}/fonts/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`
  await writeFile(join(draft, "fonts.conf"), fonts)
  // Of several who unpack it at once, one comes first.
  await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
    if (!existsSync(folder)) throw error
    return rm(draft, { recursive: true })
  })
  return folder
}

/** Nothing that a page asks for leaves the machine. */
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1"
]

/** How Playwright starts it. */
export const chromiumOptions = async (): Promise<LaunchOptions> => {
  const path = process.env["CHROMIUM_PATH"]
  if (path !== undefined) return { executablePath: path, args }
  if (process.platform !== "linux" || process.arch !== "x64") return { channel: "chrome", args }
  const folder = await unpacked()
  return {
    executablePath: join(folder, "chromium"),
    args,
    env: {
      PATH: process.env["PATH"]!,
      LD_LIBRARY_PATH: join(folder, "al2023/lib"),
      FONTCONFIG_FILE: join(folder, "fonts.conf")
    }
  }
}

export const startChromium = async (): Promise<Browser> => chromium.launch(await chromiumOptions())
