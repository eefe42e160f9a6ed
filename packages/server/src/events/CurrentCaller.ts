import type { Caller } from "@delivery/domain/identity/Authorization"
import { Context, type Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** Who asked: the credential that a request shows, for a workspace (slug or id). */
export interface Asked {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly workspace: string
}

/** Looks up again who calls, for answers that take long (docs/contract.md, Events). Identity supplies it. */
export class CurrentCaller extends Context.Service<
  CurrentCaller,
  {
    /**
     * The caller as it is now, with the membership in the workspace; undefined where the credential works no longer. It does
     * not count as a use of the credential.
     */
    readonly of: (asked: Asked) => Effect.Effect<Caller["Service"] | undefined>
    /** A text that requests have in common which show the same token, and no others. It is not the token. */
    readonly keyOf: (asked: Asked) => string
    /**
     * A text that changes when `of` answers another caller than before for one of them. For many, and for the same list again
     * and again, it costs far less.
     */
    readonly state: (asked: ReadonlyArray<Asked>) => Effect.Effect<string>
  }
>()("@delivery/server/events/CurrentCaller") {}
