import { Effect, FileSystem, Redacted, Stdio, Stream } from "effect"
import { Prompt } from "effect/cli"
import { Failure } from "./Failure.ts"

/** What commands read that must not stand in arguments, where other users of the computer see it. */

const longestInput = 1024 * 1024

const decode = (chunks: ReadonlyArray<Uint8Array>): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch {
    return undefined
  }
}

/** All of standard input, as it is. */
const standardInput = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  let size = 0
  const chunks = yield* stdin.pipe(
    Stream.takeWhile((chunk) => (size += chunk.length) <= longestInput),
    Stream.runCollect,
    Effect.mapError(() => new Failure({ message: "Standard input cannot be read." }))
  )
  if (size > longestInput) return yield* Failure.usage("Standard input is longer than 1 MiB.")
  const text = decode(chunks)
  return text ?? (yield* Failure.usage("Standard input is not UTF-8."))
})

/** Asks on a terminal, without showing what is typed; reads standard input elsewhere. */
export const secretInput = Effect.fnUntraced(function* (question: string) {
  const { stdinIsTerminal } = yield* Stdio.Stdio
  if (!(yield* stdinIsTerminal)) return yield* standardInput
  return Redacted.value(yield* Effect.mapError(Prompt.Password({ message: question }), () => Failure.unanswered()))
})

/** A file of UTF-8, as it is. */
export const textFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* Effect.mapError(fs.readFile(file), () => Failure.usage(`${file} cannot be read.`))
  if (bytes.length > longestInput) return yield* Failure.usage(`${file} is longer than 1 MiB.`)
  return decode([bytes]) ?? (yield* Failure.usage(`${file} is not UTF-8.`))
})

/** Asks whether to go on. Where nobody can answer, `--yes` must have been given. */
export const confirmed = Effect.fnUntraced(function* (question: string, yes: boolean) {
  if (yes) return true
  const { stdinIsTerminal } = yield* Stdio.Stdio
  if (!(yield* stdinIsTerminal)) {
    return yield* Failure.usage("Nobody can be asked here: add --yes to do this without asking.")
  }
  return yield* Effect.mapError(Prompt.Confirm({ message: question, initial: false }), () => Failure.unanswered())
})

/** Asks on a terminal which one it is. Where nobody can answer, it is undefined. */
export const chosenOne = Effect.fnUntraced(function* (question: string, choices: ReadonlyArray<string>) {
  const { stdinIsTerminal } = yield* Stdio.Stdio
  if (!(yield* stdinIsTerminal)) return undefined
  return yield* Effect.mapError(
    Prompt.Select({ message: question, choices: choices.map((title) => ({ title, value: title })) }),
    () => Failure.unanswered()
  )
})
