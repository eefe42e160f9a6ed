import type { SetReadinessPolicy } from "@delivery/domain/flow/ReadinessPolicy"
import type { ProductId } from "@delivery/domain/Ids"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { Coverage } from "@delivery/domain/runs/TestEntry"
import { Effect, Layer } from "effect"
import type { ProductRow } from "../../src/catalog/ProductsRepo.ts"
import { DeploymentTokens } from "../../src/deploy/DeploymentTokens.ts"
import { type OverdueMute, OverdueMutes } from "../../src/flow/OverdueMutes.ts"
import { Readiness } from "../../src/flow/Readiness.ts"
import { Projects } from "../../src/planning/Projects.ts"
import { Teams } from "../../src/planning/Teams.ts"
import type { TeamRow } from "../../src/planning/TeamsRepo.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Vault } from "../../src/vault/Vault.ts"
import { addEnvironment, addProduct } from "../catalog/Rows.ts"
import { asProduct, load, loadOne } from "../deploy/Scene.ts"
import { as, type CallerOf, unique } from "../identity/Scene.ts"
import { statusesOf, teamKey } from "../planning/Scene.ts"
import { deploymentIn, makeProduct, type ProductScene } from "../releases/Scene.ts"
import { values } from "../vault/Scene.ts"

/** A workspace with staging and production, and products whose versions go from the one to the other. */
export const makeReadinessScene = makeProduct

/** What happens to the product in a third environment, where it is not deployed yet. */
export const addQa = (scene: ProductScene, { product }: { readonly product: ProductRow }) =>
  Effect.map(addEnvironment(scene.workspace.id, { slug: "qa", name: "QA" }), (qa) => deploymentIn(scene, product, qa))

/** What happens to a new product that is deployed in staging and in production. */
export const newShop = Effect.fnUntraced(function* (scene: ProductScene, name = "Shop") {
  const product = yield* addProduct(scene.workspace.id, { name })
  const staging = deploymentIn(scene, product, scene.staging)
  const production = deploymentIn(scene, product, scene.production)
  yield* staging.create("v0")
  yield* production.create("v0")
  const refs = [product.slug, scene.production.slug] as const
  const tested = (status: "passed" | "failed", coverage: Coverage, at = staging) =>
    Effect.gen(function* () {
      const run = yield* at.start({ selection: { coverage, folders: [], caseIds: [] } })
      yield* at.finish(run, status)
      return run
    })
  /** Writes a value; null clears. */
  const set = (name: string, value: string | null, environment: "staging" | "production" = "production") =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const body = values({ [environment]: value })
      const update = vault.update(product.slug, name, { values: body })
      yield* Effect.catchTag(update, "NotFound", () => vault.create(product.slug, { name, values: body }))
    }).pipe(as(scene.member), Effect.orDie)
  const { token } = yield* Effect.flatMap(DeploymentTokens, (tokens) =>
    tokens.create(product.slug, scene.production.slug, { name: "kubernetes" })
  ).pipe(as(scene.owner))
  /** A ticket of a new team in a new project of the product. */
  const ticket = (fields: { readonly blocks?: boolean; readonly title?: string } = {}, isPrivate = false) =>
    Effect.gen(function* () {
      const [key, project] = [teamKey(), unique("project")]
      const visibility = isPrivate ? "private" : "open"
      yield* (yield* Teams).create({ key, name: key, visibility })
      yield* (yield* Projects).create({ slug: project, name: project, teams: [key], products: [product.slug] })
      return yield* (yield* Tickets).create({ team: key, title: "Pay by card", project, blocks: true, ...fields })
    }).pipe(as(scene.owner))
  return {
    product,
    staging,
    production,
    tested,
    set,
    ticket,
    remove: (name: string) => Effect.flatMap(Vault, (vault) => vault.delete(product.slug, name)).pipe(as(scene.member)),
    rename: (name: string, newName: string) =>
      Effect.flatMap(Vault, (vault) => vault.update(product.slug, name, { newName })).pipe(as(scene.member)),
    load: load.pipe(asProduct(token)),
    loadOne: (name: string) => loadOne(name).pipe(asProduct(token)),
    setPolicy: (input: SetReadinessPolicy, by: CallerOf = scene.admin) =>
      Effect.flatMap(Readiness, (readiness) => readiness.setPolicy(...refs, input)).pipe(as(by)),
    policy: Effect.flatMap(Readiness, (readiness) => readiness.policy(...refs)).pipe(as(scene.viewer)),
    drift: (beside?: string, by: CallerOf = scene.viewer) =>
      Effect.flatMap(Readiness, (readiness) => readiness.drift(...refs, beside)).pipe(as(by)),
    ready: (version?: string, by: CallerOf = scene.viewer) =>
      Effect.flatMap(Readiness, (readiness) => readiness.get(...refs, version)).pipe(as(by))
  }
})

/** The statuses of the ticket's team, in board order. */
export const statusesFor = ({ workspace }: ProductScene, { team }: Pick<Ticket, "team">) =>
  statusesOf({ workspaceId: workspace.id, id: team.id } as TeamRow)

/** Readiness beside mutes of the test's own. */
export const readinessWith = (mutes: ReadonlyMap<ProductId, ReadonlyArray<OverdueMute>>) =>
  Effect.provide(
    Readiness,
    Layer.provide(
      Layer.fresh(Readiness.layer),
      Layer.succeed(OverdueMutes, {
        find: (_, product) => Effect.succeed(mutes.get(product) ?? []),
        nextEnd: () => Effect.succeed(null),
        noted: () => Effect.undefined,
        note: () => Effect.void,
        forget: () => Effect.void
      })
    )
  )
