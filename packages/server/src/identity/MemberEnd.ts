import type { DeactivateMember } from "@delivery/domain/identity/Member"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import type { PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import { type Access, type ActorRef, isSameActor } from "../access/Access.ts"
import { inviteStatus, inviteSubject } from "./InvitesRepo.ts"
import { endKey, type KeyChainDependencies } from "./KeyChains.ts"
import type { MemberRuns } from "./MemberRuns.ts"

interface Dependencies extends KeyChainDependencies {
  readonly memberRuns: MemberRuns["Service"]
}

/**
 * Ends what a member made and what would go on acting in the workspace for them: account API keys, unless they are to be
 * kept, with what was made with these; pending invites; runs and retries. Called in the transaction that deactivates the
 * member (docs/contract.md, Members).
 */
export const endWhatTheyMade = (dependencies: Dependencies) => {
  const revoke = revokeKeys(dependencies)
  const end = endInvites(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    member: PersonId,
    accountApiKeys: DeactivateMember["accountApiKeys"]
  ) {
    const ended: Array<ActorRef> = [{ kind: "user", id: member }]
    if (accountApiKeys !== "keep") ended.push(...(yield* revoke(by, member)))
    yield* end(by, ended)
    yield* dependencies.memberRuns.interrupt(by, ended)
  })
}

/**
 * Ends what a member made that gives more than the role which they have now: account API keys, unless they are to be kept, with
 * what was made with these, and pending invites. Called in the transaction that lowers the role (docs/contract.md, Members).
 */
export const endWhatIsAbove = (dependencies: KeyChainDependencies) => {
  const revoke = revokeKeys(dependencies)
  const end = endInvites(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    member: { readonly id: PersonId; readonly role: Role },
    accountApiKeys: DeactivateMember["accountApiKeys"]
  ) {
    const isAbove = ({ role }: { readonly role: Role | null }) => role !== null && !isAtLeast(member.role, role)
    if (accountApiKeys !== "keep") yield* revoke(by, member.id, isAbove)
    yield* end(by, [{ kind: "user", id: member.id }], isAbove)
  })
}

/** Of the keys and invites that a member made, those that end. */
type IsEnding = (made: { readonly role: Role | null }) => boolean

const revokeKeys = (dependencies: KeyChainDependencies) => {
  const end = endKey(dependencies)
  return Effect.fnUntraced(function* (by: Access, member: PersonId, isEnding: IsEnding = () => true) {
    const keys = (yield* dependencies.repo.madeBy(by.workspace.id, member)).filter(isEnding)
    for (const { id } of keys) yield* end(by.actor, id, { workspaceId: by.workspace.id })
    return keys.map(({ id }): ActorRef => ({ kind: "apiKey", id }))
  })
}

const endInvites = ({ events, invites }: KeyChainDependencies) =>
  Effect.fnUntraced(function* (by: Access, inviters: ReadonlyArray<ActorRef>, isEnding: IsEnding = () => true) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    for (const invite of yield* invites.list(by.workspace.id)) {
      const { inviter } = invite
      if (inviter.kind === "removed" || inviteStatus(invite, now) !== "pending" || !isEnding(invite)) continue
      if (!inviters.some((ended) => isSameActor(ended, inviter))) continue
      yield* invites.end(invite.id, "revoked", now)
      yield* events.record(by, { kind: "invite_revoked", subject: inviteSubject(invite) })
    }
  })
