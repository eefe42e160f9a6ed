/** Response schemas of the peer: what is written as JSON without looking at values twice. */

type JsonSchema = Readonly<Record<string, unknown>>

const text = { type: "string" }
const textOrNull = { type: ["string", "null"] }
const instant = { type: "string", format: "date-time" }
const instantOrNull = { type: ["string", "null"], format: "date-time" }
const integer = { type: "integer" }
const integerOrNull = { type: ["integer", "null"] }
const number = { type: "number" }
const numberOrNull = { type: ["number", "null"] }
const boolean = { type: "boolean" }
const listOf = (items: JsonSchema) => ({ type: "array", items })
const object = (properties: Readonly<Record<string, JsonSchema>>) => ({ type: "object", properties })
const orNull = (schema: JsonSchema) => ({ ...schema, nullable: true })

const issue = object({ path: listOf(text), message: text })
export const error = object({ _tag: text, message: text, reason: text, issues: listOf(issue), requestId: text })

const product = object({ id: text, slug: text, name: text, type: text, archived: boolean })
const environment = object({ id: text, slug: text, name: text, class: text, emoji: textOrNull, archived: boolean })

export const deployment = object({
  id: text,
  product,
  environment,
  baseUrl: textOrNull,
  fixtureUrl: textOrNull,
  version: textOrNull,
  versionUpdatedAt: instant,
  active: boolean,
  createdAt: instant,
  updatedAt: instant
})
export const deployments = object({ deployments: listOf(deployment) })

const actor = object({ kind: text, id: text, name: text, email: text })
const cleanup = object({
  scope: text,
  expiresAt: instant,
  status: text,
  deleted: integerOrNull,
  remaining: integerOrNull
})
const summaryFields = {
  id: text,
  number: integer,
  url: text,
  state: text,
  result: textOrNull,
  gateResult: textOrNull,
  counts: object({ total: integer, passed: integer, flaky: integer, failed: integer, skipped: integer }),
  passRate: numberOrNull,
  firstAttemptPassRate: numberOrNull,
  error: textOrNull,
  product: object({ slug: text, name: text }),
  environment: object({ slug: text, name: text, class: text }),
  baseUrl: text,
  deploymentBaseUrl: textOrNull,
  deploymentVersion: textOrNull,
  release: integerOrNull,
  deploymentChanged: boolean,
  locked: boolean,
  partOfTests: boolean,
  git: object({ branch: text, sha: text, dirty: boolean, subject: text }),
  machine: object({ hostname: text, platform: text }),
  ciUrl: textOrNull,
  shards: orNull(object({ total: integer, started: integer, finished: integer })),
  coverage: textOrNull,
  cleanup: orNull(cleanup),
  publishedBy: actor,
  startedAt: instant,
  finishedAt: instantOrNull,
  durationMs: number
}
export const summary = object(summaryFields)
export const runs = object({ runs: listOf(summary), nextCursor: integerOrNull })

const attempt = object({
  number: integer,
  retry: integerOrNull,
  status: text,
  durationMs: number,
  startedAt: instant,
  errorMessage: textOrNull,
  errorStack: textOrNull,
  files: listOf(text)
})
const test = object({
  caseId: text,
  title: text,
  file: text,
  coverage: text,
  testKind: text,
  priority: textOrNull,
  status: text,
  durationMs: number,
  errorMessage: textOrNull,
  files: listOf(text),
  attempts: listOf(attempt)
})
export const run = object({
  ...summaryFields,
  mutes: listOf(object({ caseId: text, ticket: textOrNull, until: text })),
  retries: listOf(object({ number: integer, state: text })),
  tests: listOf(test)
})

export const started = object({
  number: integer,
  url: text,
  fixture: orNull(object({ scope: text, token: text, url: text, expiresAt: text })),
  semaphores: object({ url: text, token: text, expiresAt: text }),
  muted: listOf(text)
})

