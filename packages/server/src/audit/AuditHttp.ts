import { DeliveryApi } from "@delivery/domain/Api"
import type { AuditEntry, AuditPage } from "@delivery/domain/audit/Audit"
import type { Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { Effect, type Stream } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { handlersOf } from "../http/Handlers.ts"
import { Audit } from "./Audit.ts"

/** How much a client wants answers of a type that it names in `Accept`; 0 where it does not name it. */
const wanted = (accept: string, type: string): number => {
  for (const part of accept.toLowerCase().split(",")) {
    const [name, ...parameters] = part.split(";").map((text) => text.trim())
    if (name !== type) continue
    const quality = parameters.find((parameter) => parameter.startsWith("q="))
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0
  }
  return 0
}

/** Whether a client asks for lines of JSON rather than for a page. */
export const wantsLines = (accept = ""): boolean =>
  wanted(accept, "application/x-ndjson") > wanted(accept, "application/json")

/** The answer depends on the header. */
const varying = HttpEffect.appendPreResponseHandler((_, response) =>
  Effect.succeed(HttpServerResponse.setHeader(response, "vary", "Accept"))
)

type Answer = AuditPage | Stream.Stream<AuditEntry>

export const layer = handlersOf(DeliveryApi, "audit", (handlers) =>
  Effect.map(Audit, (audit) =>
    handlers.handle("list", ({ query, request }) =>
      Effect.andThen(varying, (): Effect.Effect<Answer, NotFound | Forbidden, Caller> =>
        wantsLines(request.headers["accept"]) ? audit.export(query) : audit.list(query)
      )
    )
  )
)
