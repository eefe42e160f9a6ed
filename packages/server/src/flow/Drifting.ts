import type { ChangedSecret, MissingSecret } from "@delivery/domain/flow/Drift"
import { byName } from "@delivery/domain/Order"
import type { SecretId } from "@delivery/domain/Ids"
import type { DeploymentLoadRow } from "../deploy/LoadsRepo.ts"
import type { SecretState } from "./ReadinessRepo.ts"

/** How the secrets of a deployment differ from what it has, and from another environment (docs/contract.md, Readiness). Pure. */

/** With the id of a secret, by which its page is found; of one that was deleted, null. */
export type Identified<A> = A & { readonly id: SecretId | null }

/** By name. None where the product never loaded secrets. */
export const changedSecrets = (
  load: Pick<DeploymentLoadRow, "versions" | "whole"> | undefined,
  secrets: ReadonlyArray<SecretState>
): ReadonlyArray<Identified<ChangedSecret>> => {
  if (load === undefined) return []
  const loadedOf = ({ id }: SecretState): number | null => load.versions[id] ?? null
  return [...Map.groupBy(secrets.toSorted(byName), ({ name }) => name)].flatMap(([name, sameName]) => {
    const live = sameName.find(({ isDeleted }) => !isDeleted)
    const loaded = live === undefined ? null : loadedOf(live)
    if (live !== undefined && loaded !== null) {
      return live.version === loaded ? [] : [{ id: live.id, name, loaded, version: live.version }]
    }
    // The newest that was deleted: what the product has of that name.
    const deleted = sameName.findLast((secret) => secret.isDeleted && loadedOf(secret) !== null)
    if (deleted !== undefined) {
      return [{ id: live?.id ?? null, name, loaded: loadedOf(deleted), version: live?.version ?? 0 }]
    }
    return live?.hasValue === true && load.whole ? [{ id: live.id, name, loaded: null, version: live.version }] : []
  })
}

/**
 * By name.
 *
 * @param beside The slug of the environment that the secrets were looked up beside.
 */
export const missingSecrets = (
  beside: string,
  secrets: ReadonlyArray<SecretState>
): ReadonlyArray<Identified<MissingSecret>> =>
  secrets
    .filter(({ hasValue, hasValueBeside, isDeleted }) => hasValueBeside && !hasValue && !isDeleted)
    .toSorted(byName)
    .map(({ id, name }) => ({ id, name, beside }))
