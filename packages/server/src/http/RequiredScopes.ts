import { RequiredScope } from "@delivery/domain/Endpoint"
import { Forbidden, NotFound } from "@delivery/domain/Errors"
import { workspacePath } from "@delivery/domain/Doc"
import { Caller, OptionalCaller } from "@delivery/domain/identity/Authorization"
import { hasScope, type Scope } from "@delivery/domain/Scope"
import { Context, Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Refused } from "./Refusals.ts"

// The types of handlers are their endpoints'.
// @effect-diagnostics anyUnknownInErrorContext:off
/** A handler as `HttpApiBuilder.group` keeps it. */
export interface Runtime {
  readonly endpoint: HttpApiEndpoint.Top
  readonly handler: (request: unknown) => Effect.Effect<unknown, unknown, unknown>
}

/** The refusal of a key that has not the scope of an operation (docs/contract.md, API keys). */
export const scopeMissing = (scope: Scope): Forbidden =>
  new Forbidden({
    message: `This requires the scope ${scope}, which the API key does not have.`,
    reason: "scope_missing"
  })

/**
 * Refuses keys without the endpoint's scope, where roles are refused: after the request was decoded, and after the
 * workspace was found (docs/contract.md, Order of checks). A middleware of the API would refuse before the request is
 * known to be well formed. Whatever an operation for admins refuses is told to `refused`.
 */
export const withRequiredScope = <A extends Runtime>(
  runtime: A,
  group: string,
  refused: (refused: Refused) => Effect.Effect<void>
): A => {
  const { endpoint, handler } = runtime
  const scope = Context.get(endpoint.annotations, RequiredScope)
  if (scope === undefined) throw new Error(`The endpoint ${endpoint.identifier} has no scope.`)
  const isOfWorkspace = endpoint.path.startsWith(`${workspacePath}/`) || endpoint.path === workspacePath
  const checked = (request: unknown, caller: Caller["Service"] | undefined): ReturnType<Runtime["handler"]> => {
    if (caller === undefined || hasScope(caller.credential.scopes, scope)) return handler(request)
    return isOfWorkspace && caller.membership === undefined
      ? Effect.fail(NotFound.of("workspace"))
      : Effect.fail(scopeMissing(scope))
  }
  const operation = `${group}.${endpoint.identifier}`
  const isForAdmins = scope === "admin"
  const watched: Runtime["handler"] = (request) =>
    Effect.withFiber((fiber) => {
      const caller =
        Context.getOrUndefined(fiber.context, Caller) ?? Context.getOrUndefined(fiber.context, OptionalCaller)?.caller
      const answer = checked(request, caller)
      if (!isForAdmins || caller === undefined) return answer
      return Effect.tapError(answer, (error) =>
        error instanceof Forbidden
          ? refused({ caller, operation, isOfWorkspace, params: paramsOf(request) })
          : Effect.void
      )
    })
  return { ...runtime, handler: watched }
}

/** What the path of a decoded request names, the workspace left out. */
const paramsOf = (request: unknown): Refused["params"] => {
  const { slug: _, ...params } = (request as { readonly params?: Readonly<Record<string, unknown>> }).params ?? {}
  return params
}
