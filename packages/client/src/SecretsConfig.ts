import { ConfigProvider, Effect, type Layer, Redacted, Ref, Schedule } from "effect"
import { isSame, type LoadSecretsOptions, request, sourceOf } from "./LoadSecrets.ts"
import { type SecretsAnswer, SecretsError } from "./SecretsRequest.ts"

/** The secrets of a deployment as a `ConfigProvider` of Effect. */

const load = (source: Effect.Success<ReturnType<typeof checked>>, etag?: string) =>
  Effect.tryPromise({
    try: (signal) => request(source, etag, signal),
    catch: (error) =>
      error instanceof SecretsError ? error : new SecretsError("unavailable", "The secrets could not be loaded.")
  })

/** A missing or wrong option is a defect, as with the client. */
const checked = (options: LoadSecretsOptions) => Effect.promise(() => sourceOf(options))

const providerOf = ({ values }: SecretsAnswer) => ConfigProvider.fromEnv({ env: values, preserveEmptyStrings: true })

/** What is kept of an answer: the whole is one redacted value, so that no log or defect has a part of it. */
interface Kept {
  readonly answer: Redacted.Redacted<SecretsAnswer>
  readonly provider: ConfigProvider.ConfigProvider
}

const keep = (answer: SecretsAnswer): Kept => ({
  answer: Redacted.make(answer, { label: "secrets" }),
  provider: providerOf(answer)
})

/**
 * A provider that has the secrets by their names, as an environment would. With `refreshSeconds`, a later read has the later
 * value. A refresh that fails is logged, once for failures in a row, and leaves the last values.
 */
export const make = Effect.fnUntraced(function* (options: LoadSecretsOptions = {}) {
  const source = yield* checked(options)
  const first = yield* load(source)
  if (first === undefined) {
    return yield* Effect.fail(new SecretsError("unavailable", `${source.baseUrl} answered without the secrets.`))
  }
  const current = yield* Ref.make(keep(first))
  const isFailing = yield* Ref.make(false)
  const refresh = Effect.gen(function* () {
    const before = Redacted.value((yield* Ref.get(current)).answer)
    const answer = yield* load(source, before.etag)
    yield* Ref.set(isFailing, false)
    if (answer === undefined) return
    yield* Ref.set(current, keep(answer))
    if (!isSame(before, answer)) {
      yield* Effect.logInfo(`The secrets of ${answer.product} in ${answer.environment} have changed.`)
    }
  }).pipe(
    Effect.catch((error) =>
      Effect.flatMap(Ref.getAndSet(isFailing, true), (wasFailing) =>
        wasFailing ? Effect.void : Effect.logWarning(`The last secrets stay: ${error.message}`)
      )
    )
  )
  if (source.refreshMillis !== undefined) {
    const wait = Effect.sleep(source.refreshMillis)
    yield* Effect.forkScoped(Effect.repeat(Effect.andThen(wait, refresh), Schedule.forever))
  }
  return ConfigProvider.make((path) => Effect.flatMap(Ref.get(current), ({ provider }) => provider.load(path)))
})

/**
 * Programs read the secrets with `Config`, before what the environment has; `Config.Redacted("DATABASE_URL")` keeps a value out
 * of logs.
 *
 * ```ts
 * program.pipe(Effect.provide(SecretsConfig.layer({ refreshSeconds: 60 })))
 * ```
 *
 * Fails with `SecretsError` if the secrets could not be loaded.
 */
export const layer = (options: LoadSecretsOptions = {}): Layer.Layer<never, SecretsError> =>
  ConfigProvider.layerAdd(make(options), { asPrimary: true })
