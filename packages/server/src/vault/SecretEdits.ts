import { Conflict, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { EnvironmentId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import type { CreateSecret, UpdateSecret } from "@delivery/domain/vault/Secret"
import { Clock, Effect, type Redacted } from "effect"
import { type Access, atLeast } from "../access/Access.ts"
import type { ValueCipher } from "./ValueCipher.ts"
import { decryptVersion, readSecret, replaySecret, type WrittenSecret, writtenSecret } from "./SecretReads.ts"
import { holdApprovals } from "./GuardedWrites.ts"
import { newSecret, nextVersion, secretEvent, storeWrite } from "./SecretWrites.ts"
import { writeAudit } from "./VaultAudit.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import { performOnce } from "./VaultReplays.ts"
import type { EnvironmentPart, LockedSecret, NewVersion } from "./VaultRepo.ts"
import { checkExpectedVersions, checkPairCount, checkWritable, requireProduct, resolveKeys } from "./VaultRules.ts"

/** Writes of a single secret. */

interface Creation {
  readonly product: string
  readonly input: CreateSecret
  readonly asked: ReadonlyArray<string> | undefined
}

interface Edit {
  readonly product: string
  readonly name: string
  readonly input: UpdateSecret
  readonly asked: ReadonlyArray<string> | undefined
}

/** The part of a request that its fingerprint has: nothing where the answer has all values, as those did that are stored. */
const askedPart = (asked: ReadonlyArray<string> | undefined) => (asked === undefined ? {} : { asked })

export const create = (dependencies: VaultDependencies) => {
  const once = performOnce(dependencies)
  const perform = createSecret(dependencies)
  const replay = replaySecret(dependencies)
  return Effect.fn("Vault.create")(function* (product: string, input: CreateSecret, asked?: ReadonlyArray<string>) {
    yield* checkPairCount("values", 1, Object.keys(input.values ?? {}).length)
    const by = yield* atLeast("member")
    return yield* once(
      by,
      "create",
      input.requestId,
      { product, ...input, ...askedPart(asked) },
      (cipher) => perform(by, cipher, { product, input, asked }),
      (written: WrittenSecret, cipher) => replay(by, cipher, written)
    )
  })
}

const createSecret = (dependencies: VaultDependencies) => {
  const { repo } = dependencies
  const make = newSecret(dependencies)
  const hold = holdApprovals(dependencies)
  const store = storeWrite(dependencies)
  const read = readSecret(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    cipher: ValueCipher,
    { asked, input, product: productRef }: Creation
  ) {
    const values = Object.entries(input.values ?? {})
    const targets = yield* repo.lockTargets(by.workspace.id, {
      products: [productRef],
      environments: values.map(([ref]) => ref)
    })
    const product = yield* requireProduct(targets, productRef)
    const valueOf = yield* resolveKeys(targets.environments, "values", values)
    yield* checkWritable(targets, [product], [...valueOf.keys()])
    yield* repo.lockNames(by.workspace.id, input.name)
    const now = timestamp(yield* Clock.currentTimeMillis)
    const secret = yield* make(by, product.id, input.name, now)
    yield* Effect.catchTag(repo.insert([secret]), "UniqueViolation", () => Effect.fail(Conflict.nameInUse(input.name)))
    const approvals = yield* hold(by, targets, idsOf(valueOf.keys()))
    const versions = nextVersions(cipher, secret, valueOf)
    yield* store(by, {
      source: "edit",
      targets,
      secrets: [secret],
      created: new Set([secret.id]),
      versions,
      approvals
    })
    const answer = yield* read(by, cipher, { product: product.id, name: input.name, asked })
    return { answer, written: writtenSecret(answer) }
  })
}

export const update = (dependencies: VaultDependencies) => {
  const once = performOnce(dependencies)
  const perform = updateSecret(dependencies)
  const replay = replaySecret(dependencies)
  return Effect.fn("Vault.update")(function* (
    product: string,
    name: string,
    input: UpdateSecret,
    asked?: ReadonlyArray<string>
  ) {
    yield* checkPairCount("values", 1, Object.keys(input.values ?? {}).length)
    yield* checkPairCount("restore", 1, Object.keys(input.restore ?? {}).length)
    const by = yield* atLeast("member")
    return yield* once(
      by,
      "update",
      input.requestId,
      { product, name, ...input, ...askedPart(asked) },
      (cipher) => perform(by, cipher, { product, name, input, asked }),
      (written: WrittenSecret, cipher) => replay(by, cipher, written)
    )
  })
}

const updateSecret = (dependencies: VaultDependencies) => {
  const { repo } = dependencies
  const hold = holdApprovals(dependencies)
  const store = storeWrite(dependencies)
  const read = readSecret(dependencies)
  const earlier = earlierValues(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    cipher: ValueCipher,
    { asked, input, name, product: productRef }: Edit
  ) {
    const values = Object.entries(input.values ?? {})
    const restored = Object.entries(input.restore ?? {})
    const expected = Object.entries(input.expectedVersions ?? {})
    const newName = input.newName === name ? undefined : input.newName
    const named = [...values, ...restored, ...expected].map(([ref]) => ref)
    const targets = yield* repo.lockTargets(by.workspace.id, {
      products: [productRef],
      // A new name changes what products read wherever the secret has a value.
      environments: newName === undefined ? named : "all"
    })
    const product = yield* requireProduct(targets, productRef)
    // Both names, since of two secrets that take each other's name, each would wait for the other.
    if (newName !== undefined) yield* repo.lockNames(by.workspace.id, name, newName)
    const [secret] = yield* repo.lock(by.workspace.id, [product.id], name)
    if (secret === undefined) return yield* NotFound.of("secret")
    const valueOf = yield* resolveKeys(targets.environments, "values", values)
    const expectedVersions = yield* resolveKeys(targets.environments, "expectedVersions", expected)
    const versionOf = yield* resolveKeys(targets.environments, "restore", restored)
    const written = [...valueOf.keys(), ...versionOf.keys()]
    yield* checkWritable(targets, [product], written)
    const approvals = yield* hold(by, targets, [
      ...idsOf(written),
      ...(newName === undefined ? [] : secret.versions.keys())
    ])
    if (newName !== undefined) {
      yield* Effect.catchTag(repo.rename(secret.id, newName), "UniqueViolation", () =>
        Effect.fail(Conflict.nameInUse(newName))
      )
    }
    yield* checkExpectedVersions(secret, expectedVersions)
    const versions = nextVersions(cipher, secret, yield* earlier(cipher, secret, valueOf, versionOf))
    if (versions.length > 0 || newName !== undefined) {
      yield* store(by, {
        source: "edit",
        targets,
        secrets: [{ ...secret, name: newName ?? name }],
        created: new Set(),
        versions,
        approvals,
        ...(newName === undefined ? {} : { renamed: { from: name, to: newName } })
      })
    }
    const answer = yield* read(by, cipher, { product: product.id, name: newName ?? name, asked })
    return { answer, written: writtenSecret(answer) }
  })
}

