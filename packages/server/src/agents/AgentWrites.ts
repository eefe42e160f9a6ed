import { AgentCaller, needsWriteScope } from "@delivery/domain/agents/AgentAuthorization"
import { Forbidden, type NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { Effect } from "effect"
import type { HttpApiBuilder, HttpApiEndpoint } from "effect/http-api"
import { type Access, atLeast } from "../access/Access.ts"
import { handlersOf } from "../http/Handlers.ts"

export const insufficientScope = new Forbidden({
  message: "The access token may only read: refresh it, or sign in again.",
  reason: "insufficient_scope"
})

/**
 * The caller where it may write: a member, with a token whose scope is not `read` alone (docs/contract.md, Agent API).
 * `agentHandlersOf` and the tools run it before whatever writes.
 */
export const mayWrite: Effect.Effect<Access, NotFound | Forbidden, Caller | AgentCaller> = Effect.gen(function* () {
  const access = yield* atLeast("member")
  if ((yield* AgentCaller).scope === "read") {
    return yield* insufficientScope
  }
  return access
})

/**
 * `handlersOf` for groups that agents call: what needs the scope `write` is refused without it. That is after the
 * request was decoded, and before its handler, as the order of checks has it (docs/contract.md, Order of checks): a
 * middleware of the API would refuse before it is known whether the request is well formed.
 */
export const agentHandlersOf: typeof HttpApiBuilder.group = (api, group, build) =>
  handlersOf(api, group, (handlers) => build(checkingWrites(handlers)))

type Handler = (request: {
  readonly endpoint: HttpApiEndpoint.Top
}) => Effect.Effect<unknown, NotFound | Forbidden, Caller | AgentCaller>
type Handle = (name: string, handler: Handler, options?: unknown) => unknown

/** The same handlers, to which each is added with the check. */
const checkingWrites = <Handlers extends object>(handlers: Handlers): Handlers => {
  const { handle, handleRaw } = handlers as unknown as { readonly handle: Handle; readonly handleRaw: Handle }
  const withCheck = (add: Handle): Handle =>
    function (name, handler, options) {
      return add.call(handlers, name, checked(handler), options)
    }
  return Object.assign(handlers, {
    handle: withCheck(handle),
    handleRaw: withCheck(handleRaw),
    // It would add handlers without the check.
    handleAll: undefined
  })
}

const checked =
  (handler: Handler): Handler =>
  (request) =>
    needsWriteScope(request.endpoint) ? Effect.andThen(mayWrite, handler(request)) : handler(request)
