import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Plugin } from "vite"
import { routes } from "../../client/src/WebRoutes.ts"

/** The client's calls that pages make: where the others go, no browser need know. */

const source = join(import.meta.dirname, "../src")

/** `client.vault.list(` and `client.safe.vault.list(` are calls, whatever the client is named. */
const calls = (): ReadonlySet<string> =>
  new Set(
    globSync("**/*.{ts,tsx}", { cwd: source }).flatMap((file) =>
      Array.from(
        readFileSync(join(source, file), "utf8").matchAll(/\.(\w+)\s*\.(\w+)\(/g),
        ([, group, call]) => `${group} ${call}`
      )
    )
  )

const calledRoutes = (): object => {
  const called = calls()
  return Object.fromEntries(
    Object.entries(routes).flatMap(([group, all]) => {
      const some = Object.entries(all).filter(([call]) => called.has(`${group} ${call}`))
      return some.length === 0 ? [] : [[group, Object.fromEntries(some)]]
    })
  )
}

export const onlyCalledRoutes = (): Plugin => ({
  name: "only-called-routes",
  apply: "build",
  transform: {
    filter: { id: /client\/src\/WebRoutes\.ts$/ },
    handler: () => ({ code: `export const routes = ${JSON.stringify(calledRoutes())}`, map: null })
  }
})
