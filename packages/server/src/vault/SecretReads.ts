import { isNamed } from "@delivery/domain/Named"
import { NotFound } from "@delivery/domain/Errors"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { SecretId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { type RevealedSecret, versionsPageSize } from "@delivery/domain/vault/Secret"
import { Effect } from "effect"
import { type Access, anyRole } from "../access/Access.ts"
import type { ValueCipher } from "./ValueCipher.ts"
import {
  lookupIn,
  presentEnvironment,
  presentProduct,
  presentSecretEnvironment,
  presentSecrets,
  type SecretLookup
} from "./PresentSecrets.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import {
  type AnsweredVersion,
  type EnvironmentPart,
  type FoundSecrets,
  isReadable,
  type NewVersion,
  type SecretRow
} from "./VaultRepo.ts"
import { pairsOf, pathNotFound, requireProduct } from "./VaultRules.ts"

/** Lists and reads of secrets. Values are answered for one secret at a time. */

export const list = ({ repo }: VaultDependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* anyRole
    const found = yield* repo.find(workspace.id, {})
    return {
      environments: found.environments.toSorted(byName).map(presentEnvironment),
      secrets: presentSecrets(found)
    }
  }).pipe(Effect.withSpan("Vault.list"))

export const listOfProduct = ({ repo }: VaultDependencies) =>
  Effect.fn("Vault.listOfProduct")(function* (ref: string) {
    const { workspace } = yield* anyRole
    const found = yield* repo.find(workspace.id, { product: ref })
    const product = yield* requireProduct(found, ref)
    const pair = pairsOf(found.deployments)
    return {
      product: presentProduct(product),
      environments: found.environments.toSorted(byName).map((environment) => ({
        ...presentEnvironment(environment),
        deployed: pair(product.id, environment.id)?.deployed ?? false
      })),
      secrets: presentSecrets(found)
    }
  })

export const get = (dependencies: VaultDependencies) => {
  const read = readSecret(dependencies)
  return Effect.fn("Vault.get")(function* (product: string, name: string, asked?: ReadonlyArray<string>) {
    const by = yield* anyRole
    return yield* read(by, yield* dependencies.dataKeys.cipher(by.workspace.id), { product, name, asked })
  })
}

/** Above every version. */
const maxVersion = 2 ** 31 - 1

export const versions = ({ repo }: VaultDependencies) =>
  Effect.fn("Vault.versions")(function* (
    path: { readonly product: string; readonly name: string; readonly environment: string },
    before = maxVersion
  ) {
    const { workspace } = yield* anyRole
    const page = yield* repo.versions(workspace.id, path, { before, limit: versionsPageSize })
    if (!page.hasProduct) return yield* pathNotFound("product", path.product)
    if (!page.hasSecret) return yield* NotFound.of("secret")
    if (!page.hasEnvironment) return yield* pathNotFound("environment", path.environment)
    return page.versions
  })

/** A secret of a product, and the environments whose values are asked for: without `asked`, all. */
interface AskedSecret {
  readonly product: string
  readonly name: string
  readonly asked: ReadonlyArray<string> | undefined
}

/** The secret with the values that are asked for and that the caller may read. The reading is audited. */
export const readSecret = ({ audit, repo }: VaultDependencies) =>
  Effect.fnUntraced(function* (by: Access, cipher: ValueCipher, { asked, name, product }: AskedSecret) {
    const isReading = mayRead(by) && asked?.length !== 0
    const found = yield* repo.find(
      by.workspace.id,
      { product, name, valuesOf: asked },
      isReading ? yield* audit.origin(by) : undefined
    )
    yield* requireProduct(found, product)
    const unknown = asked?.find((ref) => !found.environments.some((one) => isNamed(one, ref)))
    if (unknown !== undefined && found.secrets.length > 0)
      return yield* NotFound.reference("values", unknown, "environment")
    return yield* reveal(by, cipher, found, { asked })
  })

/** What a request that answered one secret wrote, stored as JSON: the versions that its answer had. */
export interface WrittenSecret {
  readonly secretId: SecretId
  readonly name: string
  readonly updatedAt: Timestamp
  readonly versions: ReadonlyArray<AnsweredVersion>
}

export const writtenSecret = (answer: RevealedSecret): WrittenSecret => ({
  secretId: answer.id,
  name: answer.name,
  updatedAt: answer.updatedAt,
  versions: answer.environments.map(({ environment, valueHidden, version }) => ({
    environmentId: environment.id,
    version,
    shown: !valueHidden
  }))
})

/** The answer that a request had, from what it wrote. Values that may no longer be read are hidden. */
export const replaySecret = ({ audit, repo }: VaultDependencies) =>
  Effect.fnUntraced(function* (by: Access, cipher: ValueCipher, written: WrittenSecret) {
    const { secretId, versions } = written
    const found = yield* repo.find(by.workspace.id, { secretId, versions }, yield* audit.origin(by))
    return yield* reveal(by, cipher, found, { earlier: written })
  })

/** Values are for members and up. */
const mayRead = (by: Access): boolean => isAtLeast(by.workspace.role, "member")

/** What an answer is to show: as an earlier answer had it, or the values of the environments that are asked for. */
interface Shown {
  readonly earlier?: WrittenSecret
  readonly asked?: ReadonlyArray<string> | undefined
}

const isShownIn = ({ asked, earlier }: Shown, environment: EnvironmentPart): boolean =>
  earlier === undefined
    ? asked === undefined || asked.some((ref) => isNamed(environment, ref))
    : (earlier.versions.find(({ environmentId }) => environmentId === environment.id)?.shown ?? true)

/** A single secret as the caller may see it, as it is now or as an earlier answer had it. */
const reveal = Effect.fnUntraced(function* (by: Access, cipher: ValueCipher, found: FoundSecrets, shown: Shown) {
  const { earlier } = shown
  const [product] = found.products
  const [secret] = found.secrets
  if (product === undefined) return yield* NotFound.of("product")
  if (secret === undefined) return yield* NotFound.of("secret")
  const lookup = lookupIn(found)
  const environments = yield* Effect.forEach(found.environments.toSorted(byName), (environment) =>
    revealIn(by, cipher, lookup, secret, environment, isShownIn(shown, environment))
  )
  return {
    id: secret.id,
    name: earlier?.name ?? secret.name,
    product: presentProduct(product),
    environments,
    createdAt: secret.createdAt,
    updatedAt: earlier?.updatedAt ?? secret.updatedAt
  } satisfies RevealedSecret
})

/** The secret in one environment, with its value where the caller may read it. */
const revealIn = Effect.fnUntraced(function* (
  by: Access,
  cipher: ValueCipher,
  lookup: SecretLookup,
  secret: SecretRow,
  environment: EnvironmentPart,
  isShown: boolean
) {
  const version = lookup.version(secret, environment)
  const { deployed } = lookup.pair(secret, environment) ?? {}
  // The value of a deleted secret is not read again, though the request's answer is repeated.
  const isWithheld = version !== undefined && version.hasValue && version.sealed === null
  const valueHidden = !mayRead(by) || !isReadable(environment.class, deployed) || !isShown || isWithheld
  return {
    ...presentSecretEnvironment(lookup, secret, environment),
    value: version === undefined || valueHidden ? null : yield* decryptVersion(cipher, version),
    valueHidden
  }
})

/** The value of a version; null where it cleared it. */
export const decryptVersion = (cipher: ValueCipher, { sealed, ...place }: NewVersion) =>
  sealed === null ? Effect.succeed(null) : cipher.decrypt(place, sealed)
