import { DeliveryApi } from "@delivery/domain/Api"
import { StrictBody } from "@delivery/domain/vault/VaultEdge"
import { Effect } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { handlersOf } from "../http/LeanContext.ts"
import { decodeError } from "../http/ErrorResponse.ts"
import { Vault } from "./Vault.ts"

/** Handlers of the vault room. */
export const VaultHttp = handlersOf(DeliveryApi, "vault", (handlers) =>
  Effect.map(Vault, (vault) =>
    handlers
      .handle("listOfProduct", ({ params }) => vault.listOfProduct(params.productSlug))
      .handle("create", ({ params, payload }) => vault.create(params.productSlug, payload))
      .handle("get", ({ params }) => vault.get(params.productSlug, params.name))
      .handle("update", ({ params, payload }) => vault.update(params.productSlug, params.name, payload))
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
)

/** What only the vault's requests pass: bodies that do not match their schema; whatever else is wrong with a request is answered as everywhere. */
export const VaultEdgeLive = HttpApiMiddleware.layerSchemaErrorTransform(StrictBody, (error) =>
  Effect.fail(error.kind === "Payload" ? decodeError(error.cause) : error)
)
