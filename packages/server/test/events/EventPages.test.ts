import type { Event } from "@delivery/domain/events/Event"
import type { TeamId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { type Access, actorOf } from "../../src/access/Access.ts"
import { EventAudience } from "../../src/events/EventAudience.ts"
import { EventFeed } from "../../src/events/EventFeed.ts"
import { EventPages } from "../../src/events/EventPages.ts"
import { EventsRepo } from "../../src/events/EventsRepo.ts"
import { TeamsRepo } from "../../src/planning/TeamsRepo.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { addMember, as, type CallerOf, makeScene, minute } from "../identity/Scene.ts"
import { addTeam } from "../planning/Scene.ts"
import { eventually } from "../support/Eventually.ts"
import { makeStatements } from "../support/Statements.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { storedEvent } from "./Rows.ts"

const labels = ({ events }: { readonly events: ReadonlyArray<Event> }) => events.map(({ subject }) => subject.label)

const accessOf = ({ membership, principal }: CallerOf): Access => ({
  workspace: membership!,
  principal,
  actor: actorOf(principal)
})

withServicesOnEachStorage("Pages of events", (it, storage) => {
  it.effect("that wait count with the streams of their caller, until they end", () =>
    Effect.gen(function* () {
      const [feed, pages] = [yield* EventFeed, yield* EventPages]
      const { member, viewer, workspace } = yield* makeScene
      const watch = (caller: typeof member) => feed.watch(workspace.id, caller.principal.id)
      const mayWatch = (caller: typeof member) =>
        Effect.match(Effect.scoped(watch(caller)), { onSuccess: () => true, onFailure: () => false })
      for (let open = 0; open < 63; open++) yield* watch(member)
      assert.isTrue(yield* mayWatch(member))
      const waiting = yield* Effect.forkChild(pages.list({ after: "0", wait: 25, kinds: "none" }).pipe(as(member)))
      yield* eventually(mayWatch(member), (may) => !may)
      assert.isTrue(yield* mayWatch(viewer))
      const refused = yield* Effect.flip(pages.list({ after: "0", wait: 25, kinds: "none" }).pipe(as(member)))
      assert.strictEqual(refused._tag, "FollowsTooOften")
      yield* Fiber.interrupt(waiting)
      assert.isTrue(yield* mayWatch(member))
    })
  )

  it.effect("share the look-up of who sees which teams", () =>
    Effect.gen(function* () {
      const [audience, teams] = [yield* EventAudience, yield* TeamsRepo]
      const { admin, member, memberKey, viewer, workspace } = yield* makeScene
      const other = yield* makeScene
      const open = yield* addTeam(workspace.id)
      const secret = yield* addTeam(workspace.id, { visibility: "private" })
      const elsewhere = yield* addTeam(other.workspace.id)
      const membership = { workspaceId: workspace.id, teamId: secret.id, personId: member.principal.id }
      yield* teams.insertMember({ ...membership, addedAt: minute(1) })
      const callers = [member, viewer, memberKey, other.member]
      const accesses = Array.from({ length: 64 }, (_, n) => accessOf(callers[n % callers.length]!))
      const statements = makeStatements()
      const seen = yield* Effect.forEach(accesses, audience.teamsSeenBy, { concurrency: "unbounded" }).pipe(
        Effect.provide(statements.layer)
      )
      const expected: ReadonlyArray<ReadonlyArray<TeamId>> = [
        [open.id, secret.id],
        [open.id],
        [open.id],
        [elsewhere.id]
      ]
      for (const [n, found] of seen.entries()) {
        assert.sameMembers(found === "all" ? ["all"] : [...found], [...expected[n % expected.length]!])
      }
      if (storage !== "memory") assert.isAtMost(statements.of("none").length, 3)
      assert.strictEqual(yield* audience.teamsSeenBy(accessOf(admin)), "all")
    })
  )

  // Elsewhere nobody reads while somebody writes.
  if (storage !== "PostgreSQL") return
  it.effect("go on in both directions from events that cannot be read in order yet", () =>
    Effect.gen(function* () {
      const [pages, repo, { transaction }] = [yield* EventPages, yield* EventsRepo, yield* Storage]
      const { workspace } = yield* makeScene
      const reader = yield* addMember(workspace, "viewer")
      const list = (query: Parameters<typeof pages.list>[0]) => pages.list(query).pipe(as(reader))
      const actor = { kind: "user", id: reader.principal.id } as const
      const insert = (label: string) => repo.insert(storedEvent(workspace.id, actor, { subjectLabel: label }))
      for (const label of ["first", "second"]) yield* insert(label)
      const [isWritten, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const held = yield* Effect.forkChild(
        transaction(
          Effect.andThen(insert("held"), Effect.andThen(Deferred.succeed(isWritten, undefined), Deferred.await(mayEnd)))
        )
      )
      yield* Deferred.await(isWritten)
      for (const label of ["third", "fourth", "fifth"]) yield* insert(label)
      const newest = yield* list({ limit: 2 })
      assert.deepStrictEqual(labels(newest), ["fifth", "fourth"])
      const whole = yield* list({ limit: 4 })
      assert.deepStrictEqual(labels(whole), ["fifth", "fourth", "third", "second"])
      const older = list({ before: newest.before!, limit: 10 })
      assert.deepStrictEqual(labels(yield* older), ["second", "first"])
      assert.deepStrictEqual(labels(yield* list({ after: newest.after })), [])
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(held)
      // What was held, and what no page had room for, comes in one direction alone.
      assert.deepStrictEqual(labels(yield* older), ["second", "first"])
      assert.deepStrictEqual(labels(yield* list({ after: newest.after })), ["held", "third"])
      assert.deepStrictEqual(labels(yield* list({ before: whole.before! })), ["first"])
      assert.deepStrictEqual(labels(yield* list({ after: whole.after })), ["held"])
    })
  )
})
