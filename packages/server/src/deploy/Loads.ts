import type { Deployment } from "@delivery/domain/catalog/Deployment"
import type { DeployMe, LoadedSecret, LoadedSecrets, SetVersion } from "@delivery/domain/deploy/Deploy"
import { DeployCaller } from "@delivery/domain/deploy/DeployAuthorization"
import { dockerEnvironmentFile, type EnvironmentFile, environmentFile } from "@delivery/domain/deploy/EnvironmentFile"
import { Conflict, Forbidden, type InvalidInput, NotFound, Unauthorized } from "@delivery/domain/Errors"
import { compare } from "@delivery/domain/Order"
import type { SecretId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { Deployments } from "../catalog/Deployments.ts"
import { presentRefs } from "../catalog/DeploymentsRepo.ts"
import { Storage } from "../storage/Storage.ts"
import { DataKeys, type ValueCipher } from "../vault/DataKeys.ts"
import { secretLabel } from "../vault/VaultAudit.ts"
import { DeploymentTokensRepo } from "./DeploymentTokensRepo.ts"
import { type FoundSecret, type FoundSecrets, type KnownToken, LoadsRepo } from "./LoadsRepo.ts"
import { ReadAudit } from "./ReadAudit.ts"

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
    readonly secrets: (knows: Knows) => Effect.Effect<Loaded<LoadedSecrets>, Unauthorized | Forbidden, DeployCaller>
    readonly file: (
      format: "env" | "docker",
      knows: Knows
    ) => Effect.Effect<Loaded<Redacted.Redacted>, Unauthorized | Forbidden | Conflict, DeployCaller>
    readonly secret: (
      name: string
    ) => Effect.Effect<LoadedSecret, Unauthorized | Forbidden | NotFound, DeployCaller>
    readonly setVersion: (
      input: SetVersion
    ) => Effect.Effect<Deployment, Unauthorized | Forbidden | InvalidInput | Conflict, DeployCaller>
  }
>()("@delivery/server/deploy/Loads") {
  static readonly layer = Layer.effect(Loads, Effect.gen(make))
}

