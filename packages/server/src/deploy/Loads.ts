import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { DeployMe, LoadedSecret, LoadedSecrets, SetVersion } from "@delivery/domain/deploy/Deploy"
import { DeployCaller } from "@delivery/domain/deploy/DeployAuthorization"
import { dockerEnvironmentFile, type EnvironmentFile, environmentFile } from "@delivery/domain/deploy/EnvironmentFile"
import { Conflict, Forbidden, type InvalidInput, NotFound, Unauthorized } from "@delivery/domain/Errors"
import { compare } from "@delivery/domain/Order"
import type { SecretId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, type Exit, Layer, Redacted } from "effect"
import { Deployments } from "../catalog/Deployments.ts"
import { presentRefs } from "../catalog/DeploymentsRepo.ts"
import { Storage } from "../storage/Storage.ts"
import { DataKeys } from "../vault/DataKeys.ts"
import type { ValueCipher } from "../vault/ValueCipher.ts"
import { secretLabel } from "../vault/VaultAudit.ts"
import { FoundByToken } from "./DeployAuthentication.ts"
import { DeploymentTokensRepo } from "./DeploymentTokensRepo.ts"
import type { FoundSecret, FoundSecrets } from "./LoadsRepo.ts"
import { ReadAudit, type TokenRead } from "./ReadAudit.ts"

/** What an answer with secrets is known by: nothing in it says what they are. */
interface Tagged {
  readonly etag: string
}

/** The secrets of a deployment, or that the client has them already. */
export type Loaded<A> = Tagged & ({ readonly isKnown: true } | { readonly isKnown: false; readonly answer: A })

/** Whether a client has what an ETag names. */
type Knows = (etag: string) => boolean

/** What a deployed product asks about itself (docs/contract.md, Deployment tokens). */
export class Loads extends Context.Service<
  Loads,
  {
    readonly me: Effect.Effect<DeployMe, Forbidden, DeployCaller>
    readonly secrets: (knows: Knows) => Effect.Effect<Loaded<LoadedSecrets>, Forbidden, DeployCaller>
    readonly file: (
      format: "env" | "docker",
      knows: Knows
    ) => Effect.Effect<Loaded<Redacted.Redacted>, Forbidden | Conflict, DeployCaller>
    readonly secret: (name: string) => Effect.Effect<LoadedSecret, Forbidden | NotFound, DeployCaller>
    readonly setVersion: (
      input: SetVersion
    ) => Effect.Effect<Deployment, Unauthorized | Forbidden | InvalidInput | Conflict, DeployCaller>
  }
>()("@delivery/server/deploy/Loads") {
  static readonly layer = Layer.effect(Loads, Effect.gen(make))
}

interface Dependencies {
  readonly tokens: DeploymentTokensRepo["Service"]
  readonly deployments: Deployments["Service"]
  readonly dataKeys: DataKeys["Service"]
  readonly audit: ReadAudit["Service"]
  readonly storage: Storage["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    tokens: yield* DeploymentTokensRepo,
    deployments: yield* Deployments,
    dataKeys: yield* DataKeys,
    audit: yield* ReadAudit,
    storage: yield* Storage
  }
  return Loads.of({
    me,
    secrets: secrets(dependencies),
    file: file(dependencies),
    secret: secret(dependencies),
    setVersion: setVersion(dependencies)
  })
}

const active = Effect.tap(DeployCaller, ({ environment, product }) =>
  product.archived || environment.archived ? Effect.fail(isArchived(product.archived)) : Effect.void
)

const isArchived = (isProduct: boolean) =>
  new Forbidden({ message: `The ${isProduct ? "product" : "environment"} is archived.`, reason: "archived" })

const me = Effect.map(
  active,
  ({ deployment: { baseUrl, version }, environment, product, token: { expiresAt, name } }): DeployMe => ({
    product,
    environment,
    deployment: { version, baseUrl },
    token: { name, expiresAt }
  })
).pipe(Effect.withSpan("Loads.me"))

/** What the token of the request was found to read. */
const found = Effect.andThen(
  active,
  Effect.flatMap(FoundByToken, (found) =>
    found === undefined
      ? Effect.die(new Error("The token was recognized without what it reads."))
      : Effect.succeed(found)
  )
)

type Values = ReadonlyMap<string, Redacted.Redacted>

/** What is answered of what was found, and what the audit tells of it. */
interface Answer<A, E> {
  readonly etag: string
  readonly whole: Effect.Effect<A, E>
  readonly told: TokenRead
}

/** How secrets are written. */
interface Format<A, E> {
  readonly name: "json" | "env" | "docker"
  readonly write: (values: Values, found: Omit<LoadedSecrets, "values">) => Effect.Effect<A, E>
}

const answerOf = <A, E>({ name, write }: Format<A, E>, cipher: ValueCipher, found: FoundSecrets): Answer<A, E> => {
  const secrets = found.secrets.toSorted((a, b) => compare(a.name, b.name))
  const { environment, product } = presentRefs(found)
  // What a client has: it changes with each of the names and versions, and says nothing of the values.
  const revision = cipher.revision(
    JSON.stringify(secrets.map(({ name, secretId, version }) => [secretId, name, version]))
  )
  return {
    etag: `"${cipher.revision(JSON.stringify([name, revision, product, environment]))}"`,
    whole: once(
      Effect.flatMap(valuesOf(cipher, secrets), (values) => write(values, { product, environment, revision }))
    ),
    told: {
      entry: {
        action: "secrets_loaded",
        subject: { type: "deployment", id: found.deployment.id, label: `${product.name} in ${environment.name}` },
        secrets: secrets.map(({ name, version }) => ({ name, version }))
      },
      answered: revision,
      load: { versions: versionsOf(secrets), extent: "all" }
    }
  }
}

