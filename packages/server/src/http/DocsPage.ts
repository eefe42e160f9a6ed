import { DeliveryApi } from "@delivery/domain/Api"
import { Effect, Scope } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiScalar } from "effect/http-api"

/** `GET /docs`: the page of the API description, made when it is first asked for, since its script takes 13 MiB. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const scope = yield* Effect.scope
    const page = yield* Effect.cached(
      Scope.provide(HttpRouter.toHttpEffect(HttpApiScalar.layer(DeliveryApi, { path: "/docs" })), scope)
    )
    yield* router.add("GET", "/docs", Effect.flatten(page))
  })
)
