import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { build } from "rolldown"
import config from "../rolldown.config.ts"
import { builtDirectory } from "../src/cli/Built.ts"
import { addDatabase } from "./database.ts"

/** Builds the command from the sources, where that is not done. The next start of `main.ts` loads what it made. */

/** A server that runs may still load a part of its own. */
const keptBuilds = 4

const forgetOthers = (dist: string): void => {
  const builds = readdirSync(dist)
    .filter((name) => name.startsWith("command-"))
    .map((name) => join(dist, name))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  for (const old of builds.slice(keptBuilds)) rmSync(old, { recursive: true, force: true })
}

const make = async (directory: string): Promise<void> => {
  const draft = `${directory}.${process.pid}`
  process.chdir(join(import.meta.dirname, ".."))
  try {
    await build({ ...config, output: { ...config.output, dir: draft } })
    await addDatabase(draft)
    // What changed meanwhile may be in it, and another process may have been faster.
    if (builtDirectory() === directory && !existsSync(directory)) renameSync(draft, directory)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  forgetOthers(dirname(directory))
}

const directory = builtDirectory()
if (!existsSync(directory)) await make(directory)