const idsOf = (environments: Iterable<EnvironmentPart>): ReadonlyArray<EnvironmentId> =>
  Array.from(environments, ({ id }) => id)

/** The versions of the values that a body has. */
const nextVersions = (
  cipher: ValueCipher,
  secret: LockedSecret,
  values: ReadonlyMap<EnvironmentPart, Redacted.Redacted | null>
): ReadonlyArray<NewVersion> =>
  Array.from(values, ([{ id }, value]) => nextVersion(cipher, secret, id, value)).filter(
    (version) => version !== undefined
  )

/** The values that a body has, and those of the earlier versions that it names. */
const earlierValues = ({ repo }: VaultDependencies) =>
  Effect.fnUntraced(function* (
    cipher: ValueCipher,
    secret: LockedSecret,
    values: ReadonlyMap<EnvironmentPart, Redacted.Redacted | null>,
    versions: ReadonlyMap<EnvironmentPart, number>
  ) {
    if (versions.size === 0) return values
    const all = new Map(values)
    const places = Array.from(versions, ([{ id }, version]) => ({ secretId: secret.id, environmentId: id, version }))
    const stored = yield* repo.storedVersions(places)
    for (const [environment, version] of versions) {
      if (values.has(environment)) {
        return yield* InvalidInput.at("restore", `The environment ${environment.slug} has a new value, too.`)
      }
      const found = stored.find(({ environmentId }) => environmentId === environment.id)
      if (found === undefined) {
        return yield* InvalidInput.at("restore", `There is no version ${version} in ${environment.slug}.`)
      }
      all.set(environment, yield* decryptVersion(cipher, found))
    }
    return all
  })

export const remove = (dependencies: VaultDependencies) => {
  const { repo, storage } = dependencies
  const makeAudit = writeAudit(dependencies)
  const hold = holdApprovals(dependencies)
  const event = secretEvent(dependencies)
  return Effect.fn("Vault.delete")(function* (productRef: string, name: string) {
    const by = yield* atLeast("member")
    yield* storage.transaction(
      Effect.gen(function* () {
        const targets = yield* repo.lockTargets(by.workspace.id, { products: [productRef], environments: "all" })
        const product = yield* requireProduct(targets, productRef)
        const [secret] = yield* repo.lock(by.workspace.id, [product.id], name)
        if (secret === undefined) return yield* NotFound.of("secret")
        yield* checkWritable(targets, [product], [])
        const approvals = yield* hold(by, targets, secret.versions.keys())
        const events = [yield* event(by, "secret_deleted", product, secret, [])]
        yield* repo.write({
          by,
          at: timestamp(yield* Clock.currentTimeMillis),
          audit: yield* makeAudit(by, events, [], [], approvals),
          source: "edit",
          versions: [],
          updated: [],
          deleted: secret.id,
          events
        })
      })
    )
  })
}
