import type { Conflict } from "@delivery/domain/Errors"
import type { Change } from "@delivery/domain/events/Event"
import type { EnvironmentId } from "@delivery/domain/Ids"
import type { Effect } from "effect"
import type { Access } from "../access/Access.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import type { LockedTargets } from "./VaultRepo.ts"

/**
 * Writes in environments that need the approval of a second person (docs/contract.md, Approvals). Every write of the vault asks
 * here, once its transaction has locked what it writes to: for the environments in which a version is made, and, where a secret is
 * renamed or deleted, for those in which it has one.
 */
export const holdApprovals =
  ({ approvals }: VaultDependencies) =>
  (
    by: Access,
    { environments, guarded }: LockedTargets,
    written: Iterable<EnvironmentId>
  ): Effect.Effect<ReadonlyArray<Change>, Conflict> => {
    const ids = new Set(written)
    return approvals.hold(
      by,
      environments.filter(({ id }) => ids.has(id) && guarded.includes(id))
    )
  }
