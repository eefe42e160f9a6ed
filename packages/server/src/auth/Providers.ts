import { Context, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import * as GitHubProvider from "./GitHubProvider.ts"
import * as OidcProvider from "./OidcProvider.ts"
import type { Provider } from "./Provider.ts"

/** The providers that the settings name. None of them is asked for anything before somebody signs in. */
export class Providers extends Context.Service<Providers, { readonly all: ReadonlyArray<Provider> }>()(
  "@delivery/server/auth/Providers"
) {
  static readonly layer = Layer.effect(
    Providers,
    Effect.gen(function* () {
      const { providers } = yield* Settings
      const all = yield* Effect.forEach(providers, (settings) =>
        settings.kind === "oidc" ? OidcProvider.make(settings) : GitHubProvider.make(settings)
      )
      return Providers.of({ all })
    })
  )
}
