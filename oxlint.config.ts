import { defineConfig, type OxlintOverride } from "oxlint"

/** Lint rules, and which package and which room may import which (docs/architecture.md). */

type Pattern = { readonly message: string; readonly allowTypeImports?: boolean } & (
  | { readonly regex: string }
  | { readonly group: ReadonlyArray<string> }
)

/** The rule for files. The last entry that matches a file decides. */
const imports = (files: ReadonlyArray<string>, patterns: ReadonlyArray<Pattern>): OxlintOverride => ({
  files: [...files],
  rules: { "no-restricted-imports": ["error", { patterns: patterns as Array<Pattern> }] }
})

const noBench: Pattern = { group: ["**/bench/**", "@delivery/bench*"], message: "Nothing in packages knows bench." }

const noServer: Pattern = {
  group: ["@delivery/server", "@delivery/server/**", "**/server/src/**"],
  message: "Clients know the server only by the domain's contract."
}

const domain: ReadonlyArray<Pattern> = [
  {
    group: ["**/bench/**", "@delivery/**", "!@delivery/domain", "!@delivery/domain/**"],
    message: "The domain knows no other package."
  },
  {
    group: ["node:*", "@effect/platform-node*", "@effect/sql-*"],
    message: "The domain does no I/O and runs in a browser."
  }
]

/** Of every import of a room's storage or HTTP: its face has the layer, its port and its services have the rest. */
const throughFace = (path: string): Pattern => ({
  regex: `^${path}[a-z]+/([a-z]+/)?[A-Z][A-Za-z]*(Sql|Memory|Http)\\.ts$`,
  message: "The storages and the HTTP of a room are its own: take its face, a service or a port (CONTRIBUTING.md)."
})

const server: ReadonlyArray<Pattern> = [
  {
    group: ["**/bench/**", "@delivery/**", "!@delivery/domain", "!@delivery/domain/**"],
    message: "The server's sources know the domain alone; its tests also know the client."
  },
  {
    regex: "^@effect/platform-node$",
    message: "Import a module of it, such as @effect/platform-node/NodeServices: the whole loads Redis and undici."
  },
  throughFace("(\\.\\./)+")
]

/** The rooms of a package, from the ground. Each may import from the floors below its own. A name in capitals is a file. */
type Floors = ReadonlyArray<ReadonlyArray<string>>

const serverFloors: Floors = [
  ["ids"],
  ["Config"],
  ["telemetry"],
  ["database"],
  ["storage"],
  ["keys"],
  ["files"],
  ["http"],
  ["website"],
  ["access"],
  ["events"],
  ["audit"],
  ["identity"],
  ["auth"],
  ["catalog"],
  ["vault", "runs", "planning"],
  ["deploy"],
  ["agents"],
  ["releases", "webhooks"],
  ["flow"],
  ["SystemHttp"],
  ["App"],
  ["backups"],
  ["workers"],
  ["cli"],
  ["testing"]
]

/** Below them is what all rooms share: the files beside them. */
const domainFloors: Floors = [
  ["identity"],
  ["auth", "events", "catalog"],
  ["audit"],
  ["vault", "runs", "planning"],
  ["deploy"],
  ["agents"],
  ["releases", "webhooks"],
  ["flow"],
  ["SystemApi"],
  ["Api"],
  ["index"]
]

const isFile = (room: string) => room === "index" || /^[A-Z]/.test(room)

const above = (rooms: ReadonlyArray<string>): Pattern => ({
  regex: `^(\\./|(\\.\\./)+)(${rooms.join("|")})(/|\\.ts$)`,
  message: "An import runs down, to a room on a lower floor (docs/architecture.md)."
})

