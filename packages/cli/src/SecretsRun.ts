import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { deploymentToken } from "./DeploymentToken.ts"
import { Failure } from "./Failure.ts"
import { optionalText } from "./Flags.ts"
import { noteNow } from "./Output.ts"
import { connection, environment, settings } from "./Settings.ts"

/** `delivery secrets run`. */

/** Well below the minute within which a change arrives: the command may need some of it to end. */
const watchSeconds = 20

const textOf = (flag: Option.Option<string>, variable: string) =>
  Option.isSome(flag) ? Effect.succeed(flag) : environment(variable)

interface Flags {
  readonly product: Option.Option<string>
  readonly environment: Option.Option<string>
  readonly fallback: Option.Option<string>
}

/** Who reads which values. */
const sourceOf = Effect.fnUntraced(function* (flags: Flags) {
  const { byKey, byToken } = yield* Effect.promise(() => import("./SecretsSource.ts"))
  const given = yield* deploymentToken
  if (given !== undefined) {
    if (Option.isSome(flags.product) || Option.isSome(flags.environment)) {
      return yield* Failure.usage(
        "DELIVERY_TOKEN is of one deployment: leave out --product and --environment, or the token to use an API key."
      )
    }
    const { url } = yield* settings
    return { load: byToken(url.value, given.value), credential: given.value, credentialFile: given.file }
  }
  if (Option.isSome(flags.fallback)) {
    return yield* Failure.usage("--fallback needs the token of a deployment (DELIVERY_TOKEN or DELIVERY_TOKEN_FILE).")
  }
  const at = yield* connection
  const product = yield* textOf(flags.product, "DELIVERY_PRODUCT")
  const named = yield* textOf(flags.environment, "DELIVERY_ENVIRONMENT")
  if (Option.isNone(product) || Option.isNone(named)) {
    return yield* Failure.usage(
      "Say whose secrets: set DELIVERY_TOKEN, or name --product and --environment to read them with your API key."
    )
  }
  const load = byKey({ ...at, product: product.value, environment: named.value })
  return { load, credential: at.apiKey, credentialFile: undefined }
})

export const run = Command.make(
  "run",
  {
    product: optionalText("product", "Product of the secrets, with an API key. Environment: DELIVERY_PRODUCT"),
    environment: optionalText(
      "environment",
      "Environment of the values, with an API key; not of production. Environment: DELIVERY_ENVIRONMENT"
    ),
    watch: Flag.Boolean("watch").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Start the command again within 60 seconds of a change")
    ),
    interval: Flag.Int("watch-interval").pipe(
      Flag.filter(
        (seconds) => seconds >= 1 && seconds <= 3_600,
        () => "Changes are looked for every 1 to 3600 seconds."
      ),
      Flag.optional,
      Flag.withDescription(`Seconds between two looks for changes. Default: ${watchSeconds}`)
    ),
    fallback: optionalText(
      "fallback",
      "File with the values of the last start, encrypted under the token, for when the service cannot be reached"
    ),
    command: Argument.String("command").pipe(
      Argument.variadic({ min: 1 }),
      Argument.withDescription("What to start, after --")
    )
  },
  Effect.fnUntraced(function* ({ command: [command = "", ...args], interval, watch, ...flags }) {
    if (Option.isSome(interval) && !watch) return yield* Failure.usage("--watch-interval needs --watch.")
    const source = yield* sourceOf(flags)
    const { runWithSecrets } = yield* Effect.promise(() => import("./RunWithSecrets.ts"))
    // Signals are the command's: they end it, and its end ends this, with its exit code (`main.ts`).
    yield* Effect.tryPromise({
      try: async () => {
        process.exitCode = await runWithSecrets({
          ...source,
          command,
          args,
          watchMillis: watch ? Option.getOrElse(interval, () => watchSeconds) * 1_000 : undefined,
          fallback: Option.getOrUndefined(flags.fallback),
          tell: (line) => noteNow(`delivery: ${line}`)
        })
      },
      catch: (error) => (error instanceof Failure ? error : new Failure({ message: String(error) }))
    }).pipe(Effect.uninterruptible)
  })
).pipe(Command.withDescription("Start a command with the secrets of its deployment in its environment"))
