import type { HttpApiEndpoint } from "effect/http-api"
import type { Plain } from "./Secrets.ts"

/** What the calls of a client take that is made of promises. */

/** The second argument of every call. */
export interface CallOptions {
  /** An aborted call rejects with the reason of the signal. To stop reading a `Response`, cancel its body; to stop an export or a stream of events, leave the loop. */
  readonly signal?: AbortSignal | undefined
}

type Simplify<A> = { readonly [K in keyof A]: A[K] }
type Keyed<Key extends string, Value> = [Value] extends [never]
  ? unknown
  : Partial<Value> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value }

/** `params`, `query`, `headers` and `payload` as the endpoint declares them. */
export type RequestOf<E extends HttpApiEndpoint.ConstraintRequest> = Simplify<
  Keyed<"params", E["~Params"]["Type"]> &
    Keyed<"query", E["~Query"]["Type"]> &
    Keyed<"headers", E["~Headers"]["Type"]> &
    Keyed<"payload", Plain<E["~Payload"]["Type"]>>
>

export type Arguments<Request> =
  Partial<Request> extends Request
    ? [request?: Request, options?: CallOptions]
    : [request: Request, options?: CallOptions]
