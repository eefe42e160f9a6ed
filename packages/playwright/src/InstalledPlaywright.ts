import { createRequire } from "node:module"
import { join } from "node:path"

/** The first version that awaits reporters before it starts workers. */
const neededVersion = [1, 62] as const

/** Why a version of Playwright will not do, as a sentence that begins with `who`; undefined where it will. */
export const versionProblem = (who: string, version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const [neededMajor, neededMinor] = neededVersion
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return undefined
  return `${who} Playwright ${neededVersion.join(".")} or newer; installed is ${version}.`
}

/** The version of the Playwright that is installed for a file; undefined where there is none. */
export const installedVersion = (file: string): string | undefined => {
  try {
    return (createRequire(file)("@playwright/test/package.json") as { readonly version: string }).version
  } catch {
    return undefined
  }
}

/** Throws where the Playwright of this package is too old. */
export const refuseOldPlaywright = (who: string): void => {
  const version = installedVersion(join(process.cwd(), "package.json")) ?? installedVersion(import.meta.url)
  const problem = version === undefined ? undefined : versionProblem(who, version)
  if (problem !== undefined) throw new Error(problem)
}
