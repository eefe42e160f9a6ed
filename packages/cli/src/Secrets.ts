import type { DeliveryClientShape, RevealedSecret } from "@delivery/client"
import { isNamed } from "@delivery/domain/Named"
import { compare } from "@delivery/domain/Order"
import { readDotEnv } from "@delivery/domain/vault/DotEnv"
import { changesProcesses } from "@delivery/domain/vault/ProcessNames"
import { maxValueBytes } from "@delivery/domain/vault/ValueSize"
import { Cause, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { call } from "./Calls.ts"
import { envFile, isShellName } from "./EnvFile.ts"
import { exitCodeOf, Failure } from "./Failure.ts"
import { textOr } from "./Flags.ts"
import { confirmed, secretInput, textFile } from "./Input.ts"
import { note, oneLine, print, table, write } from "./Output.ts"
import { run } from "./SecretsRun.ts"
import { type Connection, connectionFlags, Json } from "./Settings.ts"

/** `delivery secrets`. Values come from standard input, a prompt or a file, never from an argument. */

const product = textOr("product", "DELIVERY_PRODUCT", "Product of the secrets")
const pair = {
  product,
  environment: textOr("environment", "DELIVERY_ENVIRONMENT", "Environment of the values")
}
const name = Argument.String("name").pipe(Argument.withDescription("Name of the secret"))

interface Pair {
  readonly product: string
  readonly environment: string
}

const list = Command.make(
  "list",
  { product },
  Effect.fnUntraced(function* ({ product }) {
    const found = yield* call((client, { workspace }) =>
      client.vault.listOfProduct({ params: { slug: workspace, productSlug: product } })
    )
    const rows = found.secrets.map(({ environments, name }) => [
      name,
      ...found.environments.map(({ id }) => {
        const one = environments.find(({ environment }) => environment.id === id)
        return one === undefined || one.version === 0 ? "" : `${one.version}${one.hasValue ? "" : " (cleared)"}`
      })
    ])
    const header = ["Secret", ...found.environments.map(({ slug }) => slug)]
    yield* print(found, rows.length === 0 ? "No secrets." : table(header, rows))
  })
).pipe(Command.withDescription("List the secrets of a product with their versions, without values"))

const noEnvironment = (named: string) => new Failure({ message: `There is no environment "${oneLine(named)}".` })

/** The secret in the environment of this slug or id. */
const inEnvironment = ({ environments }: RevealedSecret, named: string) =>
  environments.find(({ environment }) => isNamed(environment, named))

/** Whoever writes asks for no value: the answer has none, and nothing counts as read. */
const writing = { values: "none" } as const

/** Bytes as they are; a terminal gets a line end after them. */
const writeBytes = (text: string) => write(process.stdout.isTTY ? `${text}\n` : text)

const get = Command.make(
  "get",
  { name, ...pair },
  Effect.fnUntraced(function* ({ environment, name, product }) {
    const secret = yield* call((client, { workspace }) =>
      client.vault.get({
        params: { slug: workspace, productSlug: product, name },
        query: { values: environment }
      })
    ).pipe(
      Effect.mapError((failure) => (failure.message.startsWith("values: ") ? noEnvironment(environment) : failure))
    )
    const found = inEnvironment(secret, environment)
    if (found === undefined) {
      return yield* noEnvironment(environment)
    }
    if (found.valueHidden) {
      return yield* new Failure({
        message: `The value of ${oneLine(name)} in ${oneLine(environment)} is hidden from you.`
      })
    }
    if (found.value === null) {
      return yield* new Failure({ message: `${oneLine(name)} has no value in ${oneLine(environment)}.` })
    }
    const value = Redacted.value(found.value)
    if (yield* Json) yield* print({ name, version: found.version, value }, "")
    else yield* writeBytes(value)
  })
).pipe(Command.withDescription("Print a value, to the byte. Values of production are never given out"))

/** A pipe that brought nothing would clear a secret by mistake. */
const typedValue = (name: string) =>
  secretInput(`Value of ${oneLine(name)}`).pipe(
    Effect.map((text) => text.replace(/\r?\n$/, "")),
    Effect.filterOrFail(
      (value) => value !== "",
      () => Failure.usage("There is no value on standard input. For an empty one, name an empty file with --file.")
    )
  )

const thousands = (count: number): string => count.toLocaleString("en-US")

/** Names values that no secret may have, before anything is written. */
const checkSizes = Effect.fnUntraced(function* (values: ReadonlyMap<string, string>) {
  for (const [name, value] of values) {
    const bytes = Buffer.byteLength(value)
    if (bytes <= maxValueBytes) continue
    return yield* Failure.usage(
      `${oneLine(name)} is ${thousands(bytes)} bytes; a value may have ${thousands(maxValueBytes)}.`
    )
  }
})

/** Says which names a product can only read as JSON, and which values. */
const noteStrange = Effect.fnUntraced(function* (values: ReadonlyMap<string, string>) {
  const strange = [...values.keys()].filter((name) => !isShellName(name))
  if (strange.length > 0) {
    yield* note(
      `No shell can have these names, and \`secrets export\` prints none of them: ${strange.map(oneLine).join(", ")}.`
    )
  }
  const unstartable = [...values].filter(([, value]) => value.includes("\0"))
  if (unstartable.length > 0) {
    yield* note(
      `No product can be started with these values, which have a NUL: ${unstartable.map(([name]) => oneLine(name)).join(", ")}.`
    )
  }
})

const set = Command.make(
  "set",
  {
    name,
    ...pair,
    file: Flag.String("file").pipe(
      Flag.optional,
      Flag.withDescription("File with the value, taken to the byte. Default: standard input, without its last line end")
    )
  },
  Effect.fnUntraced(function* ({ environment, file, name, product }) {
    if (name.includes("=")) {
      return yield* Failure.usage(
        "A value may not stand in an argument, where others see it: give it on standard input."
      )
    }
    const value = Option.isSome(file) ? yield* textFile(file.value) : yield* typedValue(name)
    yield* checkSizes(new Map([[name, value]]))
    const { assignments } = yield* call((client, { workspace }) =>
      client.vault.assign({
        params: { slug: workspace },
        payload: { products: [product], environments: [environment], name, value: Redacted.make(value) }
      })
    )
    const version = assignments[0]?.version ?? 0
    yield* noteStrange(new Map([[name, value]]))
    yield* print(
      { name, product, environment, version },
      `${oneLine(name)} is at version ${version} in ${oneLine(environment)}.`
    )
  })
).pipe(Command.withDescription("Write a value, read from standard input, a prompt or a file"))

/** Asks, or needs `--yes`: a product that starts next lacks the value. */
const yesFlag = (what: string) =>
  Flag.Boolean("yes").pipe(Flag.withAlias("y"), Flag.withDefault(false), Flag.withDescription(what))

const clear = Command.make(
  "clear",
  { name, ...pair, yes: yesFlag("Clear without asking") },
  Effect.fnUntraced(function* ({ environment, name, product, yes }) {
    const isAgreed = yield* confirmed(`Clear ${oneLine(name)} in ${oneLine(environment)}?`, yes)
    if (!isAgreed) return yield* new Failure({ message: "Nothing was done." })
    const secret = yield* call((client, { workspace }) =>
      client.vault.update({
        params: { slug: workspace, productSlug: product, name },
        query: writing,
        payload: { values: { [environment]: null } }
      })
    )
    const version = secret.environments.find((one) => isNamed(one.environment, environment))?.version ?? 0
    yield* print(
      { name, product, environment, version },
      `${oneLine(name)} has no value in ${oneLine(environment)} since version ${version}. Earlier versions are kept.`
    )
  })
).pipe(Command.withDescription("Clear the value of an environment. The website restores earlier versions"))

/** What an import would do with one secret. */
interface Change {
  readonly name: string
  readonly value: Redacted.Redacted
  /** `write`: the stored value is hidden, so that the two cannot be compared. */
  readonly kind: "create" | "change" | "write" | "same"
  readonly version: number
}

/** The secrets of the names, as far as they exist. Fails where there is no such environment. */
const revealed = Effect.fnUntraced(function* (
  client: DeliveryClientShape,
  { workspace }: Connection,
  { environment, product: productSlug }: Pair,
  isAsked: (name: string) => boolean
) {
  const found = yield* client.vault.listOfProduct({ params: { slug: workspace, productSlug } })
  if (!found.environments.some((one) => isNamed(one, environment))) return yield* noEnvironment(environment)
  return yield* Effect.forEach(
    found.secrets.filter(({ name }) => isAsked(name)),
    ({ name }) => client.vault.get({ params: { slug: workspace, productSlug, name }, query: { values: environment } }),
    { concurrency: 4 }
  )
})

const changeOf = (name: string, text: string, secret: RevealedSecret | undefined, environment: string): Change => {
  const value = Redacted.make(text)
  if (secret === undefined) return { name, value, kind: "create", version: 0 }
  const stored = inEnvironment(secret, environment)
  const version = stored?.version ?? 0
  if (stored?.valueHidden === true) return { name, value, kind: "write", version }
  const isSame = stored !== undefined && stored.value !== null && Redacted.value(stored.value) === text
  return { name, value, kind: isSame ? "same" : "change", version }
}

/** Writes what was shown and agreed to: a version that somebody else wrote meanwhile is not overwritten. */
const apply = (
  client: DeliveryClientShape,
  { workspace }: Connection,
  { environment, product }: Pair,
  change: Change
) => {
  const params = { slug: workspace, productSlug: product }
  const { name, value } = change
  return change.kind === "create"
    ? client.vault.create({ params, query: writing, payload: { name, values: { [environment]: value } } })
    : client.vault.update({
        params: { ...params, name },
        query: writing,
        payload: { values: { [environment]: value }, expectedVersions: { [environment]: change.version } }
      })
}

/** Names what no product could be started with, before any of it is written. */
const checkStartable = Effect.fnUntraced(function* (values: ReadonlyMap<string, string>) {
  const refused = [...values].filter(([name, value]) => changesProcesses(name) || value.includes("\0"))
  if (refused.length > 0) {
    const names = refused.map(([name]) => oneLine(name)).join(", ")
    return yield* Failure.usage(
      `Nothing is written: no product may be started with these names or values: ${names}. Take them out of the file.`
    )
  }
  yield* checkSizes(values)
  yield* noteStrange(values)
})

const importFile = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("File of NAME=value lines, as Node's --env-file reads it")
    ),
    ...pair,
    yes: yesFlag("Write without asking")
  },
  Effect.fnUntraced(function* ({ file, yes, ...pair }) {
    const read = readDotEnv(yield* textFile(file))
    const values = new Map([...read.values].toSorted(([a], [b]) => compare(a, b)))
    if (read.ignored.length > 0)
      yield* note(`Not understood, and left out: line ${read.ignored.join(", ")} of ${file}.`)
    if (values.size === 0) return yield* Failure.usage(`${file} has no line NAME=value.`)
    yield* checkStartable(values)
    const changes = yield* call((client, at) =>
      Effect.map(
        revealed(client, at, pair, (name) => values.has(name)),
        (secrets) =>
          [...values].map(([name, value]) =>
            changeOf(
              name,
              value,
              secrets.find((secret) => secret.name === name),
              pair.environment
            )
          )
      )
    )
    const toWrite = changes.filter(({ kind }) => kind !== "same")
    const shown = changes.map(({ kind, name }) => ({ name, kind }))
    if (toWrite.length === 0) return yield* print({ changes: shown, written: [] }, "Nothing would change.")
    yield* note(
      table(
        ["Secret", "Change"],
        changes.map(({ kind, name }) => [name, kind])
      )
    )
    const isAgreed = yield* confirmed(`Write ${toWrite.length} values in ${oneLine(pair.environment)}?`, yes)
    if (!isAgreed) return yield* new Failure({ message: "Nothing was done." })
    const written: Array<string> = []
    yield* call((client, at) =>
      Effect.forEach(
        toWrite,
        (change) => Effect.tap(apply(client, at, pair, change), () => Effect.sync(() => written.push(change.name))),
        { discard: true }
      )
    ).pipe(
      Effect.mapError(
        (failure) =>
          new Failure({
            exitCode: exitCodeOf(Cause.fail(failure)),
            message: `${written.length} of ${toWrite.length} values are written; ${oneLine(toWrite[written.length]?.name ?? "")} is not: ${failure.message}`
          })
      )
    )
    yield* print({ changes: shown, written }, `${written.length} values are written.`)
  })
).pipe(Command.withDescription("Write the values of a file. Shows first what would change, by name, and asks"))

