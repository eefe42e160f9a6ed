import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import type { TestReport } from "@delivery/domain/runs/TestEntry"
import type { FileId, TestRunId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { layer, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { StoredEvent } from "../../src/events/EventsRepo.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import type { NewTestRun } from "../../src/runs/TestRunsRepo.ts"
import { addDeployment, addEnvironment, addProduct } from "../catalog/Rows.ts"
import { apiKeyRow, type CallerOf, keyOfWorkspace, makeScene, newId, unique } from "../identity/Scene.ts"
import type { StorageName } from "../support/Databases.ts"
import { type Repositories, sharedStorages } from "../support/Storages.ts"

/** Workspaces with something deployed, and runs of it. */

/** Runs the tests of repositories on each storage, which other suites use too. */
export const onEachStorage = (
  subject: string,
  tests: (it: Vitest.MethodsNonLive<Repositories>, storage: StorageName) => void
): void => {
  for (const { layer: storage, name } of sharedStorages)
    layer(storage)(`${subject} on ${name}`, (it) => tests(it, name))
}

const start = timestamp(0)

/** A product deployed in an environment of a new workspace. */
export const makeDeployed = Effect.fnUntraced(function* (
  fields: { readonly fixtureUrl?: string | null; readonly workspace?: Effect.Success<typeof makeScene> } = {}
) {
  const scene = fields.workspace ?? (yield* makeScene)
  const times = { createdAt: start, updatedAt: start }
  const product = yield* addProduct(scene.workspace.id, { type: "website", name: unique("Product"), ...times })
  const environment = yield* addEnvironment(scene.workspace.id, { name: unique("Environment"), ...times })
  const deployment = yield* addDeployment(product, environment, {
    fixtureUrl: fields.fixtureUrl ?? null,
    version: "v1",
    versionUpdatedAt: start,
    ...times
  })
  return { ...scene, product, environment, deployment }
})

export type Deployed = Effect.Success<ReturnType<typeof makeDeployed>>

export const git = { branch: "main", sha: "9fceb02d0ae598e95dc970b74767f19372d61af8", dirty: false, subject: "Add it" }
/** What events tell of what a run has tested. */
export const toldOf = ({
  deployment,
  environment,
  product
}: Pick<Deployed, "deployment" | "environment" | "product">) => [
  { field: "product", from: null, to: product.name },
  { field: "environment", from: null, to: environment.name },
  ...(deployment.version === null ? [] : [{ field: "version", from: null, to: deployment.version }])
]

/** The same of a run that has ended: those here are to run a part of the tests. */
export const endedOf = (at: Parameters<typeof toldOf>[0]) => [
  ...toldOf(at),
  { field: "partOfTests", from: null, to: "true" }
]

export const machine = { hostname: "ci-7", platform: "linux" }
const selection = { coverage: "acceptance", folders: ["checkout"], caseIds: ["a"] } as const

/** A run as its repository takes it. */
export const newRun = (at: Deployed, fields: Partial<NewTestRun> = {}): NewTestRun => ({
  id: newId<TestRunId>(),
  workspaceId: at.workspace.id,
  productId: at.product.id,
  environmentId: at.environment.id,
  publisher: actorOf(at.member),
  makerId: null,
  baseUrl: at.deployment.baseUrl ?? "https://shop.example",
  deploymentBaseUrl: at.deployment.baseUrl,
  deploymentVersion: at.deployment.version,
  deploymentId: at.deployment.id,
  release: at.deployment.release,
  locked: false,
  git,
  machine,
  ciUrl: null,
  selection,
  mutes: [],
  tokenHash: unique("hash"),
  fixture: null,
  startedAt: timestamp(1_000),
  expiresAt: timestamp(10_000),
  ...fields
})

/** Another key of the workspace; with a maker, of that trusted publisher. */
export const newKey = Effect.fnUntraced(function* (
  { memberKey, workspace }: Pick<Deployed, "memberKey" | "workspace">,
  makerId: string | null,
  fields: Parameters<typeof apiKeyRow>[1] = {}
) {
  const key = apiKeyRow(keyOfWorkspace(workspace.id), { makerId, ...fields })
  yield* (yield* ApiKeysRepo).insert(key)
  return { ...memberKey, principal: { ...memberKey.principal, id: key.id, name: key.name } } as CallerOf
})

export const actorOf = (caller: Deployed["member"] | Deployed["memberKey"]): NewTestRun["publisher"] =>
  caller.principal.kind === "user"
    ? { kind: "user", id: caller.principal.id }
    : { kind: "apiKey", id: caller.principal.id }

export const newEvent = (run: NewTestRun, kind: string, fields: Partial<StoredEvent> = {}): StoredEvent => ({
  id: newId(),
  workspaceId: run.workspaceId,
  kind,
  actor: run.publisher,
  subjectType: "run",
  subjectId: run.id,
  subjectLabel: "",
  subjectPath: "",
  changes: [],
  teamIds: null,
  createdAt: run.startedAt,
  ...fields
})

/** A body that starts a run. */
export const startBody = (at: Deployed, fields: Partial<StartTestRun> = {}): StartTestRun => ({
  product: at.product.slug,
  environment: at.environment.slug,
  baseUrl: at.deployment.baseUrl ?? "https://shop.example",
  git,
  machine,
  selection,
  ...fields
})

/** A test as a publisher reports it. */
export const report = (caseId: string, fields: Partial<TestReport> = {}): TestReport => ({
  caseId,
  title: caseId,
  file: "checkout.spec.ts",
  coverage: "acceptance",
  testKind: "journey",
  priority: null,
  files: [],
  attempt: attempt("passed"),
  ...fields
})

export const attempt = (status: "passed" | "failed") => ({
  status,
  durationMs: 12.5,
  startedAt: "2026-11-21T09:30:10.123Z",
  errorMessage: status === "failed" ? "Expected 200, got 500" : null,
  errorStack: status === "failed" ? "Error: Expected 200\n  at x" : null,
  files: status === "failed" ? ["trace.zip"] : []
})

/** A body that finishes a run. */
export const finishBody = (fields: Partial<FinishTestRun> = {}): FinishTestRun => ({
  interrupted: false,
  error: null,
  durationMs: 64_210.5,
  cleanup: null,
  tests: [report("a"), report("b", { attempt: attempt("failed") })],
  ...fields
})

export const newBlob = (run: NewTestRun) => ({ id: newId<FileId>(), ownerId: run.id, workspaceId: run.workspaceId })

/** The blobs that a file store keeps in the directory, also while others delete some. */
export const blobsBelow = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory).flatMap((run) => {
    try {
      return readdirSync(join(directory, run), { withFileTypes: true })
        .filter((file) => file.isFile())
        .map((file) => file.name)
    } catch {
      return []
    }
  })
