import { RequiredScope } from "@delivery/domain/Endpoint"
import { Forbidden, NotFound } from "@delivery/domain/Errors"
import { workspacePath } from "@delivery/domain/Doc"
import { Caller, OptionalCaller } from "@delivery/domain/identity/Authorization"
import { hasScope, type Scope } from "@delivery/domain/Scope"
import { Context, Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

// The types of handlers are their endpoints'.
// @effect-diagnostics anyUnknownInErrorContext:off
/** A handler as `HttpApiBuilder.group` keeps it. */
export interface Runtime {
  readonly endpoint: HttpApiEndpoint.Top
  readonly handler: (request: unknown) => Effect.Effect<unknown, unknown, unknown>
}

/** The refusal of a key that has not the scope of an operation (docs/contract.md, API keys). */
const scopeMissing = (scope: Scope): Forbidden =>
  new Forbidden({
    message: `This requires the scope ${scope}, which the API key does not have.`,
    reason: "scope_missing"
  })

/**
 * Refuses keys without the endpoint's scope, where roles are refused: after the request was decoded, and after the
 * workspace was found (docs/contract.md, Order of checks). A middleware of the API would refuse before the request is
 * known to be well formed.
 */
export const withRequiredScope = <A extends Runtime>(runtime: A): A => {
  const { endpoint, handler } = runtime
  const scope = Context.get(endpoint.annotations, RequiredScope)
  if (scope === undefined) throw new Error(`The endpoint ${endpoint.identifier} has no scope.`)
  const isOfWorkspace = endpoint.path.startsWith(`${workspacePath}/`) || endpoint.path === workspacePath
  const checked: Runtime["handler"] = (request) =>
    Effect.withFiber((fiber) => {
      const caller =
        Context.getOrUndefined(fiber.context, Caller) ?? Context.getOrUndefined(fiber.context, OptionalCaller)?.caller
      if (caller === undefined || hasScope(caller.credential.scopes, scope)) return handler(request)
      return isOfWorkspace && caller.membership === undefined
        ? Effect.fail(NotFound.of("workspace"))
        : Effect.fail(scopeMissing(scope))
    })
  return { ...runtime, handler: checked }
}
