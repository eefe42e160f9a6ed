import type { DeactivateMember } from "@delivery/domain/identity/Member"
import { Caller } from "@delivery/domain/identity/Authorization"
import { isAtLeast, type Role } from "@delivery/domain/identity/Role"
import type { PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import { type Access, type ActorRef, isSameActor } from "../access/Access.ts"
import { inviteStatus, inviteSubject } from "./InvitesRepo.ts"
import { type EndedChain, endKey, endPublishers, type KeyChainDependencies } from "./KeyChains.ts"
import type { MemberRuns } from "./MemberRuns.ts"

interface Dependencies extends KeyChainDependencies {
  readonly memberRuns: MemberRuns["Service"]
}

/**
 * Ends the trusted publishers that a member made, kept keys or not: whoever stays may trust them again. They end before the
 * keys, so that they give none meanwhile.
 */
const endPublishersOf = (dependencies: KeyChainDependencies) => {
  const end = endPublishers(dependencies)
  return Effect.fnUntraced(function* (by: Access, member: PersonId, isEnding: IsEnding = () => true) {
    const made = (yield* dependencies.publishers.list(by.workspace.id)).filter(
      (publisher) => publisher.createdById === member && isEnding(publisher)
    )
    yield* end(by.actor, made)
  })
}

/**
 * Ends what a member made and what would go on acting in the workspace for them: account API keys, unless they are to be
 * kept, with what was made with these; pending invites; runs and retries. Called in the transaction that deactivates the
 * member (docs/contract.md, Members).
 */
export const endWhatTheyMade = (dependencies: Dependencies) => {
  const [revoke, keep] = [revokeKeys(dependencies), keepKeys(dependencies)]
  const end = endInvites(dependencies)
  const endTrust = endPublishersOf(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    member: PersonId,
    accountApiKeys: DeactivateMember["accountApiKeys"]
  ) {
    yield* endTrust(by, member)
    const revoked = yield* accountApiKeys === "keep" ? keep(by, member) : revoke(by, member)
    const ended: ReadonlyArray<ActorRef> = [{ kind: "user", id: member }, ...revoked.makers]
    const invites = yield* end(by, ended)
    const runs = yield* dependencies.memberRuns.interrupt(by, ended)
    yield* dependencies.webhooks.makersEnded({ workspaceId: by.workspace.id, member }, by.actor)
    return {
      accountApiKeys: revoked.keys.map(({ id, name }) => ({ id, name })),
      invites: [...revoked.invites, ...invites].map(({ email, id }) => ({ id, email })),
      runs
    }
  })
}

/**
 * Ends what a member made that gives more than the role which they have now: account API keys, unless they are to be kept, with
 * what was made with these, pending invites, and of a viewer what they publish. Their webhooks go on, and say so. Called in the transaction that lowers the
 * role (docs/contract.md, Members).
 */
export const endWhatIsAbove = (dependencies: Dependencies) => {
  const [revoke, keep] = [revokeKeys(dependencies), keepKeys(dependencies)]
  const end = endInvites(dependencies)
  const endTrust = endPublishersOf(dependencies)
  return Effect.fnUntraced(function* (
    by: Access,
    member: { readonly id: PersonId; readonly role: Role },
    accountApiKeys: DeactivateMember["accountApiKeys"]
  ) {
    const isAbove = ({ role }: { readonly role: Role | null }) => role !== null && !isAtLeast(member.role, role)
    yield* endTrust(by, member.id, isAbove)
    yield* accountApiKeys === "keep" ? keep(by, member.id, isAbove) : revoke(by, member.id, isAbove)
    yield* end(by, [{ kind: "user", id: member.id }], isAbove)
    // Viewers publish nothing.
    if (!isAtLeast(member.role, "member"))
      yield* dependencies.memberRuns.interrupt(by, [{ kind: "user", id: member.id }])
    // Nobody below an admin makes one.
    if (!isAtLeast(member.role, "admin")) {
      yield* dependencies.webhooks.makersEnded({ workspaceId: by.workspace.id, member: member.id }, by.actor)
    }
  })
}

const nothing: EndedChain = { keys: [], invites: [] }

/** Of the keys and invites that a member made, those that end. */
type IsEnding = (made: { readonly role: Role | null }) => boolean

const revokeKeys = (dependencies: KeyChainDependencies) => {
  const end = endKey(dependencies)
  return Effect.fnUntraced(function* (by: Access, member: PersonId, isEnding: IsEnding = () => true) {
    const keys = (yield* dependencies.repo.madeBy(by.workspace.id, member)).filter(isEnding)
    yield* dependencies.repo.holdFamilies(
      keys.map(({ id }) => id),
      "alone"
    )
    const ended = yield* Effect.forEach(keys, ({ id }) =>
      Effect.map(end(by.actor, id, { workspaceId: by.workspace.id }), (chain = nothing) => chain)
    )
    return {
      makers: keys.map(({ id }): ActorRef => ({ kind: "apiKey", id })),
      keys: ended.flatMap((chain) => chain.keys),
      invites: ended.flatMap((chain) => chain.invites)
    }
  })
}

/** Cuts the account keys off that the member made: what they still have ends none of them. What was made with these stays with them. */
const keepKeys = ({ repo }: KeyChainDependencies) =>
  Effect.fnUntraced(function* (by: Access, member: PersonId, isEnding: IsEnding = () => true) {
    const keys = (yield* repo.madeBy(by.workspace.id, member)).filter(
      (key) => key.createdById === member && isEnding(key)
    )
    yield* repo.cutOff(
      keys.map(({ id }) => id),
      (yield* Caller).credential.id
    )
    return { ...nothing, makers: [] }
  })

const endInvites = ({ events, invites }: KeyChainDependencies) =>
  Effect.fnUntraced(function* (by: Access, inviters: ReadonlyArray<ActorRef>, isEnding: IsEnding = () => true) {
    const now = timestamp(yield* Clock.currentTimeMillis)
    const ending = (yield* invites.list(by.workspace.id)).filter((invite) => {
      const { inviter } = invite
      if (inviter.kind === "removed" || inviteStatus(invite, now) !== "pending" || !isEnding(invite)) return false
      return inviters.some((ended) => isSameActor(ended, inviter))
    })
    for (const invite of ending) {
      yield* invites.end(invite.id, "revoked", now)
      yield* events.record(by, { kind: "invite_revoked", subject: inviteSubject(invite) })
    }
    return ending
  })
