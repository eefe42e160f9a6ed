import { DeliveryApi } from "@delivery/domain/Api"
import type { LoadedSecrets } from "@delivery/domain/deploy/Deploy"
import { Effect, Layer, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { handlersOf } from "../http/Handlers.ts"
import { isKnown } from "../http/RangeRequests.ts"
import { DeploymentTokens } from "./DeploymentTokens.ts"
import { type Loaded, Loads } from "./Loads.ts"

/** The handlers of deployment tokens, and of what products call with them. */
export const layer = Layer.mergeAll(
  handlersOf(DeliveryApi, "deploymentTokens", (handlers) =>
    Effect.map(DeploymentTokens, (tokens) =>
      handlers
        .handle("list", ({ params }) =>
          Effect.map(tokens.list(params.product, params.environment), (tokens) => ({ tokens }))
        )
        .handle("create", ({ params, payload }) => tokens.create(params.product, params.environment, payload))
        .handle("rotate", ({ params: { environment, product, token }, payload }) =>
          tokens.rotate([product, environment, token], payload ?? undefined)
        )
        .handle("revoke", ({ params: { environment, product, token } }) =>
          Effect.as(tokens.revoke([product, environment, token]), { ok: true } as const)
        )
    )
  ),

  handlersOf(DeliveryApi, "deploy", (handlers) =>
    Effect.map(Loads, (loads) =>
      handlers
        .handle("me", () => loads.me)
        .handle("secrets", ({ headers, query: { format = "json" } }) => {
          const knows = (etag: string) => isKnown(headers["if-none-match"], etag)
          return format === "json"
            ? Effect.map(loads.secrets(knows), answerOf(json))
            : Effect.map(loads.file(format, knows), answerOf(text))
        })
        .handle("secret", ({ params }) => loads.secret(params.name))
        .handle("setVersion", ({ payload }) => loads.setVersion(payload))
    )
  )
)

/** The answer with its ETag, or 304 for a client that has it already. */
const answerOf =
  <A>(whole: (answer: A) => HttpServerResponse.HttpServerResponse) =>
  (loaded: Loaded<A>): HttpServerResponse.HttpServerResponse =>
    HttpServerResponse.setHeader(
      loaded.isKnown ? HttpServerResponse.empty({ status: 304 }) : whole(loaded.answer),
      "etag",
      loaded.etag
    )

/** The texts of answers. Equal requests of a moment have the same answer: its text is written once. */
const texts = new WeakMap<LoadedSecrets, string>()

const json = (loaded: LoadedSecrets) => {
  const text = texts.get(loaded) ?? jsonText(loaded)
  texts.set(loaded, text)
  return HttpServerResponse.text(text, { contentType: "application/json" })
}

const jsonText = ({ values, ...answer }: LoadedSecrets): string =>
  JSON.stringify({
    ...answer,
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Redacted.value(value)]))
  })

const text = (file: Redacted.Redacted) =>
  HttpServerResponse.text(Redacted.value(file), { contentType: "text/plain; charset=utf-8" })
