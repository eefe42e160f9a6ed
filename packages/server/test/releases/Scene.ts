import type { CreateDeployment, UpdateDeployment } from "@delivery/domain/catalog/Deployment"
import type { StartTestRun } from "@delivery/domain/runs/TestRun"
import type { FinishTestRun } from "@delivery/domain/runs/FinishTestRun"
import { Effect } from "effect"
import { Deployments } from "../../src/catalog/Deployments.ts"
import type { EnvironmentRow } from "../../src/catalog/EnvironmentsRepo.ts"
import type { ProductRow } from "../../src/catalog/ProductsRepo.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import { Releases } from "../../src/releases/Releases.ts"
import { TestRuns } from "../../src/runs/TestRuns.ts"
import { addEnvironment, addProduct } from "../catalog/Rows.ts"
import { as, type CallerOf, makeScene } from "../identity/Scene.ts"
import { addTemplate } from "../planning/Scene.ts"
import { attempt, finishBody, git, machine, report } from "../runs/Scene.ts"

/** A product that is deployed in environments, and what happens to its versions. */

export const makeProduct = Effect.gen(function* () {
  const scene = yield* makeScene
  yield* addTemplate(scene.workspace.id)
  const product = yield* addProduct(scene.workspace.id, { name: "Shop" })
  const staging = yield* addEnvironment(scene.workspace.id, { slug: "staging", name: "Staging" })
  const production = yield* addEnvironment(scene.workspace.id, {
    slug: "production",
    name: "Production",
    class: "production"
  })
  return { ...scene, product, staging, production }
})

export type ProductScene = Effect.Success<typeof makeProduct>

/** What a member does with the deployment of a product in an environment. */
export const deploymentIn = (
  { member, viewer }: Pick<ProductScene, "member" | "viewer">,
  product: ProductRow,
  environment: EnvironmentRow
) => {
  const refs = { product: product.slug, environment: environment.slug }
  return {
    create: (version?: string, fields: Pick<CreateDeployment, "commits" | "override"> = {}) =>
      Effect.flatMap(Deployments, (deployments) =>
        deployments.create({ ...refs, ...(version === undefined ? {} : { version }), ...fields })
      ).pipe(as(member)),
    update: (input: UpdateDeployment, by = member) =>
      Effect.flatMap(Deployments, (deployments) => deployments.update(product.slug, environment.slug, input)).pipe(
        as(by)
      ),
    get: Effect.flatMap(Deployments, (deployments) => deployments.get(product.slug, environment.slug)).pipe(as(viewer)),
    remove: Effect.flatMap(Deployments, (deployments) => deployments.delete(product.slug, environment.slug)).pipe(
      as(member)
    ),
    history: (before?: number, deployment?: string) =>
      Effect.flatMap(Releases, (releases) =>
        releases.history(product.slug, environment.slug, { before, deployment })
      ).pipe(as(viewer)),
    start: (fields: Partial<StartTestRun> = {}, by: CallerOf = member) =>
      Effect.flatMap(TestRuns, (runs) =>
        runs.start({
          ...refs,
          baseUrl: "https://preview.example",
          git,
          machine,
          selection: { coverage: null, folders: [], caseIds: [] },
          ...fields
        })
      ).pipe(
        as(by),
        Effect.map(({ number }) => number)
      ),
    finish: (
      run: number,
      status: "passed" | "failed" = "passed",
      fields: Partial<FinishTestRun> = {},
      by: CallerOf = member
    ) =>
      Effect.flatMap(TestRuns, (runs) =>
        runs.finish(run, finishBody({ tests: [report("a", { attempt: attempt(status) })], ...fields }))
      ).pipe(as(by)),
    run: (number: number) => Effect.flatMap(TestRuns, (runs) => runs.get(number)).pipe(as(viewer))
  }
}

export const makeTeam = ({ owner }: ProductScene, key: string, visibility: "open" | "private" = "open") =>
  Effect.flatMap(Teams, (teams) => teams.create({ key, name: key, visibility })).pipe(as(owner))

export const makeTicket = ({ owner }: ProductScene, team: string, title = "Ticket") =>
  Effect.flatMap(Tickets, (tickets) => tickets.create({ team, title })).pipe(as(owner))
