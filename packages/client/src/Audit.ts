import type { DeliveryApi } from "@delivery/domain/Api"
import type { AuditEntry, AuditPage } from "@delivery/domain/audit/Audit"
import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import { Effect, type Schema, Stream } from "effect"
import type { HttpClientError } from "effect/http"
import type { HttpApiClient } from "effect/http-api"
import type { CallError } from "./Files.ts"

/** Which entries: the slug or id of the workspace, and filters, which combine. */
export interface AuditRequest {
  readonly params: { readonly slug: string }
  readonly query?: {
    /** The id of a person, an agent, an account API key or a deployment token. */
    readonly actor?: string
    /** One that does not exist is refused. */
    readonly action?: AuditAction
    /** The id of what it was done to. */
    readonly subject?: string
    readonly outcome?: AuditEntry["outcome"]
    /** Both inclusive: ISO 8601 timestamps with an offset. */
    readonly from?: string
    readonly to?: string
    /** The `nextCursor` of a page: only older entries. */
    readonly cursor?: string
  }
}

type List = typeof DeliveryApi.groups.audit.endpoints.list

export type AuditError = CallError<List>

/** Who did what in a workspace, for its admins and owners. */
export interface AuditCalls {
  /** A page of 100 entries, newest first. */
  readonly list: (request: AuditRequest) => Effect.Effect<AuditPage, AuditError>
  /**
   * All entries that match, newest first, as they arrive. The export is an entry itself. It fails if the connection is cut
   * before its end.
   */
  readonly export: (
    request: AuditRequest
  ) => Effect.Effect<Stream.Stream<AuditEntry, HttpClientError.HttpClientError | Schema.SchemaError>, AuditError>
}

/** The derived method of the endpoint, which has two answers. */
type Ask = HttpApiClient.Client.Method<List, never, never>

/** `page` asks as everybody does, `lines` with the header that asks for all entries. */
export const makeAudit = (page: Ask, lines: Ask): AuditCalls => ({
  list: ({ params, query = {} }) =>
    Effect.flatMap(page({ params, query }), (answer) =>
      Stream.isStream(answer) ? Effect.die(new TypeError("The answer is no page.")) : Effect.succeed(answer)
    ),
  export: ({ params, query = {} }) =>
    Effect.flatMap(lines({ params, query }), (answer) =>
      Stream.isStream(answer) ? Effect.succeed(answer) : Effect.die(new TypeError("The answer is no export."))
    )
})
