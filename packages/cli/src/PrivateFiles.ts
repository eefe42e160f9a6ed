import { Config, Data, Effect, FileSystem, Option, Path, type PlatformError } from "effect"
import { homedir } from "node:os"
import { makeFileLock, whenReleased } from "./FileLock.ts"

/** Files of the command that only its user can read. */

/** The directory of the command's files: in `XDG_CONFIG_HOME`, else `~/.config`. An empty variable counts as not set. */
export const configDirectory = Effect.gen(function* () {
  const path = yield* Path.Path
  const home = Option.filter(yield* Config.option(Config.String("XDG_CONFIG_HOME")), (value) => value !== "")
  return path.resolve(
    Option.getOrElse(home, () => path.join(homedir(), ".config")),
    "delivery"
  )
})

/** Makes a directory and those above it. Node's own way of that never ends where the system allows none, as below /proc. */
const makeDirectory = (
  directory: string
): Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
    const make = fs.makeDirectory(directory, { mode: 0o700 })
    yield* make.pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag === "NotFound" && path.dirname(directory) !== directory,
        () =>
          Effect.andThen(
            Effect.suspend(() => makeDirectory(path.dirname(directory))),
            make
          )
      ),
      Effect.catchIf(
        ({ reason }) => reason._tag === "AlreadyExists",
        () => Effect.void
      )
    )
  })

class NotLocked extends Data.TaggedError("NotLocked")<{ readonly cause: unknown }> {}

const lock = (directory: string) =>
  Effect.tryPromise({
    try: (signal) => whenReleased(makeFileLock(directory), signal),
    catch: (cause) => new NotLocked({ cause })
  })

/** Reads and writes a file while no other process does. `refused` is the failure where the file cannot be locked. */
export const underLock = <A, E, R, F>(file: string, refused: (cause: unknown) => F, use: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const path = yield* Path.Path
    yield* Effect.mapError(makeDirectory(path.dirname(file)), refused)
    return yield* Effect.acquireUseRelease(
      Effect.mapError(lock(`${file}.locks`), ({ cause }) => refused(cause)),
      () => use,
      (held) => Effect.sync(() => held.close())
    )
  })

/** Writes what is to become the file, beside it. Answers its path. */
const writeDraft = Effect.fnUntraced(function* (file: string, text: string) {
  const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
  const draft = `${file}.${process.pid}.tmp`
  yield* makeDirectory(path.dirname(file))
  yield* fs.writeFileString(draft, text, { mode: 0o600 })
  return draft
})

/** Fails where `replaceFile` would. */
export const probeFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(yield* writeDraft(file, ""))
})

/** Replaces the file at once, so that others read either the old text or the new one. */
export const replaceFile = Effect.fnUntraced(function* (file: string, text: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.rename(yield* writeDraft(file, text), file)
})
