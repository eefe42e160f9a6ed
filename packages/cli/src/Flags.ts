import { Config, Option } from "effect"
import { Flag } from "effect/cli"

/** Flags that several commands have. */

/** A text that may be left out. */
export const optionalText = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.optional, Flag.withDescription(description))

/** A text that the environment may have instead. An empty variable counts as not set. */
export const textOr = (name: string, variable: string, description: string) => {
  const text = Flag.String(name).pipe(
    Flag.filter(
      (value) => value.trim() !== "",
      () => "Expected a text that is not empty."
    ),
    Flag.withDescription(`${description}. Environment: ${variable}`)
  )
  const fallback = (process.env[variable] ?? "").trim()
  return fallback === "" ? text : Flag.withFallbackConfig(text, Config.succeed(fallback))
}

type Given<Options> = {
  readonly [Name in keyof Options]?: Options[Name] extends Option.Option<infer A> ? A : never
}

/** The values of the flags that were given, as a request has them. */
export const given = <Options extends Readonly<Record<string, Option.Option<unknown>>>>(
  options: Options
): Given<Options> =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, option]) => (Option.isSome(option) ? [[name, option.value]] : []))
  ) as Given<Options>
