import { Effect, FileSystem, Option, Path } from "effect"
import { FetchHttpClient } from "effect/http"
import { runBridge } from "./AgentBridge.ts"
import { instructions, writeEntry, fileWithEntry } from "./AgentClients.ts"
import { callAt } from "./Calls.ts"
import { defaultDirectory, forget, keep, makeAccessTokens, probe, type SignInName } from "./AgentSignIn.ts"
import { Failure } from "./Failure.ts"
import { answerSeconds, answeringWithin } from "./Http.ts"
import { print } from "./Output.ts"
import { settings } from "./Settings.ts"

/** The work of `delivery agent`. */

type SignInFlags = Pick<SignInName, "client"> & { readonly directory: Option.Option<string> }

/** The sign-in that the flags name, at the service and in the workspace of the settings. */
const signInName = Effect.fnUntraced(function* ({ client, directory }: SignInFlags) {
  const path = yield* Path.Path
  const { url, workspace } = yield* settings
  return {
    client,
    url: url.value,
    workspace: workspace.value,
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
    return text.trim()
  }
  const { apiKey, keyProblem } = yield* settings
  if (apiKey !== undefined) return apiKey.value
  return yield* Failure.notSignedIn(
    `${keyProblem ?? "An API key is needed."} Run \`delivery login\`, set DELIVERY_API_KEY, or name a file with --key-file.`
  )
})

interface ConnectFlags extends SignInFlags {
  readonly computer: string
  readonly keyFile: Option.Option<string>
  readonly write: boolean
}

/** Registers the client on this computer and stores its tokens. */
export const connect = Effect.fnUntraced(
  function* ({ computer, keyFile, write, ...flags }: ConnectFlags) {
    const name = yield* signInName(flags)
    const key = yield* apiKey(keyFile)
    yield* probe(name)
    const registered = yield* callAt({ ...name, apiKey: key }, (client) =>
      client.agents.register({
        params: { slug: name.workspace },
        payload: { client: name.client, computer }
      })
    )
    const file = yield* keep(name, registered)
    const written = write ? yield* writeEntry(name) : null
    const next = written === null ? yield* instructions(name) : `Wrote ${written}.`
    yield* print(
      { agent: registered.agent, computer: registered.computer, scope: registered.scope, file, written },
      `Signed in on "${registered.computer.name}" to the workspace ${name.workspace} (scope: ${registered.scope}).\nThe tokens are stored in ${file}, which only you can read.\n\n${next}`
    )
  },
  Effect.provide(answeringWithin(answerSeconds))
)

/** Ends the sign-in, at the server and on this computer. */
export const disconnect = Effect.fnUntraced(
  function* (flags: SignInFlags) {
    const name = yield* signInName(flags)
    const wasSignedIn = yield* forget(name)
    const file = yield* fileWithEntry(name)
    const said = wasSignedIn ? "Signed out." : "This computer was not signed in."
    yield* print(
      { wasSignedIn, file: file ?? null },
      file === undefined ? said : `${said} ${file} still names the server: remove it there.`
    )
  },
  Effect.provide(answeringWithin(answerSeconds))
)

/** What clients start. */
export const mcp = Effect.fnUntraced(function* (flags: SignInFlags) {
  yield* runBridge(yield* makeAccessTokens(yield* signInName(flags)))
}, Effect.provide(FetchHttpClient.layer))
