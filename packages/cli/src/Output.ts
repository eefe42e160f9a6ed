import { printable } from "@delivery/domain/CommandLine"
import { Console, Effect, Stdio, Stream } from "effect"
import { stripVTControlCharacters, styleText } from "node:util"
import { Failure } from "./Failure.ts"
import { Json } from "./Settings.ts"

/** What commands print: JSON where it was asked for, else text for people. */

/** Text that others wrote, as one line that a terminal prints and does not obey. */
export const oneLine = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll(/\p{Cf}/gu, "")
    .trim()

/** The same for text of several lines. */
export const plainLines = (text: string): string => text.split(/\r?\n/).map(oneLine).join("\n")

export type Colour = "green" | "red" | "yellow" | "dim" | "bold"

/** Colours are for terminals alone, and for those who have not turned them off (https://no-color.org). */
const hasColours = (): boolean => process.stdout.isTTY === true && (process.env["NO_COLOR"] ?? "") === ""

export const colour = (name: Colour, text: string): string => (hasColours() ? styleText(name, text) : text)

/** Rows as columns that are as wide as their longest cell. The last column has no padding. */
export const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = [header, ...rows].map((row) => row.map(oneLine))
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)))
  const [head = "", ...rest] = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
  return [colour("bold", head), ...rest].join("\n")
}

/** JSON in which no character steers a terminal, or hides. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/[^\P{C}\n]/gu, (one) =>
    Array.from({ length: one.length }, (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")
  )

/** Writes text to standard output, byte for byte. A reader that has gone has read enough; what else cannot be written is a failure. */
export const write = Effect.fnUntraced(function* (text: string) {
  const stdio = yield* Stdio.Stdio
  yield* Stream.run(Stream.make(text), stdio.stdout({ endOnDone: false })).pipe(
    Effect.catch((error) =>
      String(error.reason.cause).includes("EPIPE")
        ? Effect.void
        : Effect.fail(new Failure({ message: "Standard output cannot be written." }))
    )
  )
})

/** Prints the value as JSON with `--json`, else the text. An empty text prints nothing. */
export const print = Effect.fnUntraced(function* (value: unknown, text: string) {
  const shown = (yield* Json) ? jsonOf(value) : text
  if (shown !== "") yield* write(`${shown}\n`)
})

/** Writes a line to standard error, outside of effects. */
export const noteNow = (line: string): void => void process.stderr.write(`${printable(line)}\n`)

/** A line for people beside the result, which goes to standard error. */
export const note = (text: string) => Console.error(printable(text))
