import { Config, Effect, FileSystem, Option, Path, Schema } from "effect"
import { homedir } from "node:os"
import { Failure } from "./Failure.ts"

/** Profiles: the services that this user has signed in to, in one file that only they can read. */

const Profile = Schema.Struct({
  url: Schema.String,
  workspace: Schema.NullOr(Schema.String),
  apiKey: Schema.String
})
export type Profile = typeof Profile.Type

const Profiles = Schema.Struct({
  /** The profile that is used where none is named. */
  current: Schema.NullOr(Schema.String),
  profiles: Schema.Record(Schema.String, Profile)
})
type Profiles = typeof Profiles.Type

const Stored = Schema.fromJsonString(Profiles)

/** The directory of the command's files: in `XDG_CONFIG_HOME`, else `~/.config`. */
const configDirectory = Effect.gen(function* () {
  const path = yield* Path.Path
  const home = Option.filter(yield* Config.option(Config.String("XDG_CONFIG_HOME")), (value) => value !== "")
  return path.resolve(
    Option.getOrElse(home, () => path.join(homedir(), ".config")),
    "delivery"
  )
})

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

/** Replaces the file at once, so that others read either the old profiles or the new ones. */
const writeProfiles = Effect.fnUntraced(function* (profiles: Profiles) {
  const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
  const file = yield* profilesFile
  const written = `${file}.${process.pid}.tmp`
  const text = JSON.stringify(profiles, null, 2)
  yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 }).pipe(
    Effect.andThen(fs.writeFileString(written, `${text}\n`, { mode: 0o600 })),
    Effect.andThen(fs.rename(written, file)),
    Effect.mapError(() => new Failure({ message: `${file} cannot be written.` }))
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
