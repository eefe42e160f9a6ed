import { createHash } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The repository. */
const root = join(import.meta.dirname, "../../..")

/** What a build is made of: the website, what it bundles of the client and the contract, and the versions of all that is installed. */
const patterns = [
  "packages/website/{src,build,public}/**/*",
  "packages/website/*.{ts,json,html}",
  "packages/client/src/**/*.ts",
  "packages/domain/src/**/*.ts",
  "pnpm-lock.yaml"
]

/** The name of the build that the sources make: another one for any change of them. */
export const buildName = (): string => {
  const hash = createHash("sha256")
  const files = globSync([...patterns], { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
  for (const file of files) hash.update(file.slice(root.length)).update("\0").update(readFileSync(file)).update("\0")
  return hash.digest("hex").slice(0, 16)
}
