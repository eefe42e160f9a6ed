import { fileURLToPath } from "node:url"
import tailwind from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"
import { onlyCalledRoutes } from "./build/calledRoutes.ts"
import { withoutDom } from "./build/withoutDom.ts"
import { withoutFallbacks } from "./build/withoutFallbacks.ts"
import { withoutPreloads } from "./build/withoutPreloads.ts"

// But what asks several questions at once, or whether any is open, which few do, and what reads lists page by page.
const base =
  /^(?!.*\/(?:infiniteQueryObserver|queriesObserver|useInfiniteQuery|useIsFetching|useQueries)\.).*(?:node_modules\/(?:react|react-dom|scheduler|@tanstack\/(?:history|query-core|react-query|react-router|react-store|router-core|store))\/|packages\/client\/src|website\/src\/(?:api\/(?:Loaded|actors|client|failures|FailureView|queries|session)\.|app\/(?:ScreenFailure|Shell|Sidebar|router|places|theme)|ui\/(?:Button|Header|Icon|Kbd|Menu|States|Time|Truncated|Badge|format|jsx-runtime|keys|later|overlay|toast|visibleProps)\.))/

/** What the screens of settings and records are made of: one file rather than a dozen small ones. */
const parts = /website\/src\/(?:api\/(?:ConfirmLink|ForAdmins|Sure)|ui\/(?:Facts|Item|Older|Section|Since))\./

/** What every screen of planning is made of, with their calls, and what those of tickets are: likewise a file each. */
const planning =
  /virtual:calls\/planning$|website\/src\/(?:api\/optimistic|ui\/identifiers|planning\/(?:categories|pendingTickets|queries|readTicketsAgain))\./
const tickets = /website\/src\/planning\/(?:CategoryMark|TagBadge|filters|ownerNames|search|useTickets|viewFilters)\./

/** The website's bundle. `build/build.ts` says where it goes, and makes what the server answers with of it. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    react({ jsxImportSource: "#ui" }),
    tailwind(),
    ...onlyCalledRoutes(),
    withoutDom(),
    withoutFallbacks(),
    withoutPreloads()
  ],
  // React has had it for years: its stand-in for older ones would be in the first screen. So would Node's reasons of no answer, and checks.
  resolve: {
    alias: [
      { find: "@delivery/domain/NoAnswer", replacement: fileURLToPath(import.meta.resolve("./build/noAnswer.ts")) },
      {
        find: /^\.\/(?:RequestProblem|WebOptions)\.ts$/,
        replacement: fileURLToPath(import.meta.resolve("./build/unchecked.ts"))
      },
      {
        find: /^use-sync-external-store\/shim\/with-selector(?:\.js)?$/,
        replacement: "use-sync-external-store/with-selector"
      },
      { find: /^use-sync-external-store\/shim(?:\/index\.js)?$/, replacement: "react" }
    ]
  },
  build: {
    target: ["chrome123", "firefox128", "safari17.5"],
    cssTarget: ["chrome123", "firefox128", "safari17.5"],
    manifest: true,
    modulePreload: {
      // Its own is an inline script, which the policy of the pages forbids; the browsers above need none.
      polyfill: false,
      // A list of all files and what each needs would be in the first of them. What a page needs, its HTML asks for at once.
      resolveDependencies: (_, files, { hostType }) => (hostType === "js" ? [] : files)
    },
    // Data addresses are no files of the service, and no files can be cached with them.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // The first file names the others: by fewer letters, they take less of every page. The manifest has their names.
        hashCharacters: "hex",
        chunkFileNames: "assets/[hash:8].js",
        // What every screen needs is one file: it compresses better, and is one request.
        codeSplitting: {
          groups: [
            { name: "base", test: base },
            { name: "copy", test: /website\/src\/ui\/Copy\./ },
            // One file of calls each, however many screens make them.
            { name: "settings-calls", test: /virtual:calls\/settings$/ },
            { name: "changes-calls", test: /virtual:calls\/changes$/ },
            { name: "planning", test: planning },
            { name: "tickets", test: tickets },
            { name: "parts", test: parts },
            { name: "catalog", test: /website\/src\/catalog\/(?:environmentOrder|queries|useEnvironmentName)\./ },
            { name: "rows", test: /website\/src\/ui\/(?:DrawnRows|Rows|useRows)\./ },
            { name: "filter", test: /website\/src\/ui\/(?:Filter|SearchField)\./ },
            { name: "status", test: /website\/src\/(?:ui\/(?:StatusMark|duration|rate)|runs\/neighbour)\./ },
            { name: "case", test: /website\/src\/runs\/(?:StateBadge|evidence)\./ },
            { name: "run", test: /website\/src\/(?:ui\/Elapsed|runs\/(?:Counts|TestedElsewhere|countsText|status))\./ }
          ]
        }
      }
    },
    reportCompressedSize: false
  }
})
