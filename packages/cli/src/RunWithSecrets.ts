import { fstatSync, statSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { start, type Started, Signals } from "./Child.ts"
import { Failure } from "./Failure.ts"
import { ageText, keepFallback, type Kept, readFallback } from "./Fallback.ts"
import { oneLine } from "./Output.ts"
import type { Load, Loaded } from "./SecretsSource.ts"

/** Starts a command with values in its environment, and again when they have changed. */

export interface RunOptions {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly load: Load
  /** What read the values: a deployment's token or a key. The command must not have it. */
  readonly credential: string
  /** The file that the credential came from. */
  readonly credentialFile: string | undefined
  /** How long to wait between two looks for changes, in milliseconds; undefined: none is taken. */
  readonly watchMillis: number | undefined
  readonly fallback: string | undefined
  /** Prints a line for people. */
  readonly tell: (line: string) => void
}

/** How long a command may take to end before it is killed, in milliseconds. */
const graceMillis = 10_000

const tokenVariables = new Set(["DELIVERY_TOKEN", "DELIVERY_TOKEN_FILE"])

/** The environment of the command line with the values, and without what read them, whatever variable has it. */
const environmentOf = (values: Readonly<Record<string, string>>, credential: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name, value]) => !tokenVariables.has(name) && value?.includes(credential) !== true
    )
  ),
  ...values
})

/** Names that no environment can have, and those of values that none can have. */
const refusedNames = (values: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(values)
    .filter(([name, value]) => name === "" || /[=\0]/.test(name) || value.includes("\0"))
    .map(([name]) => oneLine(name))

const checkNames = ({ values }: Pick<Loaded, "values">): void => {
  const names = refusedNames(values)
  if (names.length === 0) return
  throw new Failure({
    message: `Nothing is started: no environment can have these names or values: ${names.join(", ")}.`
  })
}

/** Whether the file of the credential is the standard input: the command could read it there again. */
const isInput = (file: string | undefined): boolean => {
  if (file === undefined) return false
  try {
    const [input, named] = [fstatSync(0), statSync(file)]
    return input.ino === named.ino && input.dev === named.dev
  } catch {
    return false
  }
}

/** The values to start with: those of the service, or of the fallback. */
const firstValues = async ({ credential, fallback, load, tell }: RunOptions): Promise<Loaded> => {
  try {
    const loaded = await load()
    if (loaded === undefined) throw Failure.unreachable("The service answered without the values.")
    return loaded
  } catch (error) {
    if (fallback === undefined || !(error instanceof Failure && error.isUnreachable)) throw error
    const kept: Kept = await readFallback(fallback, credential).catch((other: unknown) => {
      throw other instanceof Failure ? Failure.unreachable(`${error.message} ${other.message}`) : other
    })
    const age = ageText(Date.now() - kept.loadedAt)
    tell(`${error.message} Starting with the values of ${fallback}, which are ${age} old.`)
    return { ...kept, state: undefined }
  }
}

const isSame = (one: Loaded, other: Loaded): boolean => {
  const names = Object.keys(one.values)
  return (
    names.length === Object.keys(other.values).length &&
    names.every((name) => Object.hasOwn(other.values, name) && one.values[name] === other.values[name])
  )
}

const keep = async ({ credential, fallback, tell }: RunOptions, loaded: Loaded): Promise<void> => {
  if (fallback === undefined || loaded.state === undefined) return
  const { environment, product, values } = loaded
  await keepFallback(fallback, { loadedAt: Date.now(), product, environment, values }, credential).catch(
    (error: NodeJS.ErrnoException) =>
      tell(`The fallback ${fallback} cannot be written (${error.code ?? error.message}): it stays as it was.`)
  )
}

/** Looks for changes until there are some that a command can be started with. */
const changed = async (options: RunOptions, before: Loaded, signal: AbortSignal): Promise<Loaded> => {
  let current = before
  let told = ""
  const tellOnce = (line: string) => {
    if (line !== told) options.tell(line)
    told = line
  }
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    await setTimeout(options.watchMillis, undefined, { signal })
    try {
      // oxlint-disable-next-line no-await-in-loop -- as above
      const loaded = await options.load(current.state, signal)
      if (loaded === undefined) {
        told = ""
        continue
      }
      checkNames(loaded)
      // oxlint-disable-next-line no-await-in-loop -- as above
      await keep(options, loaded)
      told = ""
      if (!isSame(before, loaded)) return loaded
      current = loaded
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      tellOnce(`The command goes on with the values that it has: ${error.message}`)
    }
  }
}

/** Asks a process to end, and kills it if it takes too long. */
const end = async (child: Started): Promise<void> => {
  const hasEnded = new AbortController()
  child.kill("SIGTERM")
  const killing = setTimeout(graceMillis, undefined, { signal: hasEnded.signal }).then(
    () => child.kill("SIGKILL"),
    () => {}
  )
  await child.ended
  hasEnded.abort()
  await killing
}

/** Resolves with the exit code of the command. Rejects with a `Failure` if it was never started. */
export const runWithSecrets = async (options: RunOptions): Promise<number> => {
  const { args, command, credential, tell, watchMillis } = options
  if ([command, ...args].some((argument) => argument.includes(credential))) {
    throw Failure.usage("Nothing is started: an argument of the command has the token or key in it.")
  }
  const hasInput = !isInput(options.credentialFile)
  const signals = new Signals()
  const startWith = async ({ values }: Loaded) => {
    const child = await start({ command, args, environment: environmentOf(values, credential), hasInput })
    signals.runs(child)
    return child
  }
  const first = await Promise.race([firstValues(options), signals.stopped])
  if (first === undefined || signals.code !== undefined) return signals.code!
  checkNames(first)
  let loaded: Loaded = first
  let child = await startWith(loaded)
  // Behind the start, which it is not to delay.
  await keep(options, loaded)
  if (watchMillis === undefined) return child.ended
  for (;;) {
    const watching = new AbortController()
    // oxlint-disable-next-line no-await-in-loop -- one process after the other
    const next = await Promise.race([child.ended, changed(options, loaded, watching.signal)])
      .catch((error: unknown) => {
        child.kill("SIGTERM")
        throw error
      })
      .finally(() => watching.abort())
    if (typeof next === "number") return next
    signals.replaces()
    tell(`The secrets of ${next.product} in ${next.environment} have changed: ${oneLine(command)} is started again.`)
    // oxlint-disable-next-line no-await-in-loop -- as above
    await end(child)
    if (signals.code !== undefined) return signals.code
    loaded = next
    // oxlint-disable-next-line no-await-in-loop -- as above
    child = await startWith(loaded)
  }
}
