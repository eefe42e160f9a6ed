import { Context, Effect, FileSystem, Option, type PlatformError, Redacted, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { expectedVaultKeys, SettingsError, type VaultKeys, type VaultKeysSource } from "../Config.ts"
import { vaultKeys } from "../SettingValues.ts"

/** How long the command of `VAULT_KEYS_COMMAND` may take. Tests shorten it. */
export const CommandSeconds = Context.Reference<number>("@delivery/server/keys/CommandSeconds", {
  defaultValue: () => 30
})

/** More than any keyring needs. */
const maxBytes = 64 * 1024

/** The keys that the operator gives, wherever they are. A failure says nothing of what was read. */
export const read = (source: VaultKeysSource) =>
  source._tag === "Given"
    ? Effect.succeed(source.keys)
    : source._tag === "File"
      ? fromFile(source.path)
      : fromCommand(Redacted.value(source.command))

const refuse = (message: string) => Effect.fail(new SettingsError({ message }))

const parsed = (bytes: Uint8Array, where: string): Effect.Effect<VaultKeys, SettingsError> => {
  const text = Buffer.from(bytes).toString()
  if (text.trim() === "") return refuse(`${where} is empty: expected ${expectedVaultKeys}.`)
  const keys = vaultKeys(text)
  return keys === undefined ? refuse(`${where} is invalid: expected ${expectedVaultKeys}.`) : Effect.succeed(keys)
}

/** The bytes, unless there are too many: then nothing more is read. */
const bounded = <E>(bytes: Stream.Stream<Uint8Array, E>, where: string) =>
  Stream.runFoldEffect(
    bytes,
    () => new Uint8Array(),
    (before, chunk) =>
      before.length + chunk.length > maxBytes
        ? refuse(`${where} has more than ${maxBytes} bytes: expected ${expectedVaultKeys}.`)
        : Effect.succeed(new Uint8Array(Buffer.concat([before, chunk])))
  )

const othersMayUse = 0o006

const fromFile = Effect.fnUntraced(
  function* (path: string) {
    const fs = yield* FileSystem.FileSystem
    const { mode } = yield* fs.stat(path)
    if ((mode & othersMayUse) !== 0 && process.platform !== "win32") {
      yield* Effect.logWarning(
        `VAULT_KEYS_FILE: every user of this machine may read or write ${path}. Take that right away: chmod o= ${path}`
      )
    }
    return yield* parsed(yield* bounded(fs.stream(path), "VAULT_KEYS_FILE"), "VAULT_KEYS_FILE")
  },
  (effect, path) =>
    Effect.catchTag(effect, "PlatformError", ({ reason }) =>
      refuse(`VAULT_KEYS_FILE: ${path} cannot be read (${reason._tag}). Correct the path or the rights of the file.`)
    )
)

const fromCommand = Effect.fnUntraced(function* (script: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const seconds = yield* CommandSeconds
  const command = ChildProcess.make(script, {
    shell: true,
    stdin: "ignore",
    // What it says about a failure may repeat a key or a password.
    stderr: "ignore",
    forceKillAfter: "1 second"
  })
  const ran = Effect.gen(function* () {
    const child = yield* spawner.spawn(command)
    const bytes = yield* bounded(child.stdout, "The output of VAULT_KEYS_COMMAND")
    return { bytes, code: Number(yield* child.exitCode) }
  }).pipe(Effect.scoped, Effect.timeoutOption(seconds * 1000), Effect.catchTag("PlatformError", notRun))
  const found = yield* ran
  if (Option.isNone(found)) {
    return yield* refuse(`VAULT_KEYS_COMMAND failed: it had not ended after ${seconds} s. ${byHand}`)
  }
  const { bytes, code } = found.value
  if (code !== 0) return yield* refuse(`VAULT_KEYS_COMMAND failed: it ended with exit code ${code}. ${byHand}`)
  return yield* parsed(bytes, "The output of VAULT_KEYS_COMMAND")
})

const byHand = "What it prints is not shown here: run it by hand, as the user of the server."

const notRun = ({ reason }: PlatformError.PlatformError) =>
  refuse(`VAULT_KEYS_COMMAND failed: it could not be run (${reason._tag}). ${byHand}`)
