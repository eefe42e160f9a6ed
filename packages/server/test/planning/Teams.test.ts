import { assert } from "@effect/vitest"
import type { Archived } from "@delivery/domain/Archived"
import { templateStatuses } from "@delivery/domain/planning/TicketStatus"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Members } from "../../src/identity/Members.ts"
import { Teams } from "../../src/planning/Teams.ts"
import { TicketStatuses } from "../../src/planning/TicketStatuses.ts"
import {
  addMember,
  addPerson,
  addWorkspace,
  adminsAndUp,
  answer,
  as,
  assertChain,
  type CallerOf,
  eventsOf,
  everyRole,
  kindsOf,
  makeScene,
  membersAndUp,
  newId,
  now,
  refusal,
  repeated,
  type Scene,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { addTeam, addTeamMember, addTemplate, teamKey } from "./Scene.ts"
import { newestEvents } from "../events/NewestEvents.ts"

const idOf = (caller: CallerOf): string => caller.principal.id

withServicesOnEachStorage("Teams", (it, storageName) => {
  const create = Effect.fnUntraced(function* (
    { admin }: Scene,
    fields: { name?: string; key?: string; visibility?: "open" | "private" } = {}
  ) {
    return yield* (yield* Teams).create({ key: teamKey(), name: "Team", ...fields }).pipe(as(admin))
  })

  /** A private team of one member, and who else is in the workspace. */
  const makePrivate = Effect.gen(function* () {
    const scene = yield* makeScene
    const secret = yield* addTeam(scene.workspace.id, { visibility: "private" })
    const insider = yield* addMember(scene.workspace, "member")
    const viewerInside = yield* addMember(scene.workspace, "viewer")
    for (const caller of [insider, viewerInside]) yield* addTeamMember(secret, caller)
    const { admin, adminKey, member, memberKey, outsider, owner, viewer, viewerKey } = scene
    return {
      ...scene,
      secret,
      insider,
      viewerInside,
      seeing: { owner, admin, adminKey, insider, viewerInside },
      blind: { member, viewer, memberKey, viewerKey },
      outsider
    }
  })

  it.effect("checks the role before it finds the team", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const scene = yield* makeScene
      const make = Effect.suspend(() => teams.create({ key: teamKey(), name: "Team" }))
      const missing = teamKey()
      for (const call of [teams.list(), teams.get(missing), teams.listMembers(missing)]) {
        assert.deepStrictEqual(yield* whoMay<unknown, never>(scene, call), everyRole)
      }
      for (const call of [
        make,
        teams.update(missing, { name: "New" }),
        teams.archive(missing),
        teams.restore(missing)
      ]) {
        assert.deepStrictEqual(yield* whoMay(scene, call), adminsAndUp)
      }
      for (const call of [teams.addMember(missing, { member: newId() }), teams.removeMember(missing, newId())]) {
        assert.deepStrictEqual(yield* whoMay<unknown, never>(scene, call), membersAndUp)
      }
    })
  )

  it.effect("creates a team with its creator as the member, and records an event", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const { admin, viewer, workspace } = yield* makeScene
      const key = teamKey()
      const made = yield* teams.create({ key, name: "Engineering", visibility: "private" }).pipe(as(admin))
      const at = yield* now
      const expected = {
        id: made.id,
        key,
        name: "Engineering",
        visibility: "private",
        memberCount: 1,
        archivedAt: null,
        createdAt: at,
        updatedAt: at
      } as const
      assert.deepStrictEqual(made, expected)
      assert.deepStrictEqual(yield* teams.get(key).pipe(as(admin)), expected)
      const { email, id, name } = admin.principal
      assert.deepStrictEqual(yield* teams.listMembers(key).pipe(as(admin)), [
        { id, name, email, role: "admin", active: true, addedAt: at }
      ])
      const [event, ...more] = yield* eventsOf(workspace)
      assert.strictEqual(event?.kind, "team_created")
      assert.deepStrictEqual(event?.actor, admin.principal)
      assert.deepStrictEqual(
        [event?.subjectType, event?.subjectId, event?.subjectLabel, event?.subjectPath],
        ["team", made.id, "Engineering", `teams/${key}`]
      )
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(yield* newestEvents.pipe(as(viewer)), [])
    })
  )

  it.effect("creates an open team by default, and one without members for an account key", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const { adminKey, viewer } = yield* makeScene
      const made = yield* teams.create({ key: teamKey(), name: "Team" }).pipe(as(adminKey))
      assert.deepStrictEqual([made.visibility, made.memberCount], ["open", 0])
      assert.deepStrictEqual(yield* teams.get(made.key).pipe(as(viewer)), made)
      assert.deepStrictEqual(yield* teams.listMembers(made.key).pipe(as(viewer)), [])
    })
  )

  it.effect("copies the current template to a new team, and no later changes", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const statuses = yield* TicketStatuses
      yield* addTemplate(scene.workspace.id)
      const of = (team?: string) =>
        Effect.map(statuses.list(team).pipe(as(scene.viewer)), (listed) =>
          listed.map(({ category, isDefault, name, position }) => ({ category, isDefault, name, position }))
        )
      const first = yield* create(scene)
      const begun = templateStatuses.map((status) => ({ ...status, position: 0 }))
      assert.deepStrictEqual(yield* of(first.key), begun)
      const [backlog] = yield* statuses.list().pipe(as(scene.viewer))
      const template = (input: Parameters<typeof statuses.create>[0]) => statuses.create(input).pipe(as(scene.admin))
      yield* template({ name: "Icebox", category: "backlog" })
      yield* template({ name: "In review", category: "started", team: null })
      yield* statuses.reorder(backlog!.id, { after: null }).pipe(as(scene.admin))
      assert.deepStrictEqual(yield* of(first.key), begun)
      const second = yield* create(scene)
      const shared = yield* of()
      assert.deepStrictEqual(
        shared.map(({ name }) => name),
        ["Backlog", "Icebox", "Todo", "In progress", "In review", "Done", "Canceled"]
      )
      assert.deepStrictEqual(yield* of(second.key), shared)
      const [inFirst] = yield* statuses.list(first.key).pipe(as(scene.viewer))
      yield* statuses.update(inFirst!.id, { name: "Later" }).pipe(as(scene.admin))
      assert.deepStrictEqual(yield* of(), shared)
      assert.deepStrictEqual(yield* of(second.key), shared)
    })
  )

  it.effect("answers for an invisible team as for a missing one", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const { blind, outsider, secret, seeing, workspace } = yield* makePrivate
      for (const [who, caller] of Object.entries(seeing)) {
        assert.strictEqual((yield* teams.get(secret.key).pipe(as(caller))).id, secret.id, who)
        assert.lengthOf(yield* teams.list("include").pipe(as(caller)), 1, who)
        assert.lengthOf(yield* teams.listMembers(secret.key).pipe(as(caller)), 2, who)
      }
      for (const [who, caller] of Object.entries(blind)) {
        assert.isEmpty(yield* teams.list("include").pipe(as(caller)), who)
        for (const call of [
          teams.get,
          teams.listMembers,
          (key: string) => teams.addMember(key, { member: idOf(caller) }),
          (key: string) => teams.removeMember(key, idOf(caller))
        ]) {
          const absentKey = teamKey()
          const [unseen, absent] = [
            yield* answerOf(secret.key, call(secret.key).pipe(as(caller))),
            yield* answerOf(absentKey, call(absentKey).pipe(as(caller)))
          ]
          assert.deepStrictEqual(unseen, absent, who)
          assert.notStrictEqual(unseen, "ok")
        }
      }
      assert.strictEqual(yield* refusal(teams.get(secret.key).pipe(as(outsider))), "NotFound")
      assert.deepStrictEqual(yield* kindsOf(workspace), [])
    })
  )

  it.effect("finds no teams of other workspaces, and teams only by key", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const { owner } = yield* makeScene
      const foreign = yield* create(yield* makeScene)
      const elsewhere = yield* addWorkspace()
      const own = yield* addTeam(elsewhere.id)
      for (const ref of [foreign.key, foreign.id, own.key.toLowerCase(), "", "NO KEY", "\u0000"]) {
        for (const call of [
          teams.get(ref),
          teams.update(ref, { name: "Mine" }),
          teams.archive(ref),
          teams.restore(ref),
          teams.listMembers(ref),
          teams.addMember(ref, { member: idOf(owner) }),
          teams.removeMember(ref, idOf(owner))
        ]) {
          const error = yield* Effect.flip(call.pipe(as(owner)))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `There is no team "${repeated(ref)}" that you can see.`]
          )
        }
      }
      assert.deepStrictEqual(yield* teams.list("include").pipe(as(owner)), [])
    })
  )

  it.effect("lists teams by name, with the archived filter, and private ones only if visible", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const scene = yield* makeScene
      for (const name of ["Zebra", "squad 10", "Squad 2", "Äpfel", "apfel"]) yield* create(scene, { name })
      for (const name of ["Old 10", "old 9"])
        yield* teams.archive((yield* create(scene, { name })).key).pipe(as(scene.admin))
      yield* create(scene, { name: "Secret", visibility: "private" })
      const names = (caller: CallerOf, archived?: Archived) =>
        Effect.map(teams.list(archived).pipe(as(caller)), (listed) => listed.map((team) => team.name))
      const present = ["apfel", "Äpfel", "Squad 2", "squad 10", "Zebra"]
      assert.deepStrictEqual(yield* names(scene.viewer), present)
      assert.deepStrictEqual(yield* names(scene.viewer, "exclude"), present)
      assert.deepStrictEqual(yield* names(scene.viewer, "only"), ["old 9", "Old 10"])
      const all = ["apfel", "Äpfel", "old 9", "Old 10", "Squad 2", "squad 10", "Zebra"]
      assert.deepStrictEqual(yield* names(scene.viewer, "include"), all)
      assert.deepStrictEqual(yield* names(scene.owner, "include"), all.toSpliced(4, 0, "Secret"))
    })
  )

  it.effect("changes the fields that are sent, and shows the event to those who see the team", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const scene = yield* makeScene
      const made = yield* create(scene)
      const kinds = (caller: CallerOf) =>
        Effect.map(newestEvents.pipe(as(caller)), (listed) => listed.map(({ kind }) => kind))
      for (const [input, change] of [
        [{ name: "Renamed" }, { field: "name", from: "Team", to: "Renamed" }],
        [
          { visibility: "private", name: "Renamed" },
          { field: "visibility", from: "open", to: "private" }
        ],
        [{ visibility: "open" }, { field: "visibility", from: "private", to: "open" }]
      ] as const) {
        const before = yield* teams.get(made.key).pipe(as(scene.admin))
        yield* TestClock.adjust("1 minute")
        const changed = yield* teams.update(made.key, input).pipe(as(scene.adminKey))
        assert.deepStrictEqual(changed, { ...before, ...input, updatedAt: yield* now })
        assert.deepStrictEqual(yield* teams.get(made.key).pipe(as(scene.admin)), changed)
        const isOpen = changed.visibility === "open"
        // All events of a team disappear and return with it.
        assert.strictEqual(yield* answer(teams.get(made.key).pipe(as(scene.viewer))), isOpen ? "ok" : "NotFound")
        assert.deepStrictEqual(yield* kinds(scene.viewer), isOpen ? yield* kinds(scene.owner) : [])
        const event = (yield* eventsOf(scene.workspace)).at(-1)
        assert.strictEqual(event?.kind, "team_updated")
        assert.deepStrictEqual(event?.changes, [change])
        assert.deepStrictEqual(
          [event?.subjectId, event?.subjectLabel, event?.subjectPath],
          [made.id, changed.name, `teams/${made.key}`]
        )
      }
      yield* TestClock.adjust("1 minute")
      const before = yield* teams.get(made.key).pipe(as(scene.admin))
      for (const input of [{}, { name: "Renamed", visibility: "open" as const }]) {
        assert.deepStrictEqual(yield* teams.update(made.key, input).pipe(as(scene.admin)), before)
      }
      assert.lengthOf(yield* kindsOf(scene.workspace), 4)
    })
  )

  it.effect("refuses a key in use, also by an archived team, and changes nothing", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const scene = yield* makeScene
      const [one, archived] = [yield* create(scene), yield* create(scene)]
      yield* teams.archive(archived.key).pipe(as(scene.admin))
      const before = yield* eventsOf(scene.workspace)
      for (const { key } of [one, archived]) {
        assert.strictEqual(yield* refusal(create(scene, { key })), "Conflict key_in_use")
      }
      assert.lengthOf(yield* teams.list("include").pipe(as(scene.viewer)), 2)
      assert.deepStrictEqual(yield* eventsOf(scene.workspace), before)
      yield* create(yield* makeScene, { key: one.key })
    })
  )

  it.effect("gives a key to one of many concurrent requests", () =>
    Effect.gen(function* () {
      const scene = yield* makeScene
      const key = teamKey()
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => answer(create(scene, { key }))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(answers.toSorted(), [...Array.from({ length: 7 }, () => "Conflict key_in_use"), "ok"])
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), ["team_created"])
    })
  )

  it.effect("archives and restores once each, and records an event", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const scene = yield* makeScene
      const made = yield* create(scene)
      assert.deepStrictEqual(yield* teams.restore(made.key).pipe(as(scene.admin)), made)
      yield* TestClock.adjust("1 minute")
      const archivedAt = yield* now
      const archived = yield* teams.archive(made.key).pipe(as(scene.admin))
      assert.deepStrictEqual(archived, { ...made, archivedAt, updatedAt: archivedAt })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* teams.archive(made.key).pipe(as(scene.admin)), archived)
      assert.deepStrictEqual(yield* teams.get(made.key).pipe(as(scene.viewer)), archived)
      const renamed = yield* teams.update(made.key, { name: "Old" }).pipe(as(scene.admin))
      assert.deepStrictEqual(renamed, { ...archived, name: "Old", updatedAt: yield* now })
      yield* TestClock.adjust("1 minute")
      const restored = yield* teams.restore(made.key).pipe(as(scene.admin))
      assert.deepStrictEqual(restored, { ...made, name: "Old", updatedAt: yield* now })
      assert.deepStrictEqual(yield* teams.restore(made.key).pipe(as(scene.admin)), restored)
      assert.deepStrictEqual(yield* kindsOf(scene.workspace), [
        "team_created",
        "team_archived",
        "team_updated",
        "team_restored"
      ])
    })
  )

  it.effect("moves updatedAt on every change, also within one millisecond", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const scene = yield* makeScene
      const { key, updatedAt } = yield* create(scene)
      const moments = [updatedAt]
      for (const change of [teams.update(key, { name: "One" }), teams.archive(key), teams.restore(key)]) {
        moments.push((yield* change.pipe(as(scene.admin))).updatedAt)
      }
      assert.lengthOf(new Set(moments), 4)
      assert.deepStrictEqual(moments.toSorted(), moments)
    })
  )

  it.effect("loses no concurrent change", () =>
    Effect.gen(function* () {
      const teams = yield* Teams
      const scene = yield* makeScene
      const made = yield* create(scene)
      const inputs = Array.from({ length: 20 }, (_, n) => ({ name: `Team ${n}` }))
      yield* Effect.all(
        inputs.map((input) => teams.update(made.key, input).pipe(as(scene.admin))),
        { concurrency: "unbounded" }
      )
      const events = (yield* eventsOf(scene.workspace)).filter((event) => event.kind === "team_updated")
      assert.lengthOf(events, 20)
      assertChain(events, { ...made }, { ...(yield* teams.get(made.key).pipe(as(scene.viewer))) })
    })
  )

  it.describe("members", () => {
    it.effect("can be added by admins, owners and members of the team; everybody can join an open team", () =>
      Effect.gen(function* () {
        const teams = yield* Teams
        const { admin, adminKey, insider, member, memberKey, owner, secret, workspace } = yield* makePrivate
        const open = yield* addTeam(workspace.id)
        yield* addTeamMember(open, insider)
        const add = (key: string, caller: CallerOf, person?: string) =>
          Effect.gen(function* () {
            const id = person ?? idOf(yield* addMember(workspace, "viewer"))
            return yield* answer(teams.addMember(key, { member: id }).pipe(as(caller)))
          })
        for (const caller of [admin, adminKey, owner, insider]) {
          assert.strictEqual(yield* add(secret.key, caller), "ok")
          assert.strictEqual(yield* add(open.key, caller), "ok")
        }
        assert.strictEqual(yield* add(secret.key, member), "NotFound")
        assert.strictEqual(yield* add(secret.key, member, idOf(member)), "NotFound")
        assert.strictEqual(yield* add(open.key, member), "Forbidden not_team_member")
        assert.strictEqual(yield* add(open.key, memberKey), "Forbidden not_team_member")
        assert.strictEqual(yield* add(open.key, member, idOf(member)), "ok")
        assert.strictEqual(yield* add(open.key, member), "ok")
      })
    )

    it.effect("can be removed by admins, owners and members of the team, themselves included", () =>
      Effect.gen(function* () {
        const teams = yield* Teams
        const { admin, adminKey, insider, member, memberKey, secret, workspace } = yield* makePrivate
        const open = yield* addTeam(workspace.id)
        yield* addTeamMember(open, insider)
        const joined = Effect.gen(function* () {
          const person = yield* addMember(workspace, "viewer")
          for (const team of [open, secret]) yield* addTeamMember(team, person)
          return idOf(person)
        })
        const remove = (key: string, caller: CallerOf, id: string) =>
          answer(teams.removeMember(key, id).pipe(as(caller)))
        for (const caller of [admin, adminKey, insider]) {
          const person = yield* joined
          assert.strictEqual(yield* remove(open.key, caller, person), "ok")
          assert.strictEqual(yield* remove(open.key, caller, person), "NotFound")
          assert.strictEqual(yield* remove(secret.key, caller, person), "ok")
        }
        const person = yield* joined
        for (const caller of [member, memberKey]) {
          assert.strictEqual(yield* remove(open.key, caller, person), "Forbidden not_team_member")
          assert.strictEqual(yield* remove(secret.key, caller, person), "NotFound")
        }
        // Nobody leaves a team that they are not in.
        assert.strictEqual(yield* remove(open.key, member, idOf(member)), "NotFound")
        assert.strictEqual(yield* remove(secret.key, insider, idOf(insider)), "ok")
        assert.strictEqual(yield* answer(teams.get(secret.key).pipe(as(insider))), "NotFound")
      })
    )

    it.effect("must be active members of the workspace, each once", () =>
      Effect.gen(function* () {
        const teams = yield* Teams
        const scene = yield* makeScene
        const { key } = yield* create(scene)
        const elsewhere = yield* addMember(yield* addWorkspace(), "member")
        const inactive = yield* addMember(scene.workspace, "member", { active: false })
        const add = (member: string) => teams.addMember(key, { member }).pipe(as(scene.admin))
        for (const id of [
          idOf(elsewhere),
          idOf(inactive),
          (yield* addPerson()).id,
          newId<string>(),
          "Ana",
          idOf(scene.memberKey)
        ]) {
          const error = yield* Effect.flip(add(id))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `member: there is no member "${repeated(id)}" that you can see.`]
          )
        }
        const { email, id, name } = scene.viewer.principal
        const added = yield* add(id)
        const expected = { id, name, email, role: "viewer", active: true, addedAt: yield* now } as const
        assert.deepStrictEqual(added, expected)
        assert.deepInclude(yield* teams.listMembers(key).pipe(as(scene.viewer)), expected as never)
        assert.strictEqual(yield* refusal(add(id)), "Conflict already_member")
        const recorded = (yield* eventsOf(scene.workspace)).slice(1)
        assert.deepStrictEqual(
          recorded.map(({ changes, kind, subjectType }) => ({ changes, kind, subjectType })),
          [
            {
              kind: "team_member_added",
              subjectType: "team",
              changes: [{ field: "members", from: null, to: name }]
            }
          ]
        )
        yield* teams.removeMember(key, id).pipe(as(scene.admin))
        assert.deepStrictEqual((yield* eventsOf(scene.workspace)).at(-1)?.changes, [
          { field: "members", from: name, to: null }
        ])
        for (const missing of [id, "Ana", newId<string>()]) {
          const error = yield* Effect.flip(teams.removeMember(key, missing).pipe(as(scene.admin)))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `There is no member "${repeated(missing)}" that you can see.`]
          )
        }
      })
    )

    it.effect("are listed by name; deactivated ones stay, and do not count", () =>
      Effect.gen(function* () {
        const teams = yield* Teams
        const members = yield* Members
        const scene = yield* makeScene
        const team = yield* addTeam(scene.workspace.id)
        const [zoe, ana] = [
          yield* addMember(scene.workspace, "member", { name: "Zoe" }),
          yield* addMember(scene.workspace, "viewer", { name: "ana" })
        ]
        for (const caller of [zoe, ana]) yield* addTeamMember(team, caller)
        const state = Effect.gen(function* () {
          const listed = yield* teams.listMembers(team.key).pipe(as(scene.viewer))
          const { memberCount } = yield* teams.get(team.key).pipe(as(scene.viewer))
          assert.strictEqual((yield* teams.list().pipe(as(scene.viewer)))[0]?.memberCount, memberCount)
          return [memberCount, ...listed.map(({ active, name }) => `${name} ${active}`)]
        })
        assert.deepStrictEqual(yield* state, [2, "ana true", "Zoe true"])
        yield* members.deactivate(idOf(zoe)).pipe(as(scene.owner))
        assert.deepStrictEqual(yield* state, [1, "ana true", "Zoe false"])
        const again = teams.addMember(team.key, { member: idOf(zoe) }).pipe(as(scene.admin))
        assert.strictEqual(yield* refusal(again), "NotFound")
        yield* members.reactivate(idOf(zoe)).pipe(as(scene.owner))
        assert.deepStrictEqual(yield* state, [2, "ana true", "Zoe true"])
        yield* members.deactivate(idOf(zoe)).pipe(as(scene.owner))
        yield* teams.removeMember(team.key, idOf(zoe)).pipe(as(scene.admin))
        assert.deepStrictEqual(yield* state, [1, "ana true"])
      })
    )

    it.effect("are added once and removed once under concurrent requests", () =>
      Effect.gen(function* () {
        const teams = yield* Teams
        const scene = yield* makeScene
        const { key } = yield* create(scene)
        const member = idOf(scene.viewer)
        const ask = (call: Effect.Effect<unknown, never, never>) =>
          Effect.all(
            Array.from({ length: 8 }, () => call),
            { concurrency: "unbounded" }
          )
        const added = yield* ask(answer(teams.addMember(key, { member }).pipe(as(scene.admin))))
        assert.deepStrictEqual(added.toSorted(), [...Array<string>(7).fill("Conflict already_member"), "ok"])
        const removed = yield* ask(answer(teams.removeMember(key, member).pipe(as(scene.admin))))
        assert.deepStrictEqual(removed.toSorted(), [...Array<string>(7).fill("NotFound"), "ok"])
        assert.deepStrictEqual(yield* kindsOf(scene.workspace), [
          "team_created",
          "team_member_added",
          "team_member_removed"
        ])
      })
    )

    it.effect("cannot be joined by those who no longer see the team, also while it becomes private", () =>
      Effect.gen(function* () {
        const teams = yield* Teams
        const scene = yield* makeScene
        for (let round = 0; round < 5; round++) {
          const { key } = yield* create(scene)
          const persons = yield* Effect.all(Array.from({ length: 6 }, () => addMember(scene.workspace, "member")))
          const joins = persons.map((person) => answer(teams.addMember(key, { member: idOf(person) }).pipe(as(person))))
          const close = answer(teams.update(key, { visibility: "private" }).pipe(as(scene.admin)))
          const [closed, ...joined] = yield* Effect.all([close, ...joins], { concurrency: "unbounded" })
          assert.strictEqual(closed, "ok")
          const events = yield* eventsOf(scene.workspace)
          const ofTeam = events.filter(({ subjectPath }) => subjectPath === `teams/${key}`).map(({ kind }) => kind)
          // Those who joined before the team became private are members; nobody joins after.
          assert.strictEqual(ofTeam.at(-1), "team_updated")
          const inside = joined.filter((answer) => answer === "ok").length
          assert.strictEqual((yield* teams.get(key).pipe(as(scene.admin))).memberCount, 1 + inside)
          assert.isEmpty(joined.filter((answer) => answer !== "ok" && answer !== "NotFound"))
        }
      })
    )
  })

  // The memory storage checks no values.
  if (storageName !== "memory") {
    it.effect("changes nothing if the event cannot be stored", () =>
      Effect.gen(function* () {
        const teams = yield* Teams
        const scene = yield* makeScene
        const made = yield* create(scene)
        const unknownKind = { ...scene.admin, principal: { ...scene.admin.principal, kind: "robot" as never } }
        for (const call of [
          teams.create({ key: teamKey(), name: "Second" }),
          teams.update(made.key, { name: "Renamed" }),
          teams.archive(made.key),
          teams.addMember(made.key, { member: idOf(scene.viewer) }),
          teams.removeMember(made.key, idOf(scene.admin))
        ]) {
          assert.strictEqual((yield* Effect.exit(call.pipe(as(unknownKind))))._tag, "Failure")
        }
        assert.deepStrictEqual(yield* teams.list("include").pipe(as(scene.viewer)), [made])
      })
    )
  }
})

/** The full error, to compare those of two keys. */
const answerOf = <A, E extends { readonly message: string }, R>(key: string, call: Effect.Effect<A, E, R>) =>
  Effect.match(call, {
    onSuccess: () => "ok" as const,
    onFailure: (error) => ({ ...error, message: error.message.replace(key, "KEY") })
  })
