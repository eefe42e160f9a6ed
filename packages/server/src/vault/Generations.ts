import { InvalidInput } from "@delivery/domain/Errors"
import type { EnvironmentId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { chosenClasses } from "@delivery/domain/vault/Generator"
import type { Generated, GenerateSecret } from "@delivery/domain/vault/Secret"
import { Effect, type Redacted } from "effect"
import { type Access, atLeast } from "../access/Access.ts"
import { type BulkTargets, sortedPairs, writeAll, type WrittenPair, writtenTargets } from "./BulkWrites.ts"
import type { ValueCipher } from "./ValueCipher.ts"
import { generate as generateValue, type GeneratedValue } from "./Generators.ts"
import { presentEnvironment, presentProduct } from "./PresentSecrets.ts"
import { decryptVersion } from "./SecretReads.ts"
import { auditedVersions, secretLabel } from "./VaultAudit.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import { type EnvironmentPart, isReadable, type NewVersion } from "./VaultRepo.ts"
import { performOnce } from "./VaultReplays.ts"
import { checkPairCount } from "./VaultRules.ts"

/** Generated values, one for each environment, shared by its products (docs/contract.md, Vault). */

export const generate = (dependencies: VaultDependencies) => {
  const once = performOnce(dependencies)
  const perform = generateOnce(dependencies)
  const replay = replayGenerations(dependencies)
  return Effect.fn("Vault.generate")(function* (input: GenerateSecret) {
    yield* checkPairCount("products", new Set(input.products).size, new Set(input.environments).size)
    if (input.generator.type === "password" && chosenClasses(input.generator).length === 0) {
      return yield* InvalidInput.at("generator", "A password needs at least one class of characters.")
    }
    const by = yield* atLeast("member")
    return yield* once(
      by,
      "generate",
      input.requestId,
      input,
      (cipher) => perform(by, cipher, input),
      (written: WrittenGenerations, cipher) => replay(by, cipher, input, written)
    )
  })
}

/** What a generation wrote, stored as JSON. */
interface WrittenGenerations {
  readonly pairs: ReadonlyArray<WrittenPair>
  /** The environments whose values were answered. */
  readonly revealed: ReadonlyArray<EnvironmentId>
  readonly publicKeys: Readonly<Record<string, string>>
}

const generateOnce = (dependencies: VaultDependencies) => {
  const write = writeAll(dependencies)
  const readValues = readGenerated(dependencies)
  return Effect.fnUntraced(function* (by: Access, cipher: ValueCipher, input: GenerateSecret) {
    // One for each ref, of which those that are used are known once the refs are resolved.
    const fresh = yield* Effect.forEach([...new Set(input.environments)], () => generateValue(input.generator))
    const generated = new Map<EnvironmentId, GeneratedValue>()
    const valueOf = (environment: EnvironmentPart) => {
      const value = generated.get(environment.id) ?? fresh[generated.size]!
      generated.set(environment.id, value)
      return value.value
    }
    const { written: pairs, ...targets } = yield* write(by, cipher, input, "generation", valueOf)
    const readable = targets.environments.filter((environment) => isReadable(environment.class, undefined))
    const written: WrittenGenerations = {
      pairs,
      revealed: input.reveal === true ? readable.map(({ id }) => id) : [],
      publicKeys: publicKeysOf(generated)
    }
    const answer = present(input, written, targets, yield* readValues(by, cipher, written, targets, input.name))
    return { answer, written }
  })
}

const publicKeysOf = (generated: ReadonlyMap<EnvironmentId, GeneratedValue>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from(generated, ([id, { publicKey }]) => [id, publicKey] as const).filter(
      (entry): entry is [EnvironmentId, string] => entry[1] !== null
    )
  )

const replayGenerations = (dependencies: VaultDependencies) => {
  const targetsOf = writtenTargets(dependencies)
  const readValues = readGenerated(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    cipher: ValueCipher,
    input: GenerateSecret,
    written: WrittenGenerations
  ) {
    const targets = yield* targetsOf(by, written.pairs)
    return present(input, written, targets, yield* readValues(by, cipher, written, targets, input.name))
  })
}

/** The generated values that the answer has, read from storage: of each environment, from one of its pairs. */
const readGenerated = ({ audit, repo }: VaultDependencies) =>
  Effect.fnUntraced(function* (
    by: Access,
    cipher: ValueCipher,
    written: WrittenGenerations,
    targets: BulkTargets,
    name: string
  ) {
    const values = new Map<EnvironmentId, Redacted.Redacted>()
    const places = written.pairs.filter(({ environmentId }) => written.revealed.includes(environmentId))
    if (places.length === 0) return values
    const read: Array<NewVersion> = []
    for (const version of yield* repo.encryptedValues(places)) {
      if (values.has(version.environmentId)) continue
      const value = yield* decryptVersion(cipher, version)
      if (value !== null) values.set(version.environmentId, value)
      read.push(version)
    }
    for (const [secretId, versions] of Map.groupBy(read, (version) => version.secretId)) {
      const { productId } = places.find((place) => place.secretId === secretId)!
      const product = targets.products.find(({ id }) => id === productId)!
      yield* audit.record(by, {
        action: "secret_read",
        subject: { type: "secret", id: secretId, label: secretLabel(name, product) },
        ...auditedVersions(versions, targets.environments)
      })
    }
    return values
  })

const present = (
  { generator, name }: GenerateSecret,
  written: WrittenGenerations,
  targets: BulkTargets,
  values: ReadonlyMap<EnvironmentId, Redacted.Redacted>
): Generated => {
  const pairsOf = Map.groupBy(sortedPairs(written.pairs, targets), ({ environment }) => environment)
  return {
    name,
    generator,
    generations: Array.from(pairsOf, ([environment, pairs]) => ({
      environment: presentEnvironment(environment),
      value: values.get(environment.id) ?? null,
      publicKey: written.publicKeys[environment.id] ?? null,
      assignments: pairs.map(({ pair, product }) => ({ product: presentProduct(product), version: pair.version }))
    })).toSorted((a, b) => byName(a.environment, b.environment))
  }
}
