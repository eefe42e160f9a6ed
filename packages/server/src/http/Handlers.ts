import { Context, Effect, Layer, Scope } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { lean } from "./LeanContext.ts"
import { Refusals } from "./Refusals.ts"
import { type Runtime, withRequiredScope } from "./RequiredScopes.ts"

// The types of what is built are the caller's: they are in the signature.
// @effect-diagnostics anyUnknownInErrorContext:off unsafeEffectTypeAssertion:off
/**
 * Like `HttpApiBuilder.group`, but the services of the handlers are not in the context of requests, and keys without the
 * scope of an endpoint do not reach its handler.
 */
export const handlersOf: typeof HttpApiBuilder.group = (api, group, build) =>
  Layer.fromBuild((memoMap, scope) =>
    Effect.contextWith((services: Context.Context<never>) => {
      const refused = Context.get(services, Refusals)
      const scoped = <H>(handled: H): H => {
        const { handlers } = handled as unknown as Handled
        for (const [name, runtime] of handlers) handlers.set(name, withRequiredScope(runtime, group, refused))
        return handled
      }
      const made: typeof build = (unhandled) => {
        const handled = build(unhandled)
        return Effect.isEffect(handled)
          ? (Effect.map(
              Effect.provideContext(handled, Context.omit(Scope.Scope)(services)) as Effect.Effect<Handled>,
              scoped
            ) as typeof handled)
          : scoped(handled)
      }
      const layer = HttpApiBuilder.group(api, group, made) as Layer.Layer<unknown>
      return Effect.updateContext(Layer.buildWithMemoMap(layer, memoMap, scope), () => lean(services))
    })
  )

type Handled = { readonly handlers: Map<string, Runtime> }