const exportFile = Command.make(
  "export",
  pair,
  Effect.fnUntraced(function* (pair) {
    const { environment } = pair
    const secrets = yield* call((client, at) => revealed(client, at, pair, () => true))
    const found = secrets.flatMap((secret) => {
      const one = inEnvironment(secret, environment)
      return one === undefined || !one.hasValue ? [] : [{ name: secret.name, value: one.value }]
    })
    const hidden = found.filter(({ value }) => value === null).map(({ name }) => oneLine(name))
    if (hidden.length > 0) {
      return yield* new Failure({
        message: `Nothing is exported: these values are hidden from you: ${hidden.join(", ")}.`
      })
    }
    const values = new Map(found.map(({ name, value }) => [name, Redacted.value(value!)]))
    if (yield* Json) return yield* print(Object.fromEntries(values), "")
    const exported = envFile(values)
    if ("names" in exported) {
      return yield* new Failure({
        message: `Nothing is exported: a file cannot have these names or values: ${exported.names.map(oneLine).join(", ")}. --json has all.`
      })
    }
    yield* writeBytes(exported.text)
  })
).pipe(Command.withDescription("Print the values of an environment as a file that sh, Compose and Node read"))

export const secrets = Command.make("secrets").pipe(
  Command.withDescription("Secrets: run, list, get, set, clear, import, export"),
  Command.withSubcommands([run, list, get, set, clear, importFile, exportFile]),
  Command.withGlobalFlags(connectionFlags)
)
