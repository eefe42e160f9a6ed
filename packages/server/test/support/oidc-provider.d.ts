declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface Context {
    readonly oidc: {
      readonly provider: { readonly Grant: new (of: { clientId: string; accountId: string }) => Grant }
      readonly client: { readonly clientId: string }
      readonly session: { readonly accountId: string }
    }
  }

  interface Account {
    readonly accountId: string
    readonly claims: () => Readonly<Record<string, unknown>>
  }

  export interface Configuration {
    readonly clients: ReadonlyArray<Readonly<Record<string, unknown>>>
    readonly claims: Readonly<Record<string, ReadonlyArray<string>>>
    readonly conformIdTokenClaims: boolean
    readonly cookies: { readonly keys: ReadonlyArray<string> }
    readonly features: {
      readonly devInteractions: { readonly enabled: boolean }
      readonly clientCredentials?: { readonly enabled: boolean }
      readonly resourceIndicators?: {
        readonly enabled: boolean
        readonly getResourceServerInfo: (context: Context, resource: string) => object
      }
    }
    readonly extraTokenClaims: () => Readonly<Record<string, unknown>>
    readonly scopes: ReadonlyArray<string>
    readonly interactions: { readonly url: (context: Context, interaction: { readonly uid: string }) => string }
    readonly jwks: { readonly keys: ReadonlyArray<object> }
    readonly clientAuthMethods: ReadonlyArray<string>
    readonly ttl: Readonly<Record<string, number>>
    readonly pkce: { readonly required: () => boolean }
    readonly findAccount: (context: Context, sub: string) => Promise<Account | undefined>
    readonly loadExistingGrant: (context: Context) => Promise<Grant>
  }

  export class Provider {
    constructor(issuer: string, configuration: Partial<Configuration>)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { readonly login: { readonly accountId: string }; readonly consent: object } | { readonly error: string }
    ): Promise<void>
  }
}
