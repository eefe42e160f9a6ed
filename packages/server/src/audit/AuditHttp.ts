import { DeliveryApi } from "@delivery/domain/Api"
import type { AuditEntry, AuditPage } from "@delivery/domain/audit/Audit"
import type { Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { Effect, type Stream } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { handlersOf } from "../http/Handlers.ts"
import { wantsLines } from "../http/Accept.ts"
import { Audit } from "./Audit.ts"

/** The answer depends on the header. */
const varying = HttpEffect.appendPreResponseHandler((_, response) =>
  Effect.succeed(
    HttpServerResponse.setHeader(response, "vary", ["Accept", response.headers["vary"] ?? []].flat().join(", "))
  )
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
