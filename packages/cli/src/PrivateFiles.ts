import { Config, Effect, FileSystem, Option, Path } from "effect"
import { homedir } from "node:os"

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

/** Replaces the file at once, so that others read either the old text or the new one. */
export const replaceFile = Effect.fnUntraced(function* (file: string, text: string) {
  const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
  const written = `${file}.${process.pid}.tmp`
  yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 })
  yield* fs.writeFileString(written, text, { mode: 0o600 })
  yield* fs.rename(written, file)
})
