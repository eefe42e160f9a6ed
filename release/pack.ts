import { execFile } from "node:child_process"
import { mkdir, readdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"

/**
 * `pnpm pack:all DIRECTORY`: packs all packages into a directory, for computers that cannot have them from npm, and prints how
 * each is installed (docs/install.md).
 */

const root = join(import.meta.dirname, "..")

/** In the order in which one needs the other. */
export const names = ["domain", "client", "publishing", "playwright", "vitest", "server", "cli"] as const
export type Name = (typeof names)[number]

/** The packages of this repository that a package needs: no registry has them before the release. */
export const needs: Record<Name, ReadonlyArray<Name>> = {
  domain: [],
  client: ["domain"],
  publishing: ["domain", "client"],
  playwright: ["domain", "client", "publishing"],
  vitest: ["domain", "client", "publishing"],
  server: ["domain"],
  cli: []
}

/** Of the environment only what a shell of a user has: pnpm sets variables that npm reads. */
export const plainEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|pnpm_|DELIVERY_|NODE_OPTIONS$|INIT_CWD$)/i.test(name))
)

/** The tarball of each package, built anew. */
export const packAll = async (into: string, say: (line: string) => void): Promise<Record<Name, string>> => {
  await mkdir(into, { recursive: true })
  for (const name of names) {
    say(`packing @delivery/${name}`)
    const cwd = join(root, "packages", name)
    await promisify(execFile)("pnpm", ["pack", "--pack-destination", into], { cwd, env: plainEnvironment }).catch(
      (error: Error & { readonly stdout: string; readonly stderr: string }) => {
        throw new Error(`@delivery/${name} cannot be packed.\n${error.stdout}${error.stderr || error.message}`)
      }
    )
  }
  const files = await readdir(into)
  return Object.fromEntries(
    names.map((name) => [
      name,
      join(
        into,
        files.find((file) => new RegExp(`^delivery-${name}-\\d`).test(file))!
      )
    ])
  ) as Record<Name, string>
}

if (import.meta.main) {
  const [given, ...others] = process.argv.slice(2)
  if (given === undefined || others.length > 0) {
    console.error("Usage: pnpm pack:all DIRECTORY")
    process.exit(2)
  }
  // pnpm changes to the root of the workspace first.
  await packAll(resolve(process.env["INIT_CWD"] ?? ".", given), console.error)
  console.log(`All packages are in ${given}. docs/install.md says what each needs.`)
}
