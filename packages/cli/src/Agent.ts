import { DeliveryApi } from "@delivery/domain/Api"
import { Authorization } from "@delivery/domain/identity/Authorization"
import { Config, Effect, FileSystem, Option, Path, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { hostname } from "node:os"
import { runBridge } from "./AgentBridge.ts"
import { instructions, writeEntry } from "./AgentClients.ts"
import { defaultDirectory, forget, keep, makeAccessTokens, type SignInName } from "./AgentSignIn.ts"
import { Failure } from "./Failure.ts"
import { print } from "./Output.ts"

/** `delivery agent`: signs coding agents in on this computer, and connects them to the service. */

/** The flags that name a sign-in. */
const signInFlags = {
  client: Flag.Literals("client", ["claude", "codex", "cursor"]).pipe(Flag.withDescription("The coding agent")),
  url: Flag.String("url").pipe(
    Flag.withFallbackConfig(Config.String("DELIVERY_URL")),
    Flag.withDefault("http://localhost:4000"),
    Flag.withDescription("Address of the service. Environment: DELIVERY_URL. Default: http://localhost:4000")
  ),
  workspace: Flag.String("workspace").pipe(
    Flag.withFallbackConfig(Config.String("DELIVERY_WORKSPACE")),
    Flag.withDefault("main"),
    Flag.withDescription("Slug of the workspace. Environment: DELIVERY_WORKSPACE. Default: main")
  ),
  directory: Flag.String("directory").pipe(
    Flag.optional,
    Flag.withDescription("Directory for sign-ins. Default: delivery/agents in XDG_CONFIG_HOME or ~/.config")
  )
}

/** The sign-in that the flags name. The address loses a slash at its end, so that both spellings mean one sign-in. */
const signInName = Effect.fnUntraced(function* ({
  client,
  directory,
  url,
  workspace
}: Omit<SignInName, "directory"> & { readonly directory: Option.Option<string> }) {
  const path = yield* Path.Path
  return {
    client,
    url: url.replace(/\/+$/, ""),
    workspace,
    directory: Option.isSome(directory) ? path.resolve(directory.value) : yield* defaultDirectory
  } satisfies SignInName
})

const apiKey = Effect.fnUntraced(function* (keyFile: Option.Option<string>) {
  if (Option.isSome(keyFile)) {
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(
      fs.readFileString(keyFile.value),
      () => new Failure({ message: `--key-file: ${keyFile.value} cannot be read.` })
    )
    return Redacted.make(text.trim())
  }
  return yield* Effect.mapError(Config.Redacted("DELIVERY_API_KEY"), () =>
    Failure.notSignedIn("An API key is needed. Set DELIVERY_API_KEY, or name a file with --key-file.")
  )
})

/** Registers the client on this computer and stores its tokens. */
const connect = Command.make(
  "connect",
  {
    ...signInFlags,
    computer: Flag.String("computer").pipe(
      Flag.withDefault(hostname()),
      Flag.withDescription("Name of this computer, shown to members. Default: its host name")
    ),
    keyFile: Flag.String("key-file").pipe(
      Flag.optional,
      Flag.withDescription("File that holds your API key. Environment: DELIVERY_API_KEY (the key itself)")
    ),
    write: Flag.Boolean("write").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Write the client's MCP configuration instead of printing what to do")
    )
  },
  Effect.fnUntraced(function* ({ computer, keyFile, write, ...flags }) {
    const name = yield* signInName(flags)
    const key = yield* apiKey(keyFile)
    const agents = yield* HttpApiClient.group(DeliveryApi, {
      group: "agents",
      baseUrl: name.url,
      httpClient: yield* HttpClient.HttpClient
    }).pipe(
      Effect.provide(
        HttpApiMiddleware.layerClient(Authorization, ({ next, request }) =>
          next(HttpClientRequest.bearerToken(request, key))
        )
      )
    )
    const registered = yield* agents
      .register({ params: { slug: name.workspace }, payload: { client: name.client, computer } })
      .pipe(
        Effect.mapError((error) =>
          error._tag === "HttpClientError"
            ? Failure.unreachable(`${name.url} cannot be reached, or is not a Delivery service.`)
            : error._tag === "Unauthorized"
              ? Failure.notSignedIn(error.message)
              : new Failure({ message: error.message })
        )
      )
    const file = yield* keep(name, registered)
    const written = write ? yield* writeEntry(name) : null
    const next = written === null ? yield* instructions(name) : `Wrote ${written}.`
    yield* print(
      { agent: registered.agent, computer: registered.computer, scope: registered.scope, file, written },
      `Signed in on "${registered.computer.name}" to the workspace ${name.workspace} (scope: ${registered.scope}).\nThe tokens are stored in ${file}, which only you can read.\n\n${next}`
    )
  })
).pipe(Command.withDescription("Sign a coding agent in on this computer"))

/** Ends the sign-in, at the server and on this computer. */
const disconnect = Command.make(
  "disconnect",
  signInFlags,
  Effect.fnUntraced(function* (flags) {
    const wasSignedIn = yield* forget(yield* signInName(flags))
    yield* print({ wasSignedIn }, wasSignedIn ? "Signed out." : "This computer was not signed in.")
  })
).pipe(Command.withDescription("Sign a coding agent out on this computer"))

/** What clients start. */
const mcp = Command.make(
  "mcp",
  signInFlags,
  Effect.fnUntraced(function* (flags) {
    yield* runBridge(yield* makeAccessTokens(yield* signInName(flags)))
  })
).pipe(Command.withDescription("Serve MCP over standard input and output. Coding agents start this command themselves"))

export const agent = Command.make("agent").pipe(
  Command.withDescription("Sign coding agents in on this computer, and connect them to the service"),
  Command.withSubcommands([connect, disconnect, mcp]),
  Command.provide(FetchHttpClient.layer)
)
