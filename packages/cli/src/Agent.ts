import { DeliveryApi } from "@delivery/domain/Api"
import { Authorization } from "@delivery/domain/identity/Authorization"
import { Cause, Config, Console, Effect, FileSystem, Option, Path, Redacted } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { hostname } from "node:os"
import { runBridge } from "./AgentBridge.ts"
import { instructions, writeEntry } from "./AgentClients.ts"
import { AgentError } from "./AgentError.ts"
import { defaultDirectory, forget, keep, makeAccessTokens, type SignInName } from "./AgentSignIn.ts"

const signIn = {
  client: Flag.Literals("client", ["claude", "codex", "cursor"]).pipe(Flag.withDescription("The coding-agent client")),
  url: Flag.String("url").pipe(
    Flag.withFallbackConfig(Config.String("DELIVERY_URL")),
    Flag.withDefault("http://localhost:4000"),
    Flag.withDescription("The address of the service; else DELIVERY_URL")
  ),
  workspace: Flag.String("workspace").pipe(
    Flag.withFallbackConfig(Config.String("DELIVERY_WORKSPACE")),
    Flag.withDefault("main"),
    Flag.withDescription("The workspace's slug; else DELIVERY_WORKSPACE")
  ),
  directory: Flag.String("directory").pipe(
    Flag.optional,
    Flag.withDescription("Where sign-ins are kept; else delivery/agents below XDG_CONFIG_HOME or ~/.config")
  )
}

/** An address without a slash at its end, so that a sign-in is found however it was written. */
const named = Effect.fnUntraced(function* ({
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
      () => new AgentError({ message: `--key-file: ${keyFile.value} cannot be read.` })
    )
    return Redacted.make(text.trim())
  }
  return yield* Effect.mapError(
    Config.Redacted("DELIVERY_API_KEY"),
    () => new AgentError({ message: "An API key is needed, in DELIVERY_API_KEY or in a file that --key-file names." })
  )
})

/** `delivery agent connect`: registers this computer's client and keeps the tokens. */
const connect = Command.make(
  "connect",
  {
    ...signIn,
    computer: Flag.String("computer").pipe(
      Flag.withDefault(hostname()),
      Flag.withDescription("The computer's name for people; else its host name")
    ),
    keyFile: Flag.String("key-file").pipe(
      Flag.optional,
      Flag.withDescription("A file with your API key; else DELIVERY_API_KEY")
    ),
    write: Flag.Boolean("write").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Add the server to the client's MCP configuration instead of printing how")
    )
  },
  Effect.fnUntraced(function* ({ computer, keyFile, write, ...flags }) {
    const name = yield* named(flags)
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
    const made = yield* agents
      .register({ params: { slug: name.workspace }, payload: { client: name.client, computer } })
      .pipe(
        Effect.mapError(
          (error) =>
            new AgentError({
              message:
                error._tag === "HttpClientError"
                  ? `${name.url} cannot be reached, or is another service.`
                  : error.message
            })
        )
      )
    const file = yield* keep(name, made)
    yield* Console.log(
      `Signed in on "${made.computer.name}" for the workspace ${name.workspace} (${made.scope}).\nThe tokens are kept in ${file}, for you alone.\n`
    )
    if (write) yield* Console.log(`Wrote ${yield* writeEntry(name)}.`)
    else yield* Console.log(yield* instructions(name))
  })
).pipe(Command.withDescription("Sign a coding agent's client in on this computer"))

/** `delivery agent disconnect`: ends the sign-in. */
const disconnect = Command.make(
  "disconnect",
  signIn,
  Effect.fnUntraced(function* (flags) {
    const hadOne = yield* forget(yield* named(flags))
    yield* Console.log(hadOne ? "Signed out." : "This computer was not signed in.")
  })
).pipe(Command.withDescription("Sign the client out on this computer"))

/** `delivery agent mcp`: what the client starts. */
const mcp = Command.make(
  "mcp",
  signIn,
  Effect.fnUntraced(function* (flags) {
    yield* runBridge(yield* makeAccessTokens(yield* named(flags)))
  })
).pipe(Command.withDescription("Serve the client over standard input and output (MCP); clients start this themselves"))

/** `delivery agent`: the plugin's side of agents. It talks to a server and needs none of its settings. */
export const agent = Command.make("agent").pipe(
  Command.withDescription("Sign coding agents in, and connect them"),
  Command.withSubcommands([connect, disconnect, mcp]),
  Command.provide(FetchHttpClient.layer)
)

/** One line for failures that the user can mend; undefined for faults, which show all they have. */
export const operatorMessage = (cause: Cause.Cause<unknown>): string | undefined => {
  const error = Cause.squash(cause)
  if (error instanceof AgentError) return error.message
  return CliError.isCliError(error) ? "" : undefined
}