const versionsOf = (secrets: ReadonlyArray<FoundSecret>): Readonly<Record<SecretId, number>> =>
  Object.fromEntries(secrets.map(({ secretId, version }) => [secretId, version]))

const decrypt = (cipher: ValueCipher, { environmentId, sealed, secretId, version }: FoundSecret) =>
  cipher.decrypt({ secretId, environmentId, version }, sealed)

const valuesOf = (cipher: ValueCipher, secrets: FoundSecrets["secrets"]): Effect.Effect<Values> =>
  Effect.map(
    Effect.forEach(secrets, (secret) => Effect.map(decrypt(cipher, secret), (value) => [secret.name, value] as const)),
    (values) => new Map(values)
  )

/** Keeps what an effect that does not wait came to. */
const once = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  let kept: Exit.Exit<A, E> | undefined
  const first = Effect.uninterruptible(Effect.flatMap(Effect.exit(effect), (exit) => (kept = exit)))
  return Effect.suspend(() => kept ?? first)
}

/** Reads all secrets. What the answer is made of, and whether it can be made, is decided before the read is recorded. */
const readAll = <A, E>(dependencies: Dependencies, format: Format<A, E>) => {
  const { audit, dataKeys } = dependencies
  // Equal requests of a moment find the same object: what is answered of it is worked out once.
  const answers = new WeakMap<FoundSecrets, Answer<A, E>>()
  return Effect.fnUntraced(function* (knows: Knows): Effect.fn.Return<Loaded<A>, Forbidden | E, DeployCaller> {
    const by = yield* DeployCaller
    const read = yield* found
    const cipher = yield* dataKeys.cipher(by.workspaceId)
    const answer = answers.get(read) ?? answerOf(format, cipher, read)
    answers.set(read, answer)
    const { etag, told, whole } = answer
    const loaded: Loaded<A> = knows(etag) ? { etag, isKnown: true } : { etag, isKnown: false, answer: yield* whole }
    yield* audit.record(by, told)
    return loaded
  })
}

const secrets = (dependencies: Dependencies): Loads["Service"]["secrets"] => {
  const read = readAll(dependencies, {
    name: "json",
    write: (values, found) => Effect.succeed<LoadedSecrets>({ ...found, values: Object.fromEntries(values) })
  })
  return Effect.fn("Loads.secrets")(read)
}

const file = (dependencies: Dependencies): Loads["Service"]["file"] => {
  const reading = (name: "env" | "docker", file: (values: ReadonlyMap<string, string>) => EnvironmentFile) =>
    readAll(dependencies, {
      name,
      write: (values) => written(file(new Map(Array.from(values, ([name, value]) => [name, Redacted.value(value)]))))
    })
  const read = { env: reading("env", environmentFile), docker: reading("docker", dockerEnvironmentFile) }
  return Effect.fn("Loads.file")((format, knows) => read[format](knows))
}

const written = ({ refused, text }: EnvironmentFile): Effect.Effect<Redacted.Redacted, Conflict> =>
  refused === undefined
    ? Effect.succeed(Redacted.make(text))
    : Effect.fail(
        new Conflict({
          message: `These secrets cannot be written as environment variables: ${refused.join(", ")}.`,
          reason: "not_environment_names",
          names: refused
        })
      )

const secret = (dependencies: Dependencies): Loads["Service"]["secret"] => {
  const { audit, dataKeys } = dependencies
  return Effect.fn("Loads.secret")(function* (name) {
    const by = yield* DeployCaller
    const { environment, product, secrets } = yield* found
    const secret = secrets.find((it) => it.name === name)
    if (secret === undefined) return yield* NotFound.of("secret")
    const value = yield* decrypt(yield* dataKeys.cipher(by.workspaceId), secret)
    const { secretId, version } = secret
    yield* audit.record(by, {
      entry: {
        action: "secret_read",
        subject: { type: "secret", id: secretId, label: secretLabel(name, product) },
        environments: [environment.slug],
        versions: [version]
      },
      answered: String(version),
      load: { versions: versionsOf([secret]), extent: "some" }
    })
    return { name, version, value }
  })
}

const setVersion = (dependencies: Dependencies): Loads["Service"]["setVersion"] => {
  const { deployments, storage, tokens } = dependencies
  return Effect.fn("Loads.setVersion")(function* (input) {
    const { deployment, environment, product, token, workspaceId } = yield* active
    const by = { workspace: { id: workspaceId }, actor: { kind: "deploymentToken", id: token.id } } as const
    const held = Effect.gen(function* () {
      const now = timestamp(yield* Clock.currentTimeMillis)
      if (!(yield* tokens.hold(token.id, deployment.id, now))) return yield* Effect.fail(Unauthorized.deployment)
    })
    const changed = deployments.setVersion(by, product.id, environment.id, input, (change) =>
      storage.transaction(Effect.andThen(held, change))
    )
    return yield* Effect.catchTag(changed, "NotFound", () => Effect.fail(Unauthorized.deployment)).pipe(
      Effect.catchIf(
        (error) => error instanceof Conflict && error.reason === "archived",
        () => Effect.fail(isArchived(true))
      )
    )
  })
}