const named = object({ id: text, slug: text, name: text })
export const projects = object({
  projects: listOf(
    object({
      id: text,
      slug: text,
      name: text,
      summary: textOrNull,
      status: text,
      lead: orNull(object({ id: text, name: text, email: text })),
      targetDate: textOrNull,
      teams: listOf(object({ id: text, key: text, name: text, visibility: text })),
      products: listOf(named),
      progress: object({
        backlog: integer,
        unstarted: integer,
        started: integer,
        completed: integer,
        canceled: integer
      }),
      archivedAt: instantOrNull,
      createdAt: instant,
      updatedAt: instant
    })
  )
})

export const lease = object({
  lease: text,
  name: text,
  capacity: integer,
  slot: integer,
  fence: integer,
  run: integer,
  retry: integerOrNull,
  test: textOrNull,
  since: text,
  expiresAt: text,
  ttlMs: integer
})

export const secret = object({
  id: text,
  name: text,
  product: named,
  environments: listOf(
    object({
      environment,
      version: integer,
      hasValue: boolean,
      deployed: boolean,
      updatedAt: instantOrNull,
      updatedBy: orNull(actor),
      value: textOrNull,
      valueHidden: boolean
    })
  ),
  createdAt: instant,
  updatedAt: instant
})

/** Bodies of requests. */

const limited = (maxLength: number, minLength = 0) => ({ type: "string", minLength, maxLength })
const body = (properties: Readonly<Record<string, JsonSchema>>, ...required: ReadonlyArray<string>) => ({
  ...object(properties),
  required
})
const coverage = { enum: ["critical", "acceptance", "regression", "exhaustive"] }

export const changeVersion = body({ version: { type: ["string", "null"], minLength: 1, maxLength: 200 } })

export const startRun = body(
  {
    product: limited(200, 1),
    environment: limited(200, 1),
    baseUrl: { type: "string", pattern: "^https?://", maxLength: 2000 },
    fixtureUrl: { type: ["string", "null"], pattern: "^https?://", maxLength: 2000 },
    git: body(
      { branch: limited(500), sha: limited(100, 1), dirty: boolean, subject: limited(2000) },
      "branch",
      "sha",
      "dirty",
      "subject"
    ),
    machine: body({ hostname: limited(255), platform: limited(100) }, "hostname", "platform"),
    selection: body(
      {
        coverage: { enum: [...coverage.enum, null] },
        folders: { ...listOf(limited(1000)), maxItems: 5000 },
        caseIds: { ...listOf(limited(500)), maxItems: 5000 }
      },
      "coverage",
      "folders",
      "caseIds"
    )
  },
  "product",
  "environment",
  "baseUrl",
  "git",
  "machine",
  "selection"
)

const duration = { type: "number", minimum: 0 }
export const finishRun = body(
  {
    interrupted: boolean,
    error: textOrNull,
    durationMs: duration,
    cleanup: orNull(body({ status: text, deleted: integer, remaining: integer }, "status", "deleted", "remaining")),
    tests: {
      ...listOf(
        body(
          {
            caseId: limited(500, 1),
            title: limited(4000),
            file: limited(4000),
            coverage,
            testKind: limited(40),
            priority: { type: ["string", "null"], maxLength: 100 },
            files: listOf(text),
            attempt: orNull(
              body(
                {
                  status: { enum: ["failed", "passed", "skipped"] },
                  durationMs: duration,
                  startedAt: { type: "string", format: "date-time" },
                  errorMessage: textOrNull,
                  errorStack: textOrNull,
                  files: listOf(text)
                },
                "status"
              )
            )
          },
          "caseId",
          "title",
          "file",
          "coverage",
          "testKind",
          "attempt"
        )
      ),
      maxItems: 5000
    }
  },
  "interrupted",
  "durationMs",
  "tests"
)

export const takeLease = body(
  {
    capacity: { type: "integer", minimum: 1, maximum: 100 },
    ttlMs: { type: "integer", minimum: 10_000, maximum: 300_000 }
  },
  "capacity"
)
