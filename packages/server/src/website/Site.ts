import { Context, Data, Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { constants, setPriority } from "node:os"
import { fileURLToPath } from "node:url"
import { Settings } from "../Config.ts"
import { readSite, type SiteFiles } from "./SiteFiles.ts"

/** The build that the package brings along, as npm installs it (`prepack` in package.json). */
const packed = fileURLToPath(new URL("../site", import.meta.url))

/** Builds the website, in a checkout or an image. */
const script = fileURLToPath(new URL("../../../website/build/build.ts", import.meta.url))

/** What the website is now: being built, whole, or not to be built. */
export type SiteState =
  | { readonly _tag: "Building" }
  | { readonly _tag: "Ready"; readonly site: SiteFiles }
  | { readonly _tag: "Failed" }

/** The website that this server serves (docs/contract.md, The website). */
export class Site extends Context.Service<
  Site,
  {
    /** False where `WEBSITE` is `false`, or its sources are not there. */
    readonly isServed: boolean
    readonly state: () => SiteState
  }
>()("@delivery/server/website/Site") {
  /** Begins to build it at once, if its sources have changed, and goes on meanwhile. */
  static readonly layer = Layer.effect(
    Site,
    Effect.gen(function* () {
      const { website } = yield* Settings
      const isPacked = existsSync(packed)
      const isServed = website !== "false" && (isPacked || existsSync(script))
      let state: SiteState = isServed && isPacked ? { _tag: "Ready", site: readSite(packed) } : { _tag: "Building" }
      // Elsewhere, as in development, others serve its pages at the same address.
      if (isServed && website === "true" && !isPacked) {
        const fail = Effect.sync(() => {
          state = { _tag: "Failed" }
        })
        yield* build.pipe(
          Effect.flatMap((directory) => Effect.sync(() => readSite(directory))),
          Effect.map((site) => {
            state = { _tag: "Ready", site }
          }),
          Effect.catchCause((cause) => Effect.andThen(Effect.logError("The website could not be built.", cause), fail)),
          Effect.forkScoped
        )
      }
      return Site.of({ isServed, state: () => state })
    })
  )
}

class BuildFailed extends Data.TaggedError("BuildFailed")<{ readonly message: string }> {}

/** The directory of the build that the sources make. A process of its own makes it, after all that is more urgent. */
const build = Effect.callback<string, BuildFailed>((resume) => {
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "pipe"] })
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch {
      // It builds as fast as anything else, then.
    }
  }
  const printed = { out: "", problem: "" }
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed.out += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed.problem += text))
  child.on("error", (error) => resume(new BuildFailed({ message: error.message })))
  child.on("close", (code) => {
    const directory = printed.out.trim().split("\n").at(-1)
    if (code === 0 && directory !== undefined && directory !== "") return resume(Effect.succeed(directory))
    return resume(new BuildFailed({ message: `It ended with ${code}: ${printed.problem.slice(-4_000)}` }))
  })
  return Effect.sync(() => child.kill())
})
