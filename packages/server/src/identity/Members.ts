import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import { Conflict, Forbidden, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import type { EventKind } from "@delivery/domain/events/EventKinds"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type {
  DeactivatedMember,
  DeactivateMember,
  EndedWithMember,
  Member,
  UpdateMember
} from "@delivery/domain/identity/Member"
import { isAtLeast, mayAssign, type Role } from "@delivery/domain/identity/Role"
import type { PersonId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { Context, Effect, Layer } from "effect"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { changesBetween } from "../events/Events.ts"
import { Storage } from "../storage/Storage.ts"
import { type Access, anyRole, freshProof, mayMakeAdmin, personOf, withRole } from "../access/Access.ts"
import { ApiKeysRepo } from "./ApiKeysRepo.ts"
import { BlocksRepo } from "./BlocksRepo.ts"
import { addressInUse } from "./InviteAcceptance.ts"
import { InvitesRepo } from "./InvitesRepo.ts"
import { MadeSignIns } from "./MadeSignIns.ts"
import { MadeTokens } from "./MadeTokens.ts"
import { MadeWebhooks } from "./MadeWebhooks.ts"
import { endWhatIsAbove, endWhatTheyMade } from "./MemberEnd.ts"
import { Makers, mayGiveAccess } from "./Makers.ts"
import { MemberChanges } from "./MemberChanges.ts"
import { MemberRuns } from "./MemberRuns.ts"
import { memberSubject, MembersRepo } from "./MembersRepo.ts"
import { presentAccess } from "./Standing.ts"
import { TrustedPublishersRepo } from "./TrustedPublishersRepo.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

type Refusal = Unauthorized | NotFound | Forbidden | Conflict
type Change = Effect.Effect<Member, Refusal, Caller>

/** Members of a workspace (docs/contract.md, Members). */
export class Members extends Context.Service<
  Members,
  {
    readonly list: Effect.Effect<ReadonlyArray<Member>, NotFound, Caller>
    readonly update: (member: string, input: UpdateMember) => Change
    readonly deactivate: (member: string, input?: DeactivateMember) => Effect.Effect<DeactivatedMember, Refusal, Caller>
    readonly reactivate: (member: string) => Change
  }
>()("@delivery/server/identity/Members") {
  static readonly layer = Layer.effect(Members, Effect.gen(make))
}

interface Dependencies {
  readonly repo: MembersRepo["Service"]
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly blocks: BlocksRepo["Service"]
  readonly makers: Makers["Service"]
  readonly invites: InvitesRepo["Service"]
  readonly memberRuns: MemberRuns["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly memberChanges: MemberChanges["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* MembersRepo,
    apiKeys: yield* ApiKeysRepo,
    blocks: yield* BlocksRepo,
    makers: yield* Makers,
    invites: yield* InvitesRepo,
    memberRuns: yield* MemberRuns,
    workspaces: yield* WorkspacesRepo,
    memberChanges: yield* MemberChanges,
    storage: yield* Storage,
    events: yield* AuditedEvents
  }
  const change = changeMember(dependencies)
  const chains = {
    ...dependencies,
    repo: dependencies.apiKeys,
    signIns: yield* MadeSignIns,
    publishers: yield* TrustedPublishersRepo,
    tokens: yield* MadeTokens,
    webhooks: yield* MadeWebhooks
  }
  const end = endWhatTheyMade(chains)
  const endAbove = endWhatIsAbove(chains)
  return Members.of({
    list: list(dependencies),
    update: Effect.fn("Members.update")((member: string, { accountApiKeys, role }: UpdateMember) =>
      memberOf(
        change("member_updated", member, { role }, (by, { after, before }) =>
          isAtLeast(after.role, before.role) ? Effect.void : endAbove(by, after, accountApiKeys)
        )
      )
    ),
    deactivate: Effect.fn("Members.deactivate")((member: string, { accountApiKeys }: DeactivateMember = {}) =>
      Effect.map(
        change("member_deactivated", member, { active: false }, (by, { after, agentSignIns }) =>
          Effect.map(end(by, after.id, accountApiKeys), (made): EndedWithMember => ({ ...made, agentSignIns }))
        ),
        ({ ended = nothingEnded, member }) => ({ ...member, ended })
      )
    ),
    reactivate: Effect.fn("Members.reactivate")((member: string) =>
      memberOf(change("member_reactivated", member, { active: true }, () => Effect.void))
    )
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* anyRole
    return (yield* repo.list(workspace.id)).toSorted(byName)
  }).pipe(Effect.withSpan("Members.list"))

/** A change that is about to be committed, and how many sign-ins of agents ended with it. */
interface ChangedMember {
  readonly before: Member
  readonly after: Member
  readonly agentSignIns: number
}

/** A member as they are now, and what their change ended; undefined where nothing changed. */
interface Changed<A> {
  readonly member: Member
  readonly ended?: A
}

const memberOf = <A>(change: Effect.Effect<Changed<A>, Refusal, Caller>): Change =>
  Effect.map(change, ({ member }) => member)

/** Every change of a member holds the workspace, so that two changes cannot both leave it without an owner. */
const changeMember =
  ({ apiKeys, blocks, events, makers, memberChanges, repo, storage, workspaces }: Dependencies) =>
  <A>(
    kind: AuditAction & EventKind,
    id: string,
    to: { readonly role?: Role; readonly active?: boolean },
    andThen: (by: Access, changed: ChangedMember) => Effect.Effect<A, never, Caller>
  ): Effect.Effect<Changed<A>, Refusal, Caller> =>
    Effect.gen(function* () {
      const access = yield* anyRole
      // Whoever leaves asks nobody.
      const needed = kind === "member_deactivated" && personOf(access.principal)?.id === id ? "viewer" : "admin"
      yield* withRole(needed)(access)
      if (!isId(id)) return yield* NotFound.of("member", id)
      const changed = Effect.gen(function* () {
        yield* workspaces.lock(access.workspace.id)
        const by = yield* presentAccess({ apiKeys, blocks, makers, members: repo }, access, needed)
        const before = yield* repo.find(by.workspace.id, id as PersonId)
        if (before === undefined) return yield* NotFound.of("member", id)
        const after = { ...before, ...to }
        const givesMore = hasMore(before, after)
        if (givesMore) yield* Effect.flatMap(makers.hold, mayGiveAccess)
        if (!mayAssign(by.workspace.role, before.role, after.role)) {
          return yield* new Forbidden({
            message: "Only an owner may give or take the role of an owner.",
            reason: "owner_only"
          })
        }
        if (givesMore) yield* mayMakeAdmin(by, after.role)
        if (givesMore || before.role === "owner") yield* freshProof
        const changes = changesBetween(before, after, "role", "active")
        if (changes.length === 0) return { member: before }
        if (isOwner(before) && !isOwner(after) && (yield* repo.countActiveOwners(by.workspace.id)) === 1) {
          return yield* new Conflict({
            message: "This is the last active owner. A workspace needs at least one.",
            reason: "last_owner"
          })
        }
        if (
          !before.active &&
          after.active &&
          (yield* repo.findByEmail(by.workspace.id, before.email))?.active === true
        ) {
          return yield* addressInUse()
        }
        yield* repo.update({ workspaceId: by.workspace.id, personId: before.id, ...after })
        const agentSignIns = yield* memberChanges.changed(by, { ...after, wasActive: before.active })
        yield* events.record(by, { kind, subject: memberSubject(before), changes })
        return { member: after, ended: yield* andThen(by, { before, after, agentSignIns }) }
      })
      return yield* storage.transaction(changed)
    })

const nothingEnded: EndedWithMember = { accountApiKeys: [], invites: [], agentSignIns: 0, runs: 0 }

/** Whether a change gives the member access, or a higher role. */
const hasMore = (before: Member, after: Member): boolean =>
  (after.active && !before.active) || !isAtLeast(before.role, after.role)

const isOwner = ({ active, role }: Member): boolean => active && role === "owner"
