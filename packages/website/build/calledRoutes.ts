import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Plugin } from "vite"
import { routes } from "../../client/src/WebRoutes.ts"

/**
 * The client's calls that pages make: where the others go, no browser need know. Those that the frame makes, and the screens that
 * have the least room left, are there from the start; the others come with the first screen that makes one.
 */

const source = join(import.meta.dirname, "../src")

type Routes = Readonly<Record<string, Readonly<Record<string, string>>>>

const all: Routes = routes

/** Of planning and agents, whose screens make many calls. They are shown before anything is changed. */
const planning = /^(?:teams|tickets|comments|ticketStatuses|projects|views|tags|agents|messages|notifications)\./

const first =
  /^(?:(?:me|testRuns|cases|semaphores|vault|releases|audit|events)\.|(?:products|environments|deployments)\.list$|deployments\.get$)/

const reads = /\.(?:get|list\w*)$/

type Part = "first" | "planning" | "changes" | "settings"

/** What is asked once a screen is there. */
const afterwards =
  /^(?:(?:attachments|savedFilters)\.|vault\.(?:create|generate|get|update)$|testRuns\.signUrl$|releases\.trace$)/

const setOf = (call: string): Part =>
  afterwards.test(call)
    ? "changes"
    : planning.test(call)
      ? reads.test(call)
        ? "planning"
        : "changes"
      : first.test(call)
        ? "first"
        : "settings"

/** `client.vault.list(` and `client.safe.vault.list(` are calls, whatever the client is named: `vault.list`. */
const callsIn = (code: string): ReadonlyArray<string> =>
  Array.from(code.matchAll(/\.(\w+)\s*\.(\w+)\(/g), ([, group, call]) => `${group}.${call}`).filter((name) => {
    const [group = "", call = ""] = name.split(".")
    return Object.hasOwn(all, group) && Object.hasOwn(all[group]!, call)
  })

const calledRoutes = (set: Part): Routes => {
  const called = new Set(
    globSync("**/*.{ts,tsx}", { cwd: source }).flatMap((file) => callsIn(readFileSync(join(source, file), "utf8")))
  )
  return Object.fromEntries(
    Object.entries(all).flatMap(([group, ofGroup]) => {
      const some = Object.entries(ofGroup).filter(([call]) => {
        const name = `${group}.${call}`
        return called.has(name) && setOf(name) === set
      })
      return some.length === 0 ? [] : [[group, Object.fromEntries(some)]]
    })
  )
}

const later = ["planning", "changes", "settings"] as const

export const onlyCalledRoutes = (): ReadonlyArray<Plugin> => [
  {
    name: "only-called-routes",
    apply: "build",
    transform: {
      filter: { id: /client\/src\/WebRoutes\.ts$/ },
      handler: () => ({ code: `export const routes = ${JSON.stringify(calledRoutes("first"))}`, map: null })
    }
  },
  {
    name: "later-calls",
    apply: "build",
    enforce: "pre",
    resolveId: { filter: { id: /^virtual:calls\/\w+$/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0virtual:calls\/\w+$/ },
      handler: (id) => `import { routes } from ${JSON.stringify(join(source, "../../client/src/WebRoutes.ts"))}
import { takeCalls } from ${JSON.stringify(join(source, "api/client.ts"))}
for (const [group, calls] of Object.entries(${JSON.stringify(calledRoutes(id.slice(id.lastIndexOf("/") + 1) as Part))})) {
  routes[group] = { ...routes[group], ...calls }
}
takeCalls()`
    },
    transform: {
      filter: { id: /website\/src\/.*\.tsx?$/ },
      handler: (code) => {
        const sets = new Set(callsIn(code).map(setOf))
        const needed = later.filter((set) => sets.has(set))
        return needed.length === 0
          ? undefined
          : { code: `${needed.map((set) => `import "virtual:calls/${set}"\n`).join("")}${code}`, map: null }
      }
    }
  }
]