const houseOf = (source: string, floors: Floors, patterns: ReadonlyArray<Pattern>): Array<OxlintOverride> =>
  floors.flatMap((floor, level) =>
    floor.map((room) => {
      const rules = isFile(room) ? [...patterns, throughFace("\\./")] : patterns
      const others = [...floor.filter((other) => other !== room), ...floors.slice(level + 1).flat()]
      return imports(
        [`${source}/${isFile(room) ? `${room}.ts` : `${room}/**`}`],
        others.length === 0 ? rules : [...rules, above(others)]
      )
    })
  )

/** The website's floors: parts that know no room, what speaks with the API, rooms, the frame around them. */
const website: ReadonlyArray<Pattern> = [
  noBench,
  noServer,
  {
    // The names of what the audit tells and the limits of attachments are plain constants, and neither the reader of .env files nor the names of process variables import anything.
    group: [
      "effect",
      "effect/**",
      "@delivery/domain",
      "@delivery/domain/**",
      "!@delivery/domain/audit/AuditActions",
      "!@delivery/domain/catalog/KeptBack",
      "!@delivery/domain/catalog/ShortVersion",
      "!@delivery/domain/catalog/WholeVersion",
      "!@delivery/domain/deploy/EnvironmentFile",
      "!@delivery/domain/events/EventKinds",
      "!@delivery/domain/FoldCase",
      "!@delivery/domain/Order",
      "!@delivery/domain/flow/ReadinessRuns",
      "!@delivery/domain/planning/AttachmentLimits",
      "!@delivery/domain/runs/PassedElsewhere",
      "!@delivery/domain/runs/RetryOutcome",
      "!@delivery/domain/runs/RunRemarks",
      "!@delivery/domain/runs/TestedAddress",
      "!@delivery/domain/vault/DotEnv",
      "!@delivery/domain/vault/ProcessNames"
    ],
    allowTypeImports: true,
    message: "Pages take types alone of the domain, and what imports nothing: its schemas would bring Effect along."
  },
  {
    group: ["@delivery/client", "!@delivery/client/web"],
    message: "Pages take the small client, @delivery/client/web."
  }
]
const websiteRooms = [
  "agents",
  "audit",
  "catalog",
  "deploy",
  "events",
  "identity",
  "planning",
  "runs",
  "vault",
  "webhooks"
]
const websiteSource = "packages/website/src"

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { reportUnusedDisableDirectives: "error" },
  ignorePatterns: ["dist", ".data"],
  rules: {
    eqeqeq: ["error", "always", { null: "ignore" }],
    "no-console": "error",
    "no-unused-vars": [
      "error",
      {
        argsIgnorePattern: "^_",
        caughtErrorsIgnorePattern: "^_",
        varsIgnorePattern: "^_",
        ignoreRestSiblings: true
      }
    ],
    "no-var": "error",
    "prefer-const": "error",
    // Types count: a circle of types is a circle.
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-duplicates": "error",
    "import/no-unassigned-import": ["error", { allow: ["effect/schema/SchemaJITCompiler/enable", "**/*.css"] }],
    "typescript/ban-ts-comment": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-import-type-side-effects": "error",
    "unicorn/no-abusive-eslint-disable": "error",
    "unicorn/prefer-node-protocol": "error",

    // Effect's own idioms: `_tag`, a generator that needs no `yield*` yet, `const user = yield* user(id)`, the methods
    // of a service written inside the effect that makes it.
    "no-underscore-dangle": "off",
    "require-yield": "off",
    "no-shadow": "off",
    "unicorn/consistent-function-scoping": "off",

    // fast-check is used as `fc`, as its own documentation does.
    "import/no-named-as-default-member": "off",
    // Does not see a change that a callback makes.
    "no-unmodified-loop-condition": "off",

    // Takes `Effect.catch` for a promise's.
    "promise/valid-params": "off",

    // Control characters are what the text schemas forbid.
    "no-control-regex": "off",
    // Spreading in a map is how a row becomes an answer.
    "oxc/no-map-spread": "off",
    // Means the browser's window; a Node worker's postMessage has no origin.
    "unicorn/require-post-message-target-origin": "off"
  },
  overrides: [
    {
      files: [
        "packages/server/src/cli/**",
        "packages/cli/src/**",
        "packages/playwright/src/**",
        "packages/publishing/src/**",
        "examples/**",
        "release/**"
      ],
      rules: { "no-console": "off" }
    },
    {
      files: ["packages/*/test/**", "packages/playwright/demo/**", "bench/**", "examples/**", "release/**"],
      plugins: ["vitest"],
      rules: {
        "no-await-in-loop": "off",
        "no-console": "off",
        // They know `it`, not `it.effect` and `layer`, nor a contract that is called with each storage.
        "vitest/expect-expect": "off",
        "vitest/no-conditional-expect": "off",
        "vitest/no-conditional-tests": "off",
        "vitest/no-standalone-expect": "off",
        "vitest/valid-title": "off"
      }
    },
    {
      files: ["bench/peer/**"],
      rules: {
        // Takes Fastify, which awaits its handlers, for Express.
        "oxc/no-async-endpoint-handlers": "off"
      }
    },

    imports(["packages/**"], [noBench]),
    imports(
      [
        "packages/client/**",
        "packages/publishing/**",
        "packages/playwright/**",
        "packages/vitest/**",
        "packages/cli/src/**"
      ],
      [noBench, noServer]
    ),
    imports(["packages/domain/src/*.ts"], [...domain, above(domainFloors.flat())]),
    ...houseOf("packages/domain/src", domainFloors, domain),
    imports([`${websiteSource}/*.tsx`, `${websiteSource}/{app,design}/**`], website),
    imports(
      websiteRooms.map((room) => `${websiteSource}/${room}/**`),
      [...website, above(["app", "design"])]
    ),
    imports([`${websiteSource}/api/**`], [...website, above(["app", "design", ...websiteRooms])]),
    imports([`${websiteSource}/ui/**`], [...website, above(["api", "app", "design", ...websiteRooms])]),
    imports(["packages/server/src/**"], server),
    ...houseOf("packages/server/src", serverFloors, server),
    imports(["packages/server/test/**"], [noBench, throughFace("(\\.\\./)+src/")]),
    imports(["bench/**"], [throughFace("(\\.\\./)+packages/server/src/")]),

    // A reader takes a function in at a glance and a file in one sitting. Where more is needed, the reason stands beside it.
    {
      files: ["packages/*/src/**"],
      rules: {
        "max-lines": ["error", { max: 450, skipBlankLines: true, skipComments: true }],
        "max-lines-per-function": ["error", { max: 80, skipBlankLines: true, skipComments: true }]
      }
    }
  ]
})
