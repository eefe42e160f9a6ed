import { Config, Option } from "effect"
import { Flag } from "effect/cli"

/** Flags that several commands have. */

/** A text that may be left out. */
export const optionalText = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.optional, Flag.withDescription(description))

/** A text that the environment may have instead. */
export const textOr = (name: string, variable: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withFallbackConfig(Config.String(variable)),
    Flag.withDescription(`${description}. Environment: ${variable}`)
  )

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
