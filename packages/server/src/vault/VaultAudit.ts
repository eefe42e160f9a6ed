import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import type { Access } from "../access/Access.ts"
import { RequestId } from "../http/RequestId.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import type { Audit, AuditEntry } from "./VaultRepo.ts"

/** Audit rows: who reads or writes which versions, in which request. Never a value. */

/** An audit row of a reading; the storage adds the versions that it reads. */
export const makeReadAudit = ({ nextId }: VaultDependencies) =>
  Effect.fnUntraced(function* (by: Access, name: string) {
    return {
      id: yield* nextId<string>(),
      workspaceId: by.workspace.id,
      actor: by.actor,
      name,
      requestId: yield* RequestId,
      at: timestamp(yield* Clock.currentTimeMillis)
    }
  })

export const makeAudit = (dependencies: VaultDependencies) => {
  const makeBase = makeReadAudit(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    action: Audit["action"],
    name: string,
    entries: ReadonlyArray<AuditEntry>,
    newName: string | null = null
  ): Effect.fn.Return<Audit> {
    return { ...(yield* makeBase(by, name)), action, newName, entries }
  })
}
