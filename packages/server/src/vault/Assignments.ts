import type { Assigned, AssignSecret } from "@delivery/domain/vault/Secret"
import { Effect } from "effect"
import { atLeast } from "../access/Access.ts"
import { type BulkTargets, sortedPairs, writeAll, type WrittenPair, writtenTargets } from "./BulkWrites.ts"
import { presentEnvironment, presentProduct } from "./PresentSecrets.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import { performOnce } from "./VaultReplays.ts"
import { checkPairCount } from "./VaultRules.ts"

/** One value for many products and environments (docs/contract.md, Vault). */

export const assign = (dependencies: VaultDependencies) => {
  const once = performOnce(dependencies)
  const write = writeAll(dependencies)
  const targetsOf = writtenTargets(dependencies)
  return Effect.fn("Vault.assign")(function* (input: AssignSecret) {
    yield* checkPairCount("products", new Set(input.products).size, new Set(input.environments).size)
    const by = yield* atLeast("member")
    return yield* once(
      by,
      "assign",
      input.requestId,
      input,
      (cipher) =>
        Effect.map(
          write(by, cipher, input, "assignment", () => input.value),
          ({ written, ...targets }) => ({ answer: present(input.name, written, targets), written })
        ),
      (written: ReadonlyArray<WrittenPair>) =>
        Effect.map(targetsOf(by, written), (targets) => present(input.name, written, targets))
    )
  })
}

const present = (name: string, written: ReadonlyArray<WrittenPair>, targets: BulkTargets): Assigned => ({
  name,
  assignments: sortedPairs(written, targets).map(({ environment, pair, product }) => ({
    product: presentProduct(product),
    environment: presentEnvironment(environment),
    version: pair.version,
    hasValue: pair.hasValue,
    created: pair.created
  }))
})
