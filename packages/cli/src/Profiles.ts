import { Effect, FileSystem, Path, Schema } from "effect"
import { Failure } from "./Failure.ts"
import { configDirectory, replaceFile } from "./PrivateFiles.ts"

/** Profiles: the services that this user has signed in to, in one file that only they can read. */

const Profile = Schema.Struct({
  url: Schema.String,
  workspace: Schema.NullOr(Schema.String),
  apiKey: Schema.String,
  /** The id of the key, where `login` had it made: then it is this profile's alone, and ends with it. */
  keyId: Schema.optionalKey(Schema.String)
})
export type Profile = typeof Profile.Type

const Profiles = Schema.Struct({
  /** The profile that is used where none is named. */
  current: Schema.NullOr(Schema.String),
  profiles: Schema.Record(Schema.String, Profile)
})
type Profiles = typeof Profiles.Type

const Stored = Schema.fromJsonString(Profiles)

export const profilesFile = Effect.gen(function* () {
  return (yield* Path.Path).join(yield* configDirectory, "profiles.json")
})

/** The name of a profile, or why it cannot be one. */
export const profileName = (name: string) =>
  /^[A-Za-z0-9_-]{1,50}$/.test(name)
    ? Effect.succeed(name)
    : Effect.fail(Failure.usage("The name of a profile has 1 to 50 letters, digits, dashes and underscores."))

/** The stored profiles; none where there is no file. */
export const readProfiles = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = yield* profilesFile
  const text = yield* fs.readFileString(file).pipe(
    Effect.catchIf(
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeed('{"current":null,"profiles":{}}')
    ),
    Effect.mapError(() => new Failure({ message: `${file} cannot be read.` }))
  )
  // The text holds keys, so what is wrong with it is not told.
  return yield* Effect.mapError(
    Schema.decodeEffect(Stored)(text),
    () => new Failure({ message: `${file} is damaged. Delete it, and sign in again.` })
  )
})

const writeProfiles = Effect.fnUntraced(function* (profiles: Profiles) {
  const file = yield* profilesFile
  yield* Effect.mapError(
    replaceFile(file, `${JSON.stringify(profiles, null, 2)}\n`),
    () => new Failure({ message: `${file} cannot be written.` })
  )
  return file
})

/** Stores a profile and makes it the current one. Answers the path of the file. */
export const keepProfile = Effect.fnUntraced(function* (name: string, profile: Profile) {
  const { profiles } = yield* readProfiles
  return yield* writeProfiles({ current: name, profiles: { ...profiles, [name]: profile } })
})

/** Deletes a profile. Answers whether there was one. */
export const forgetProfile = Effect.fnUntraced(function* (name: string) {
  const { current, profiles } = yield* readProfiles
  if (!Object.hasOwn(profiles, name)) return false
  const { [name]: _, ...others } = profiles
  yield* writeProfiles({ current: current === name ? null : current, profiles: others })
  return true
})
