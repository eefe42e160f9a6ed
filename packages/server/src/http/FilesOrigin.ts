import { Context, type Effect, type Scope } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

/**
 * The origin of files that others wrote (`FILES_ORIGIN`; docs/contract.md, The origin of files). Its requests reach no route of
 * the service, and get nothing that pages of other origins may read. A port: the runs supply it.
 */
export class FilesOrigin extends Context.Service<
  FilesOrigin,
  {
    /** Whether a request is one to this origin, by its host alone. */
    readonly isAsked: (request: HttpServerRequest.HttpServerRequest) => boolean
    readonly answer: (
      request: HttpServerRequest.HttpServerRequest
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>
  }
>()("@delivery/server/http/FilesOrigin") {}
