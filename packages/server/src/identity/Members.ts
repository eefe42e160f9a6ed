import { Conflict, Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { Member, UpdateMember } from "@delivery/domain/identity/Member"
import { mayAssign, type Role } from "@delivery/domain/identity/Role"
import type { PersonId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { Context, Effect, Layer } from "effect"
import { changesBetween, Events } from "../events/Events.ts"
import { Storage } from "../storage/Storage.ts"
import { anyRole, atLeast, freshProof } from "../access/Access.ts"
import { MemberChanges } from "./MemberChanges.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

type Change = Effect.Effect<Member, NotFound | Forbidden | Conflict, Caller>

/** Members of a workspace (docs/contract.md, Members). */
export class Members extends Context.Service<
  Members,
  {
    readonly list: Effect.Effect<ReadonlyArray<Member>, NotFound, Caller>
    readonly update: (member: string, input: UpdateMember) => Change
    readonly deactivate: (member: string) => Change
    readonly reactivate: (member: string) => Effect.Effect<Member, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/identity/Members") {
  static readonly layer = Layer.effect(Members, Effect.gen(make))
}

interface Dependencies {
  readonly repo: MembersRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly memberChanges: MemberChanges["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* MembersRepo,
    workspaces: yield* WorkspacesRepo,
    memberChanges: yield* MemberChanges,
    storage: yield* Storage,
    events: yield* Events
  }
  const change = changeMember(dependencies)
  return Members.of({
    list: list(dependencies),
    update: Effect.fn("Members.update")((member: string, { role }: UpdateMember) =>
      change("member_updated", member, { role })
    ),
    deactivate: Effect.fn("Members.deactivate")((member: string) =>
      change("member_deactivated", member, { active: false })
    ),
    reactivate: Effect.fn("Members.reactivate")((member: string) =>
      // It takes no owner away, so the conflict of the last owner cannot happen.
      Effect.catchTag(change("member_reactivated", member, { active: true }), "Conflict", Effect.die)
    )
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* anyRole
    return (yield* repo.list(workspace.id)).toSorted(byName)
  }).pipe(Effect.withSpan("Members.list"))

/** Every change of a member holds the workspace, so that two changes cannot both leave it without an owner. */
const changeMember =
  ({ events, memberChanges, repo, storage, workspaces }: Dependencies) =>
  (kind: string, id: string, to: { readonly role?: Role; readonly active?: boolean }): Change =>
    Effect.gen(function* () {
      const by = yield* atLeast("admin")
      if (!isId(id)) return yield* NotFound.of("member", id)
      const changed = Effect.gen(function* () {
        yield* workspaces.lock(by.workspace.id)
        const before = yield* repo.find(by.workspace.id, id as PersonId)
        if (before === undefined) return yield* NotFound.of("member", id)
        const after = { ...before, ...to }
        if (!mayAssign(by.workspace.role, before.role, after.role)) {
          return yield* new Forbidden({
            message: "Only an owner may give or take the role of an owner.",
            reason: "owner_only"
          })
        }
        if (before.role === "owner" || after.role === "owner") yield* freshProof
        const changes = changesBetween(before, after, "role", "active")
        if (changes.length === 0) return before
        if (isOwner(before) && !isOwner(after) && (yield* repo.countActiveOwners(by.workspace.id)) === 1) {
          return yield* new Conflict({
            message: "This is the last active owner. A workspace needs at least one.",
            reason: "last_owner"
          })
        }
        yield* repo.update({ workspaceId: by.workspace.id, personId: before.id, ...after })
        yield* memberChanges.changed(by, after)
        const subject = { type: "member", id: before.id, label: before.name, path: "settings/members" }
        yield* events.record(by, { kind, subject, changes })
        return after
      })
      return yield* storage.transaction(changed)
    })

const isOwner = ({ active, role }: Member): boolean => active && role === "owner"
