import { Context } from "effect"
import type { Scope } from "./Scope.ts"

/** What an endpoint says of itself to a server, before its handler runs: `endpoint.annotate(Streams, true)`. */

/**
 * The body of the request is stored as it arrives, or its answer goes on for as long as its client reads. The endpoint has
 * limits of its own: those of time that other requests have do not hold.
 */
export const Streams = Context.Reference<boolean>("@delivery/domain/Streams", { defaultValue: () => false })

/** The last parameter of the path takes the rest of the path, slashes included. */
export const RestOfPath = Context.Reference<boolean>("@delivery/domain/RestOfPath", { defaultValue: () => false })

/** The answer is a file as it was stored: it is not compressed, and parts of it can be asked for. */
export const AnswersFile = Context.Reference<boolean>("@delivery/domain/AnswersFile", { defaultValue: () => false })

/** Asked by whoever watches the server: answered at once, whatever the load and the rate limit. */
export const Probe = Context.Reference<boolean>("@delivery/domain/Probe", { defaultValue: () => false })

/** The scope that an API key needs for it (docs/contract.md, API keys). Every endpoint has one, by `doc`. */
export const RequiredScope = Context.Reference<Scope | undefined>("@delivery/domain/RequiredScope", {
  defaultValue: () => undefined
})
