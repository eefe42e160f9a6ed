import { Effect, FileSystem, Path, Schema } from "effect"
import { Failure } from "./Failure.ts"
import { configDirectory, replaceFile, underLock } from "./PrivateFiles.ts"

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

const notWritten = (file: string) => () => new Failure({ message: `${file} cannot be written.` })

/** Changes the stored profiles. Commands that run at once change them one after the other. */
const changeProfiles = Effect.fnUntraced(function* (change: (stored: Profiles) => Profiles) {
  const file = yield* profilesFile
  return yield* underLock(
    file,
    notWritten(file),
    Effect.gen(function* () {
      const before = yield* readProfiles
      const after = change(before)
      if (after !== before) {
        yield* Effect.mapError(replaceFile(file, `${JSON.stringify(after, null, 2)}\n`), notWritten(file))
      }
      return { file, before }
    })
  )
})

const storedAs = ({ profiles }: Profiles, name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined

/** Stores a profile and makes it the current one. Answers the path of the file, and the profile that it replaced. */
export const keepProfile = Effect.fnUntraced(function* (name: string, profile: Profile) {
  const { before, file } = yield* changeProfiles(({ profiles }) => ({
    current: name,
    profiles: { ...profiles, [name]: profile }
  }))
  return { file, replaced: storedAs(before, name) }
})

/** Deletes a profile. Answers whether there was one. */
export const forgetProfile = Effect.fnUntraced(function* (name: string) {
  const { before } = yield* changeProfiles((stored) => {
    if (storedAs(stored, name) === undefined) return stored
    const { [name]: _, ...others } = stored.profiles
    return { current: stored.current === name ? null : stored.current, profiles: others }
  })
  return storedAs(before, name) !== undefined
})
