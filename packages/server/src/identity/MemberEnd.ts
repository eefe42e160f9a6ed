import type { DeactivateMember } from "@delivery/domain/identity/Member"
import type { PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import { type Access, type ActorRef, isSameActor } from "../access/Access.ts"
import type { AuditedEvents } from "../audit/AuditedEvents.ts"
import { type ApiKeysRepo, keySubject } from "./ApiKeysRepo.ts"
import { inviteStatus, inviteSubject, type InvitesRepo } from "./InvitesRepo.ts"
import type { MemberRuns } from "./MemberRuns.ts"

interface Dependencies {
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly invites: InvitesRepo["Service"]
  readonly memberRuns: MemberRuns["Service"]
  readonly events: AuditedEvents["Service"]
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

const revokeKeys = ({ apiKeys, events }: Dependencies) =>
  Effect.fnUntraced(function* (by: Access, member: PersonId) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const keys = yield* apiKeys.madeBy(by.workspace.id, member)
    for (const { id } of keys) {
      const ended = yield* apiKeys.end(id, { workspaceId: by.workspace.id }, { at: now, keepAccountKeys: false })
      for (const key of ended) yield* events.record(by, { kind: "key_revoked", subject: keySubject(key) })
    }
    return keys.map(({ id }): ActorRef => ({ kind: "apiKey", id }))
  })

const endInvites = ({ events, invites }: Dependencies) =>
  Effect.fnUntraced(function* (by: Access, inviters: ReadonlyArray<ActorRef>) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    for (const invite of yield* invites.list(by.workspace.id)) {
      const { inviter } = invite
      if (inviter.kind === "removed" || inviteStatus(invite, now) !== "pending") continue
      if (!inviters.some((ended) => isSameActor(ended, inviter))) continue
      yield* invites.end(invite.id, "revoked", now)
      yield* events.record(by, { kind: "invite_revoked", subject: inviteSubject(invite) })
    }
  })
