import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { HttpServerError } from "effect/http"
import { layerMemoryServer } from "../App.ts"
import { SignInLinks } from "../auth/SignInLinks.ts"
import { Settings, SettingsError } from "../Config.ts"
import * as Logs from "../http/Logs.ts"
import { Bootstrap } from "../identity/Bootstrap.ts"
import { freePort } from "../cli/FreePort.ts"
import { listenMessage } from "../cli/ListenMessage.ts"
import { InMemoryConnections } from "./InMemoryConnections.ts"

/** A server that runs for a test: where it answers, and its owner's key. */
export class DeliveryServer extends Context.Service<
  DeliveryServer,
  {
    readonly baseUrl: string
    readonly apiKey: Redacted.Redacted
    readonly workspace: string
    /** Sends requests to it. The platform's, unless it listens on no socket. */
    readonly fetch: typeof globalThis.fetch
    /** A link by which the person with this email or id signs in, once; undefined where there is none such. */
    readonly signInLink: (who: string) => Effect.Effect<string | undefined>
  }
>()("@delivery/server/testing/DeliveryServer") {
  /**
   * The whole API over memory on a free port of the loopback address, for the tests of those who use the service.
   * `environment` sets what the environment variables of a server would (docs/operations.md). Logs are off unless
   * `LOG_LEVEL` is set.
   */
  static readonly layerMemory = (environment: Readonly<Record<string, string>> = {}) =>
    serverOf(layerMemoryServer, environment)

  /**
   * The same without a socket: `fetch` of the service is the one way in. All else is as on a socket, HTTP included. Where
   * tests may open none, or where thousands of servers begin.
   */
  static readonly layerMemoryWithoutSocket = (environment: Readonly<Record<string, string>> = {}) =>
    serverOf(layerMemoryServer, { PORT: "80", BASE_URL: "http://delivery.localhost", ...environment }).pipe(
      Layer.provide(InMemoryConnections.layer)
    )
}

/** Runs a server that its settings describe, on a free port unless they name one. */
export const serverOf = <E, R>(
  server: Layer.Layer<Bootstrap | SignInLinks, E, R>,
  environment: Readonly<Record<string, string>>
) =>
  Layer.effect(
    DeliveryServer,
    Effect.gen(function* () {
      const { baseUrl } = yield* Settings
      const inMemory = yield* Effect.serviceOption(InMemoryConnections)
      const made = Option.getOrThrow((yield* Bootstrap).made)
      const links = yield* SignInLinks
      const clock = yield* Clock.Clock
      return DeliveryServer.of({
        baseUrl,
        apiKey: made.apiKey,
        workspace: made.workspace,
        fetch: Option.match(inMemory, { onNone: () => globalThis.fetch, onSome: ({ fetch }) => fetch }),
        signInLink: (who) =>
          // Its hour is counted by the clock of the server.
          Effect.provideService(
            Effect.map(links.printFor(who), (printed) => printed?.url),
            Clock.Clock,
            clock
          )
      })
    })
  ).pipe(
    Layer.provide(
      Layer.catch(server, (error): Layer.Layer<Bootstrap | SignInLinks, E | SettingsError> =>
        Layer.effectContext(
          Effect.fail(
            error instanceof HttpServerError.ServeError
              ? new SettingsError({ message: listenMessage(error.cause) })
              : error
          )
        )
      )
    ),
    Layer.provide(Logs.layer),
    Layer.provide(
      Layer.unwrap(
        Effect.map(Effect.promise(freePort), (port) =>
          settingsOf({
            LOG_LEVEL: "none",
            // Tests try credentials that are not valid, from one address.
            AUTH_FAILURE_LIMIT: "1000000/60",
            TOKEN_REPORT_LIMIT: "1000000",
            PORT: String(port),
            // Its build takes seconds, and few tests look at it.
            WEBSITE: "false",
            BASE_URL: `http://127.0.0.1:${environment["PORT"] ?? port}`,
            ...environment
          })
        )
      )
    )
  )

/** The settings, where all that is given is one: a misspelt limit would be no limit. */
const settingsOf = (environment: Readonly<Record<string, string>>) => {
  const read = new Set<string | symbol>()
  const recording = new Proxy(environment, {
    get: (settings, name) => {
      read.add(name)
      return Reflect.get(settings, name)
    }
  })
  return Layer.tap(Settings.layer(recording), () => {
    const unknown = Object.keys(environment).find((name) => !read.has(name))
    return unknown === undefined
      ? Effect.void
      : Effect.fail(new SettingsError({ message: `${unknown} is no setting of the server.` }))
  })
}
