import { Context, Effect, Layer } from "effect"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Settings } from "../Config.ts"
import { build } from "./Build.ts"
import { readFiles, readSite, type SiteFile, type SiteFiles } from "./SiteFiles.ts"

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** What the package brings along, as npm installs it (`prepack` in package.json). */
const packed = { site: fileAt("../site"), traceViewer: fileAt("../trace-viewer") }

/** What makes it, in a checkout or an image. */
const scripts = {
  site: fileAt("../../../website/build/build.ts"),
  traceViewer: fileAt("../../../website/build/traceViewer.ts")
}

/** What the website is now: being built, whole, or not to be built. */
export type SiteState =
  | { readonly _tag: "Building" }
  | { readonly _tag: "Ready"; readonly site: SiteFiles }
  | { readonly _tag: "Failed" }

/** The files of Playwright's trace viewer, by their paths in it. */
export type TraceViewerFiles = ReadonlyMap<string, SiteFile>

/** The website that this server serves (docs/contract.md, The website). */
export class Site extends Context.Service<
  Site,
  {
    /** False where `WEBSITE` is `false`, or its sources are not there. */
    readonly isServed: boolean
    readonly state: () => SiteState
    /** Undefined until it is there, and where nothing of the website is served. */
    readonly traceViewer: () => TraceViewerFiles | undefined
  }
>()("@delivery/server/website/Site") {
  /** Begins to build it at once, if its sources have changed, and goes on meanwhile. */
  static readonly layer = Layer.effect(
    Site,
    Effect.gen(function* () {
      const { website } = yield* Settings
      // A checkout from which a package was made has both: what was packed there may be older than its sources.
      const isPacked = existsSync(packed.site) && !existsSync(scripts.site)
      const isServed = website !== "false" && (isPacked || existsSync(scripts.site))
      let state: SiteState =
        isServed && isPacked ? { _tag: "Ready", site: readSite(packed.site) } : { _tag: "Building" }
      let traceViewer = isServed && isPacked ? readFiles(packed.traceViewer) : undefined
      const makeSite = build(scripts.site).pipe(
        Effect.map((directory) => {
          state = { _tag: "Ready", site: readSite(directory) }
        }),
        Effect.catchCause((cause) => {
          state = { _tag: "Failed" }
          return Effect.logError("The website could not be built.", cause)
        })
      )
      const makeTraceViewer = build(scripts.traceViewer).pipe(
        Effect.map((directory) => {
          traceViewer = readFiles(directory)
        }),
        Effect.catchCause((cause) => Effect.logError("The trace viewer could not be built.", cause))
      )
      if (isServed && !isPacked) {
        // Elsewhere, as in development, others serve its pages at the same address.
        const makeAll = website === "true" ? Effect.andThen(makeSite, makeTraceViewer) : makeTraceViewer
        yield* Effect.forkScoped(makeAll)
      }
      return Site.of({ isServed, state: () => state, traceViewer: () => traceViewer })
    })
  )
}