interface Dependencies {
  readonly repo: LoadsRepo["Service"]
  readonly tokens: DeploymentTokensRepo["Service"]
  readonly deployments: Deployments["Service"]
  readonly dataKeys: DataKeys["Service"]
  readonly audit: ReadAudit["Service"]
  readonly storage: Storage["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* LoadsRepo,
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

/** What the token of the request reads now, by name. It may have ended since it was recognized. */
const find = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (name?: string) {
    const { tokenHash } = yield* active
    const found = yield* repo.read(tokenHash, name)
    if (found === undefined || hasExpired(found, timestamp(yield* Clock.currentTimeMillis))) {
      return yield* Effect.fail(Unauthorized.deployment)
    }
    const { environment, product } = presentRefs(found)
    if (product.archived || environment.archived) return yield* isArchived(product.archived)
    return { ...found, product, environment, secrets: found.secrets.toSorted((a, b) => compare(a.name, b.name)) }
  })

const hasExpired = ({ token }: Pick<KnownToken, "token">, now: string): boolean =>
  token.expiresAt !== null && token.expiresAt <= now

type Found = Effect.Success<ReturnType<ReturnType<typeof find>>>

/** What a client has of the secrets: it changes with each of their names and versions, and says nothing of the values. */
const revisionOf = (cipher: ValueCipher, secrets: FoundSecrets["secrets"]): string =>
  cipher.revision(JSON.stringify(secrets.map(({ name, secretId, version }) => [secretId, name, version])))

/** Reads all secrets. What the answer is made of, and whether it can be made, is decided before the read is recorded. */
const readAll = (dependencies: Dependencies) => {
  const { audit, dataKeys } = dependencies
  const findAll = find(dependencies)
  return Effect.fnUntraced(function* <A, E>(
    format: string,
    knows: Knows,
    answerOf: (found: Found, revision: string, cipher: ValueCipher) => Effect.Effect<A, E>
  ): Effect.fn.Return<Loaded<A>, Unauthorized | Forbidden | E, DeployCaller> {
    const by = yield* DeployCaller
    const found = yield* findAll()
    const { deployment, environment, product, secrets } = found
    const cipher = yield* dataKeys.cipher(by.workspaceId)
    const revision = revisionOf(cipher, secrets)
    const etag = `"${cipher.revision(JSON.stringify([format, revision, product, environment]))}"`
    const loaded: Loaded<A> = knows(etag)
      ? { etag, isKnown: true }
      : { etag, isKnown: false, answer: yield* answerOf(found, revision, cipher) }
    yield* audit.record(by, {
      entry: {
        action: "secrets_loaded",
        subject: { type: "deployment", id: deployment.id, label: `${product.name} in ${environment.name}` },
        secrets: secrets.map(({ name, version }) => ({ name, version }))
      },
      answered: revision,
      load: { versions: versionsOf(secrets), extent: "all" }
    })
    return loaded
  })
}

const versionsOf = (secrets: ReadonlyArray<FoundSecret>): Readonly<Record<SecretId, number>> =>
  Object.fromEntries(secrets.map(({ secretId, version }) => [secretId, version]))

const decrypt = (cipher: ValueCipher, { environmentId, sealed, secretId, version }: FoundSecret) =>
  cipher.decrypt({ secretId, environmentId, version }, sealed)

const valuesOf = (cipher: ValueCipher, { secrets }: Found) =>
  Effect.forEach(secrets, (secret) => Effect.map(decrypt(cipher, secret), (value) => [secret.name, value] as const))

const secrets = (dependencies: Dependencies): Loads["Service"]["secrets"] => {
  const read = readAll(dependencies)
  return Effect.fn("Loads.secrets")((knows) =>
    read("json", knows, (found, revision, cipher) =>
      Effect.map(valuesOf(cipher, found), (values): LoadedSecrets => ({
        product: found.product,
        environment: found.environment,
        revision,
        values: Object.fromEntries(values)
      }))
    )
  )
}

const fileOf = { env: environmentFile, docker: dockerEnvironmentFile } as const

const file = (dependencies: Dependencies): Loads["Service"]["file"] => {
  const read = readAll(dependencies)
  return Effect.fn("Loads.file")((format, knows) =>
    read(format, knows, (found, _, cipher) =>
      Effect.flatMap(valuesOf(cipher, found), (values) =>
        written(fileOf[format](new Map(values.map(([name, value]) => [name, Redacted.value(value)]))))
      )
    )
  )
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
  const findOne = find(dependencies)
  return Effect.fn("Loads.secret")(function* (name) {
    const by = yield* DeployCaller
    const { environment, product, secrets } = yield* findOne(name)
    const [found] = secrets
    if (found === undefined) return yield* NotFound.of("secret")
    const cipher = yield* dataKeys.cipher(by.workspaceId)
    const value = yield* decrypt(cipher, found)
    const { secretId, version } = found
    yield* audit.record(by, {
      entry: {
        action: "secret_read",
        subject: { type: "secret", id: secretId, label: secretLabel(name, product) },
        environments: [environment.slug],
        versions: [version]
      },
      answered: String(version),
      load: { versions: versionsOf([found]), extent: "some" }
    })
    return { name, version, value }
  })
}

const setVersion = (dependencies: Dependencies): Loads["Service"]["setVersion"] => {
  const { deployments, storage, tokens } = dependencies
  return Effect.fn("Loads.setVersion")(function* (input) {
    const { deployment, environment, product, token, workspaceId } = yield* active
    const by = { workspace: { id: workspaceId }, actor: { kind: "deploymentToken", id: token.id } } as const
    const changed = Effect.gen(function* () {
      const now = timestamp(yield* Clock.currentTimeMillis)
      if (!(yield* tokens.hold(token.id, deployment.id, now))) return yield* Effect.fail(Unauthorized.deployment)
      return yield* deployments.setVersion(by, product.id, environment.id, input)
    })
    return yield* Effect.catchTag(storage.transaction(changed), "NotFound", () =>
      Effect.fail(Unauthorized.deployment)
    ).pipe(
      Effect.catchIf(
        (error) => error instanceof Conflict && error.reason === "archived",
        () => Effect.fail(isArchived(true))
      )
    )
  })
}
