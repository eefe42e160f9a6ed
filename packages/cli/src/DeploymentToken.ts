import { Effect, FileSystem, Option } from "effect"
import { Failure } from "./Failure.ts"
import { oneLine } from "./Output.ts"
import { environment, type Sourced } from "./Settings.ts"

/** The token of a deployment, which the environment has or names a file of. */

export interface GivenToken extends Sourced<string> {
  /** The file that it was read from. */
  readonly file: string | undefined
}

/** The token and where it came from; undefined if none was given. Its text is not looked at. */
export const givenToken = Effect.gen(function* () {
  const given = yield* environment("DELIVERY_TOKEN")
  if (Option.isSome(given))
    return { value: given.value.trim(), source: "DELIVERY_TOKEN", file: undefined } satisfies GivenToken
  const file = yield* environment("DELIVERY_TOKEN_FILE")
  if (Option.isNone(file)) return undefined
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(file.value), () =>
    Failure.notSignedIn(`${oneLine(file.value)}, which DELIVERY_TOKEN_FILE names, cannot be read.`)
  )
  return { value: text.trim(), source: "DELIVERY_TOKEN_FILE", file: file.value } satisfies GivenToken
})

/** A token that can be one. */
export const deploymentToken = Effect.flatMap(givenToken, (given) =>
  given === undefined || /^dtk_[0-9A-Za-z]+$/.test(given.value)
    ? Effect.succeed(given)
    : Effect.fail(Failure.usage(`${given.source} has no token of a deployment. It begins with dtk_.`))
)
