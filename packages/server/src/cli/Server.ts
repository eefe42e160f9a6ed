import type { PersonId } from "@delivery/domain/Ids"
import { Console, Effect, Layer, Option, Redacted } from "effect"
import { layerServer } from "../App.ts"
import { asHost } from "../audit/ActsInstead.ts"
import { SignInLinks } from "../auth/SignInLinks.ts"
import { Settings } from "../Config.ts"
import * as Files from "../files/Files.ts"
import { keepsCookies } from "../http/OwnPages.ts"
import { Bootstrap } from "../identity/Bootstrap.ts"
import * as HostSocket from "./HostSocket.ts"
import * as Worker from "../workers/Worker.ts"

/** The key is printed whether or not the database still answers: this start alone knows it. */
const signInLines = Effect.fnUntraced(function* (owner: PersonId, email: string) {
  const links = yield* SignInLinks
  return yield* asHost(links.print(owner)).pipe(
    Effect.map((link) => ["To sign in with a browser, open this link. It works once, for an hour:", "", `  ${link}`]),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logWarning("No sign-in link could be made.", defect), [
        "No link to sign in with a browser could be made. This command prints one:",
        "",
        `  pnpm delivery sign-in-link ${email}`
      ])
    )
  )
})

/** Prints where the server is, and the owner's API key and a link to sign in if this start created them. */
const printStart = Effect.gen(function* () {
  const settings = yield* Settings
  const { made } = yield* Bootstrap
  const { baseUrl } = settings
  const lines = ["", `Workspace Delivery Service: ${baseUrl}`, `API description and docs: ${baseUrl}/docs`]
  if (Option.isSome(made)) {
    const { apiKey, isGiven, owner, ownerEmail, workspace } = made.value
    const key = isGiven ? "$BOOTSTRAP_API_KEY" : Redacted.value(apiKey)
    lines.push("", `Created the workspace "${workspace}" with the owner ${ownerEmail}.`)
    if (!isGiven) lines.push(`API key of ${ownerEmail}, shown only this once: ${key}`)
    lines.push("Send it as a Bearer token with each request:", "")
    lines.push(`  curl -H "Authorization: Bearer ${key}" ${baseUrl}/v1/me`, "")
    if (keepsCookies(baseUrl)) lines.push(...(yield* signInLines(owner, ownerEmail)))
    else lines.push("To sign in with a browser, BASE_URL must be https.")
  }
  yield* Console.log(lines.join("\n") + "\n")
})

/** The server in this process, with the socket for commands of the host. */
export const serveAlone = Effect.andThen(printStart, Effect.never).pipe(
  Effect.provide(Layer.provideMerge(HostSocket.layerServer, layerServer).pipe(Layer.provideMerge(Files.layerKeptBlobs)))
)

/** The server as one of several workers. */
export const serveAsWorker = Effect.suspend(() => (Worker.printsStart() ? printStart : Effect.void)).pipe(
  Effect.andThen(Worker.reportReady),
  Effect.andThen(Effect.never),
  Effect.provide(Layer.provide(layerServer, Worker.layer))
)
