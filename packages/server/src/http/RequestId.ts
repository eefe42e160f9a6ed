import { Context } from "effect"
import { randomUUID } from "node:crypto"

/** The id of the request that the running fiber serves; the `x-request-id` of its response. */
export const RequestId = Context.Reference<string>("@delivery/server/http/RequestId", { defaultValue: () => "none" })

// A token is no id: ids are logged.
const form = /^(?!.*(?:tk_|whsec_))[A-Za-z0-9_-]{8,64}$/

/** An incoming id of the right form is kept, so that one id follows a request through several services. */
export const requestId = (incoming: string | undefined): string =>
  incoming !== undefined && form.test(incoming) ? incoming : randomUUID()
