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
import { anyRole, atLeast } from "../access/Access.ts"
import { MemberChanges } from "./MemberChanges.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

type Change = Effect.Effect<Member, NotFound | Forbidden | Conflict, Caller>

/** Members of a workspace (contract, section 3). */
export class Members extends Context.Service<
  Members,
  {
    readonly list: Effect.Effect<ReadonlyArray<Member>, NotFound, Caller>
    readonly update: (member: string, input: UpdateMember) => Change
    readonly deactivate: (member: string) => Change
    readonly reactivate: (member: string) => Effect.Effect<Member, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/identity/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function* () {
      const storage = yield* Storage
      const repo = yield* MembersRepo
      const workspaces = yield* WorkspacesRepo
      const listeners = yield* MemberChanges
      const events = yield* Events

      /** Every change of a member holds the workspace, so that two changes cannot both leave it without an owner. */
      const change = (kind: string, id: string, to: { readonly role?: Role; readonly active?: boolean }): Change =>
        Effect.gen(function* () {
          const by = yield* atLeast("admin")
          if (!isId(id)) return yield* NotFound.of("member")
          return yield* storage.transaction(
            Effect.gen(function* () {
              yield* workspaces.lock(by.workspace.id)
              const before = yield* repo.find(by.workspace.id, id as PersonId)
              if (before === undefined) return yield* NotFound.of("member")
              const after = { ...before, ...to }
              if (!mayAssign(by.workspace.role, before.role, after.role)) {
                return yield* new Forbidden({ message: "Only an owner changes owners.", reason: "owner_only" })
              }
              const changes = changesBetween(before, after, "role", "active")
              if (changes.length === 0) return before
              const endsOwner = before.active && before.role === "owner" && !(after.active && after.role === "owner")
              if (endsOwner && (yield* repo.countActiveOwners(by.workspace.id)) === 1) {
                return yield* new Conflict({ message: "A workspace keeps at least one owner.", reason: "last_owner" })
              }
              yield* repo.update({ workspaceId: by.workspace.id, personId: before.id, ...after })
              yield* listeners.changed(by, after)
              yield* events.record(by, {
                kind,
                subject: { type: "member", id: before.id, label: before.name, path: "settings/members" },
                changes
              })
              return after
            })
          )
        })

      return Members.of({
        list: Effect.gen(function* () {
          const { workspace } = yield* anyRole
          return (yield* repo.list(workspace.id)).toSorted(byName)
        }).pipe(Effect.withSpan("Members.list")),
        update: Effect.fn("Members.update")((member: string, { role }: UpdateMember) =>
          change("member_updated", member, { role })
        ),
        deactivate: Effect.fn("Members.deactivate")((member: string) =>
          change("member_deactivated", member, { active: false })
        ),
        reactivate: Effect.fn("Members.reactivate")((member: string) =>
          // Nothing ends here, so no owner can be the last.
          Effect.catchTag(change("member_reactivated", member, { active: true }), "Conflict", Effect.die)
        )
      })
    })
  )
}
