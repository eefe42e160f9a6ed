import { NotFound, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { Role } from "@delivery/domain/identity/Role"
import { Effect } from "effect"
import { type Access, personOf, withRole } from "../access/Access.ts"
import type { ApiKeysRepo } from "./ApiKeysRepo.ts"
import type { BlocksRepo } from "./BlocksRepo.ts"
import type { Makers } from "./Makers.ts"
import type { MembersRepo } from "./MembersRepo.ts"

interface Dependencies {
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly makers: Makers["Service"]
  readonly members: MembersRepo["Service"]
}

/**
 * The access as it is now, for what gives or takes the access of others: who lost theirs while the request waited for the
 * workspace's row, or the key or session that it was made with, may do neither. Called in a transaction that holds that row.
 */
export const presentAccess = Effect.fnUntraced(function* (
  { apiKeys, blocks, makers, members }: Dependencies,
  access: Access,
  needed: Role
) {
  yield* makers.checkSession
  const { principal, workspace } = access
  const person = personOf(principal)
  const holder =
    person === undefined
      ? (yield* apiKeys.ofWorkspace(workspace.id)).find(({ id }) => id === principal.id)
      : yield* members.find(workspace.id, person.id)
  const { credential } = yield* Caller
  if (credential.kind === "apiKey" && person !== undefined) {
    const keys = yield* apiKeys.ofPerson(person.id)
    if (!keys.some(({ id }) => id === credential.id)) return yield* Effect.fail(Unauthorized.generic)
  }
  const isBlocked = (yield* blocks.list(workspace.id)).some(({ credentialId }) => credentialId === credential.id)
  if (isBlocked || holder?.role == null || ("active" in holder && !holder.active))
    return yield* NotFound.of("workspace")
  return yield* withRole(needed)({ ...access, workspace: { ...workspace, role: holder.role } })
})
