import { spawn } from "node:child_process"
import cluster from "node:cluster"
import { createHash } from "node:crypto"
import { existsSync, globSync, statSync } from "node:fs"
import { constants, setPriority } from "node:os"
import { join } from "node:path"

/**
 * The command of a checkout, built: it starts in a third of the time of its sources. Whoever starts sources that are not built
 * has them built meanwhile, for the next start.
 */

const ownPackages = join(import.meta.dirname, "../../..")
const script = join(ownPackages, "server/build/command.ts")

/** Where the sources of a checkout's packages are built to: another directory once one of them is written. */
export const builtDirectory = (packages = ownPackages): string => {
  const hash = createHash("sha256").update(process.version)
  const files = globSync(["{server,domain}/src/**/*.ts", "../pnpm-lock.yaml"], { cwd: packages }).toSorted()
  for (const file of files) {
    const { mtimeMs, size } = statSync(join(packages, file))
    hash.update(`${file}\0${size}\0${mtimeMs}\0`)
  }
  return join(packages, "server/dist", `command-${hash.digest("hex").slice(0, 16)}`)
}

const buildLater = (): void => {
  const child = spawn(process.execPath, [script], { stdio: "ignore", detached: true })
  // It is for another start: this one goes on without it, also where it cannot be made.
  child.on("error", () => {}).unref()
  if (child.pid === undefined) return
  try {
    setPriority(child.pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended.
  }
}

/** The module to load instead of the sources; undefined where they are not built yet. */
export const builtMain = (): string | undefined => {
  if (!existsSync(script)) return undefined
  const main = join(builtDirectory(), "main.js")
  if (existsSync(main)) return main
  // Once for all workers.
  if (process.argv[2] === "serve" && cluster.isPrimary) buildLater()
  return undefined
}
