import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Tags } from "../../src/planning/Tags.ts"
import { Tickets } from "../../src/planning/Tickets.ts"
import {
  addMember,
  adminsAndUp,
  answer,
  as,
  assertChain,
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
import { addTag, addTeam, addTeamMember, teamKey, teamRefOf } from "./Scene.ts"
import { newestEvents } from "../events/NewestEvents.ts"

const color = "#d73a4a"

withServicesOnEachStorage("Tags", (it, storageName) => {
  /** A workspace of an open and a private team, and a member of the private one. */
  const makeTeams = Effect.gen(function* () {
    const scene = yield* makeScene
    const team = yield* addTeam(scene.workspace.id)
    const secret = yield* addTeam(scene.workspace.id, { visibility: "private" })
    const insider = yield* addMember(scene.workspace, "member")
    yield* addTeamMember(secret, insider)
    return { ...scene, team, secret, insider, shared: { workspaceId: scene.workspace.id, id: null } }
  })

  const create = Effect.fnUntraced(function* ({ admin }: Pick<Scene, "admin">, team: string | null, name: string) {
    return yield* (yield* Tags).create({ team, name, color }).pipe(as(admin))
  })

  it.effect("requires the role member, and admin for tags of the workspace", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const scene = yield* makeTeams
      const missing = newId<string>()
      const ofTeam = yield* addTag(scene.team)
      const shared = yield* addTag(scene.shared)
      assert.deepStrictEqual(yield* whoMay(scene, tags.list()), everyRole)
      assert.deepStrictEqual(yield* whoMay(scene, tags.list(teamKey())), everyRole)
      const make = (team: string | null) => tags.create({ team, name: "New", color })
      assert.deepStrictEqual(yield* whoMay(scene, make(teamKey())), membersAndUp)
      assert.deepStrictEqual(yield* whoMay(scene, make(null)), adminsAndUp)
      for (const [id, expected] of [
        [missing, membersAndUp],
        [ofTeam.id, membersAndUp],
        [shared.id, adminsAndUp]
      ] as const) {
        assert.deepStrictEqual(yield* whoMay(scene, tags.update(id, { color })), expected)
      }
      assert.deepStrictEqual(yield* whoMay(scene, tags.delete(missing)), membersAndUp)
      for (const caller of [scene.viewer, scene.viewerKey, scene.member, scene.memberKey]) {
        assert.strictEqual(yield* refusal(tags.delete(shared.id).pipe(as(caller))), "Forbidden role_too_low")
      }
      yield* tags.delete(shared.id).pipe(as(scene.adminKey))
      assert.strictEqual(yield* refusal(tags.delete(ofTeam.id).pipe(as(scene.viewer))), "Forbidden role_too_low")
      yield* tags.delete(ofTeam.id).pipe(as(scene.memberKey))
    })
  )

  it.effect("creates a tag of a team or of the workspace, and shows the event to those who see the team", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const { admin, insider, member, owner, secret, workspace } = yield* makeTeams
      const ofTeam = yield* tags.create({ name: "Bug", color, team: secret.key }).pipe(as(insider))
      const createdAt = yield* now
      assert.deepStrictEqual(ofTeam, { id: ofTeam.id, name: "Bug", color, team: teamRefOf(secret), createdAt })
      const shared = yield* tags.create({ name: "Chore", color: "#00ff00" }).pipe(as(admin))
      assert.deepStrictEqual(shared, { id: shared.id, name: "Chore", color: "#00ff00", team: null, createdAt })
      const recorded = yield* eventsOf(workspace)
      assert.deepStrictEqual(
        recorded.map((event) => [
          event.kind,
          event.subjectType,
          event.subjectId,
          event.subjectLabel,
          event.subjectPath
        ]),
        [
          ["tag_created", "tag", ofTeam.id, "Bug", `teams/${secret.key}/tags`],
          ["tag_created", "tag", shared.id, "Chore", "settings/tags"]
        ]
      )
      assert.deepStrictEqual(recorded[0]?.actor, insider.principal)
      assert.lengthOf(yield* newestEvents.pipe(as(owner)), 2)
      assert.lengthOf(yield* newestEvents.pipe(as(insider)), 2)
      assert.deepStrictEqual(
        (yield* newestEvents.pipe(as(member))).map(({ subject }) => subject.id),
        [shared.id]
      )
    })
  )

  it.effect("lists by name those of the workspace and of the teams that the caller sees, or those of one team", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const { admin, insider, memberKey, secret, shared, team, viewer } = yield* makeTeams
      for (const [of, name] of [
        [shared, "tag 10"],
        [shared, "Ätzend"],
        [team, "tag 9"],
        [team, "Zoo"],
        [secret, "Hush"],
        [secret, "Zoo"]
      ] as const) {
        yield* addTag(of, { name })
      }
      yield* addTag(yield* addTeam((yield* makeScene).workspace.id), { name: "Foreign" })
      const names = (caller: typeof viewer | typeof memberKey, key?: string) =>
        Effect.map(tags.list(key).pipe(as(caller)), (listed) =>
          listed.map(({ name, team }) => `${name} ${team?.key ?? ""}`)
        )
      const ofTeam = ["Ätzend ", `tag 9 ${team.key}`, "tag 10 ", `Zoo ${team.key}`]
      for (const caller of [viewer, memberKey]) {
        assert.deepStrictEqual(yield* names(caller), ofTeam)
        assert.deepStrictEqual(yield* names(caller, team.key), ofTeam)
        for (const key of [secret.key, teamKey(), "", team.id, "\u0000"]) {
          const error = yield* Effect.flip(names(caller, key))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `team: there is no team "${repeated(key)}" that you can see.`]
          )
        }
      }
      for (const caller of [admin, insider]) {
        const listed = yield* names(caller)
        assert.deepStrictEqual(listed.slice(0, 4), ["Ätzend ", `Hush ${secret.key}`, `tag 9 ${team.key}`, "tag 10 "])
        assert.sameMembers(listed.slice(4), [`Zoo ${secret.key}`, `Zoo ${team.key}`])
        assert.deepStrictEqual(yield* names(caller, secret.key), [
          "Ätzend ",
          `Hush ${secret.key}`,
          "tag 10 ",
          `Zoo ${secret.key}`
        ])
      }
    })
  )

  it.effect("answers for an invisible tag as for a missing one", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const { member, memberKey, secret, viewer, workspace } = yield* makeTeams
      const hidden = yield* addTag(secret, { name: "Hush" })
      const foreign = yield* addTag(yield* addTeam((yield* makeScene).workspace.id))
      for (const caller of [member, memberKey]) {
        for (const ref of [hidden.id, foreign.id, newId<string>(), "", "Hush", "\u0000"]) {
          for (const call of [tags.update(ref, { name: "Mine" }), tags.delete(ref)]) {
            const error = yield* Effect.flip(call.pipe(as(caller)))
            assert.deepStrictEqual(
              [error._tag, error.message],
              ["NotFound", `There is no tag "${repeated(ref)}" that you can see.`]
            )
          }
        }
        for (const team of [secret.key, teamKey(), "\u0000"]) {
          const error = yield* Effect.flip(tags.create({ name: "Hush", color, team }).pipe(as(caller)))
          assert.deepStrictEqual(
            [error._tag, error.message],
            ["NotFound", `team: there is no team "${repeated(team)}" that you can see.`]
          )
        }
      }
      assert.strictEqual(yield* refusal(tags.delete(hidden.id).pipe(as(viewer))), "Forbidden role_too_low")
      assert.deepStrictEqual(yield* kindsOf(workspace), [])
    })
  )

  it.effect("changes the fields that are sent and records an event, and does nothing if nothing differs", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const { admin, member, team, workspace } = yield* makeTeams
      const made = yield* create({ admin }, team.key, "Bug")
      const renamed = yield* tags.update(made.id, { name: "Defect" }).pipe(as(member))
      assert.deepStrictEqual(renamed, { ...made, name: "Defect" })
      const recased = yield* tags.update(made.id, { name: "DEFECT", color: "#00ff00" }).pipe(as(member))
      assert.deepStrictEqual(recased, { ...made, name: "DEFECT", color: "#00ff00" })
      assert.deepStrictEqual(yield* tags.list(team.key).pipe(as(member)), [recased])
      for (const input of [{}, { name: "DEFECT", color: "#00ff00" }]) {
        assert.deepStrictEqual(yield* tags.update(made.id, input).pipe(as(member)), recased)
      }
      const events = yield* eventsOf(workspace)
      assert.deepStrictEqual(
        events.slice(1).map(({ changes, kind, subjectLabel }) => [kind, subjectLabel, changes]),
        [
          ["tag_updated", "Defect", [{ field: "name", from: "Bug", to: "Defect" }]],
          [
            "tag_updated",
            "DEFECT",
            [
              { field: "name", from: "Defect", to: "DEFECT" },
              { field: "color", from: color, to: "#00ff00" }
            ]
          ]
        ]
      )
    })
  )

  it.effect("allows a name, in any case, once in a team and the workspace", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const scene = yield* makeTeams
      const { admin, secret, shared, team, workspace } = scene
      const inTeam = yield* addTag(team, { name: "Bug" })
      const inSecret = yield* addTag(secret, { name: "Hush" })
      const everywhere = yield* addTag(shared, { name: "Chore" })
      const make = (key: string | null, name: string) => answer(create(scene, key, name))
      const rename = (id: string, name: string) => answer(tags.update(id, { name }).pipe(as(admin)))
      for (const refused of [
        make(team.key, "bug"),
        make(team.key, "CHORE"),
        make(secret.key, "chore"),
        make(secret.key, "HUSH"),
        make(null, "BUG"),
        make(null, "hush"),
        make(null, "chore"),
        rename(inTeam.id, "chore"),
        rename(inSecret.id, "CHORE"),
        rename(everywhere.id, "bug"),
        rename(everywhere.id, "hush")
      ]) {
        assert.strictEqual(yield* refused, "Conflict name_in_use")
      }
      assert.deepStrictEqual(yield* kindsOf(workspace), [])
      assert.lengthOf(yield* tags.list().pipe(as(admin)), 3)
      // Two teams may use the same, and what was given up is free.
      assert.strictEqual(yield* make(secret.key, "Bug"), "ok")
      assert.strictEqual(yield* rename(inTeam.id, "hush"), "ok")
      assert.strictEqual(yield* make(null, "bug"), "Conflict name_in_use")
      yield* tags.delete(everywhere.id).pipe(as(admin))
      assert.strictEqual(yield* make(team.key, "Chore"), "ok")
      assert.strictEqual(yield* make(null, "chore"), "Conflict name_in_use")
    })
  )

  it.effect("gives a name under concurrency to one tag of the workspace, or to one of each team", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const scene = yield* makeTeams
      const { admin, secret, team } = scene
      const teams = [team, secret, yield* addTeam(scene.workspace.id), yield* addTeam(scene.workspace.id)]
      for (let round = 0; round < 8; round++) {
        const spellings = [`Word ${round}`, `word ${round}`, `WORD ${round}`]
        const calls = spellings.flatMap((name) => [
          create(scene, null, name),
          ...teams.map(({ key }) => create(scene, key, name))
        ])
        // The workspace's comes at another place each time.
        const turned = [...calls.slice(round), ...calls.slice(0, round)]
        const answers = yield* Effect.all(turned.map(answer), { concurrency: "unbounded" })
        const listed = (yield* tags.list().pipe(as(admin))).filter(({ name }) => name.toLowerCase() === `word ${round}`)
        assert.lengthOf(
          answers.filter((each) => each === "ok"),
          listed.length
        )
        assert.deepStrictEqual([...new Set(answers)].toSorted(), ["Conflict name_in_use", "ok"])
        const owners = listed.map(({ team }) => team?.key ?? null)
        assert.lengthOf(new Set(owners), owners.length)
        if (owners.includes(null)) assert.lengthOf(owners, 1)
        else
          assert.sameMembers(
            owners,
            teams.map(({ key }) => key)
          )
      }
    })
  )

  it.effect("gives a name to one of many concurrent renames", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const { admin, shared, team } = yield* makeTeams
      for (let round = 0; round < 6; round++) {
        const made = [yield* addTag(shared), yield* addTag(team), yield* addTag(team), yield* addTag(shared)]
        const answers = yield* Effect.all(
          made.map(({ id }) => answer(tags.update(id, { name: `Word ${round}` }).pipe(as(admin)))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(answers.toSorted(), [...Array<string>(3).fill("Conflict name_in_use"), "ok"])
      }
    })
  )

  it.effect("loses no concurrent change", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const scene = yield* makeTeams
      const made = yield* create(scene, scene.team.key, "Begun")
      yield* Effect.all(
        Array.from({ length: 20 }, (_, n) =>
          tags.update(made.id, n % 2 === 0 ? { name: `Name ${n}` } : { color: `#0000${n + 10}` }).pipe(as(scene.admin))
        ),
        { concurrency: "unbounded" }
      )
      const events = (yield* eventsOf(scene.workspace)).filter(({ kind }) => kind === "tag_updated")
      assert.lengthOf(events, 20)
      const [after] = yield* tags.list(scene.team.key).pipe(as(scene.viewer))
      assertChain(events, { ...made }, { ...after })
    })
  )

  it.effect("is removed from tickets when it is deleted, with one event", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const tickets = yield* Tickets
      const scene = yield* makeTeams
      const { member, shared, team, viewer, workspace } = scene
      const [bug, chore] = [yield* addTag(team, { name: "Bug" }), yield* addTag(shared, { name: "Chore" })]
      const ticket = yield* tickets.create({ team: team.key, title: "Mend", tags: [bug.id, chore.id] }).pipe(as(member))
      assert.lengthOf(ticket.tags, 2)
      yield* tags.delete(bug.id).pipe(as(member))
      assert.strictEqual(yield* refusal(tags.delete(bug.id).pipe(as(member))), "NotFound")
      assert.deepStrictEqual(yield* tickets.get(ticket.id).pipe(as(viewer)), {
        ...ticket,
        tags: [{ id: chore.id, name: "Chore", color: chore.color }]
      })
      assert.deepStrictEqual(yield* kindsOf(workspace), ["ticket_created", "tag_deleted"])
      const many = Array.from({ length: 6 }, () => answer(tags.delete(chore.id).pipe(as(scene.admin))))
      const answers = yield* Effect.all(many, { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.toSorted(), [...Array<string>(5).fill("NotFound"), "ok"])
    })
  )

  it.effect("is added to no ticket while it is deleted", () =>
    Effect.gen(function* () {
      const tags = yield* Tags
      const tickets = yield* Tickets
      const { member, team, viewer } = yield* makeTeams
      for (let round = 0; round < 8; round++) {
        const tag = yield* addTag(team)
        const ticket = yield* tickets.create({ team: team.key, title: "Mend" }).pipe(as(member))
        const [deleted, tagged] = yield* Effect.all(
          [
            answer(tags.delete(tag.id).pipe(as(member))),
            answer(tickets.update(ticket.id, { tags: [tag.id] }).pipe(as(member)))
          ],
          { concurrency: "unbounded" }
        )
        assert.strictEqual(deleted, "ok")
        assert.include(["ok", "NotFound"], tagged)
        assert.deepStrictEqual((yield* tickets.get(ticket.id).pipe(as(viewer))).tags, [])
      }
    })
  )

  // The memory storage checks no values.
  if (storageName !== "memory") {
    it.effect("changes nothing if the event cannot be stored", () =>
      Effect.gen(function* () {
        const tags = yield* Tags
        const scene = yield* makeTeams
        const made = yield* create(scene, scene.team.key, "Bug")
        const unknownKind = { ...scene.admin, principal: { ...scene.admin.principal, kind: "robot" as never } }
        for (const call of [
          tags.create({ name: "Second", color, team: scene.team.key }),
          tags.update(made.id, { name: "Renamed" }),
          tags.delete(made.id)
        ]) {
          assert.strictEqual((yield* Effect.exit(call.pipe(as(unknownKind))))._tag, "Failure")
        }
        assert.deepStrictEqual(yield* tags.list().pipe(as(scene.viewer)), [made])
      })
    )
  }
})
