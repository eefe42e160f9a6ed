import type { CreateDeploymentToken, NewDeploymentToken } from "@delivery/domain/deploy/DeploymentToken"
import { Effect, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import type { AuditRow } from "../../src/audit/AuditRepo.ts"
import { AuditRepo } from "../../src/audit/AuditRepo.ts"
import { makeCallerOf } from "../../src/deploy/DeployAuthentication.ts"
import { DeploymentTokens } from "../../src/deploy/DeploymentTokens.ts"
import { Loads } from "../../src/deploy/Loads.ts"
import { Vault } from "../../src/vault/Vault.ts"
import { addDeployment, addEnvironment, addProduct } from "../catalog/Rows.ts"
import { as, makeScene } from "../identity/Scene.ts"
import { values } from "../vault/Scene.ts"

/** A product that runs in production and in staging, what it has there, and requests with its tokens. */

export const makeDeployScene = Effect.gen(function* () {
  const scene = yield* makeScene
  const product = yield* addProduct(scene.workspace.id, { slug: "shop", name: "Shop" })
  const production = yield* addEnvironment(scene.workspace.id, {
    slug: "production",
    name: "Production",
    class: "production"
  })
  const staging = yield* addEnvironment(scene.workspace.id, { slug: "staging", name: "Staging" })
  const deployment = yield* addDeployment(product, production, { version: "1" })
  yield* addDeployment(product, staging)
  /** Writes values in production; null clears. */
  const set = (name: string, value: string | null, environment = "production") =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const body = values({ [environment]: value })
      const update = vault.update("shop", name, { values: body })
      yield* Effect.catchTag(update, "NotFound", () => vault.create("shop", { name, values: body }))
    }).pipe(as(scene.member), Effect.orDie)
  return { ...scene, product, production, staging, deployment, set }
})

export type DeployScene = Effect.Success<typeof makeDeployScene>

/** A new token of the deployment in production. */
export const newToken = (
  scene: DeployScene,
  fields: Partial<CreateDeploymentToken> = {}
): Effect.Effect<NewDeploymentToken, never, DeploymentTokens> =>
  Effect.flatMap(DeploymentTokens, (tokens) =>
    tokens.create("shop", "production", { name: "kubernetes", ...fields })
  ).pipe(as(scene.owner), Effect.orDie)

/** A request as its server has it. */
const requestOf = (headers: Readonly<Record<string, string>>, address: string) =>
  HttpServerRequest.fromWeb(new Request("http://localhost/deploy/v1/me", { headers })).modify({
    remoteAddress: Option.some(address)
  })

export const home = "203.0.113.7"

/** Runs what a product asks for, with its token, from an address. */
export const asProduct =
  (token: string, address = home) =>
  <A, E, R>(call: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const callerOf = yield* makeCallerOf
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      return yield* Effect.provideContext(call, yield* callerOf(headers, { name: undefined }))
    }).pipe(
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        requestOf({ authorization: `Bearer ${token}` }, address)
      )
    )

const never = () => false

/** All values, in the form in which they are sent. */
export const load = Effect.gen(function* () {
  const loaded = yield* (yield* Loads).secrets(never)
  if (loaded.isKnown) throw new Error("Nothing was loaded.")
  const { revision, values } = loaded.answer
  const texts = Object.entries(values).map(([name, value]) => [name, Redacted.value(value)] as const)
  return { etag: loaded.etag, revision, values: Object.fromEntries(texts) }
})

export const loadOne = (name: string) => Effect.flatMap(Loads, (loads) => loads.secret(name))

/** The entries about what was read, oldest first. */
export const readsOf = ({ workspace }: DeployScene) =>
  Effect.gen(function* () {
    const entries = yield* (yield* AuditRepo).find(workspace.id, {}, 1_000)
    const isRead = ({ action, credential }: AuditRow) =>
      credential?.kind === "deploymentToken" && ["secrets_loaded", "secret_read", "token_refused"].includes(action)
    return entries.filter(isRead).toReversed()
  })
