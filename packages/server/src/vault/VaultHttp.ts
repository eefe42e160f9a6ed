import { DeliveryApi } from "@delivery/domain/Api"
import { StrictBody, strictBody } from "@delivery/domain/vault/VaultEdge"
import { askedEnvironments } from "@delivery/domain/vault/ValuesAsked"
import { Effect, Layer } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { handlersOf } from "../http/Handlers.ts"
import { withAllMistakes } from "../http/AllMistakes.ts"
import { decodeError } from "../http/ErrorResponse.ts"
import { Vault } from "./Vault.ts"

/**
 * A body that does not match its schema is `HttpApiDecodeError` in the vault alone (docs/contract.md, Vault); whatever else
 * is wrong with a request is answered as everywhere.
 */
const layerStrictBody = HttpApiMiddleware.layerSchemaErrorTransform(StrictBody, (error, { endpoint }) =>
  error.kind === "Payload"
    ? Effect.flatMap(withAllMistakes(endpoint, error.cause, strictBody), (all) => Effect.fail(decodeError(all)))
    : Effect.fail(error)
)

/** The handlers of secrets. */
export const layer = handlersOf(DeliveryApi, "vault", (handlers) =>
  Effect.map(Vault, (vault) =>
    handlers
      .handle("listOfProduct", ({ params }) => vault.listOfProduct(params.productSlug))
      .handle("create", ({ params, payload, query }) =>
        vault.create(params.productSlug, payload, askedEnvironments(query.values))
      )
      .handle("get", ({ params, query }) => vault.get(params.productSlug, params.name, askedEnvironments(query.values)))
      .handle("update", ({ params, payload, query }) =>
        vault.update(params.productSlug, params.name, payload, askedEnvironments(query.values))
      )
      .handle("delete", ({ params }) => vault.delete(params.productSlug, params.name))
      .handle("list", () => vault.list)
      .handle("assign", ({ payload }) => vault.assign(payload))
      .handle("generate", ({ payload }) => vault.generate(payload))
      .handle("versions", ({ params: { environmentSlug, name, productSlug }, query }) =>
        Effect.map(
          vault.versions({ product: productSlug, name, environment: environmentSlug }, query.before),
          (versions) => ({ versions })
        )
      )
  )
).pipe(Layer.provide(layerStrictBody))
