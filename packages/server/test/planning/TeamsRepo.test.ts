import { assert } from "@effect/vitest"
import type { PersonId, TeamId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { TeamsRepo } from "../../src/planning/TeamsRepo.ts"
import type { Viewer } from "../../src/planning/Viewer.ts"
import { addMember, addPerson, addWorkspace, assertHolds, minute, newId, unique } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"
import { addTeam, addTeamMember, seesAll, seesOwn, teamKey, teamRow } from "./Scene.ts"

/** What no path, body or filter can name a team by. */
const impossibleKeys = ["", " ", "eng", "ENG ", "E-G", "1A", "ABCDEFGHIJK", "\u0000", "Ä", "🚀"]

/** An open team and a private one, a person in the private one, and their viewers. */
const makeTeams = Effect.gen(function* () {
  const workspace = yield* addWorkspace()
  const open = yield* addTeam(workspace.id)
  const secret = yield* addTeam(workspace.id, { visibility: "private" })
  const insider = (yield* addMember(workspace, "member")).principal.id as PersonId
  const outsider = (yield* addMember(workspace, "member")).principal.id as PersonId
  yield* addTeamMember(secret, { id: insider })
  return {
    workspace,
    open,
    secret,
    insider,
    outsider,
    seeing: [seesAll(workspace.id), seesOwn(workspace.id, insider)],
    blind: [seesOwn(workspace.id, outsider), seesOwn(workspace.id, null)]
  }
})

onEachStorage("TeamsRepo", (it) => {
  it.effect("finds a team of the workspace by its key as it was stored", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const team = yield* addTeam(workspace.id, {
        name: "Ünïcode 🚀 'quoted'",
        visibility: "private",
        archivedAt: "2026-02-03T04:05:06.789Z",
        updatedAt: minute(2)
      })
      yield* addTeam(workspace.id)
      for (const find of [teams.find, teams.lock]) {
        assert.deepStrictEqual(yield* find(seesAll(workspace.id), team.key), { ...team, memberCount: 0 })
        assert.isUndefined(yield* find(seesAll(other.id), team.key))
        assert.isUndefined(yield* find(seesAll(workspace.id), teamKey()))
        assert.isUndefined(yield* find(seesAll(workspace.id), team.id))
        for (const key of impossibleKeys) assert.isUndefined(yield* find(seesAll(workspace.id), key), key)
      }
    })
  )

  it.effect("shows a private team to its members and to admins, an open team to the whole workspace", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const { blind, open, secret, seeing } = yield* makeTeams
      const elsewhere = yield* addWorkspace()
      const seenBy = Effect.fnUntraced(function* (viewer: Viewer) {
        const keys = [open.key, secret.key]
        const found = yield* Effect.forEach(keys, (key) => teams.find(viewer, key))
        const locked = yield* Effect.forEach(keys, (key) => teams.lock(viewer, key))
        const members = yield* Effect.forEach(keys, (key) => teams.members(viewer, key))
        const listed = yield* teams.list(viewer)
        const referred = yield* teams.findAll(viewer, [...keys, teamKey(), open.key, ...impossibleKeys])
        const ids = [found, locked, listed, referred].map((rows) => rows.flatMap((row) => row?.id ?? []).toSorted())
        assert.deepStrictEqual(ids, [ids[0], ids[0], ids[0], ids[0]])
        assert.deepStrictEqual(
          members.map((list) => list !== undefined),
          found.map((row) => row !== undefined)
        )
        return ids[0]
      })
      for (const viewer of seeing) assert.deepStrictEqual(yield* seenBy(viewer), [open.id, secret.id].toSorted())
      for (const viewer of blind) assert.deepStrictEqual(yield* seenBy(viewer), [open.id])
      for (const viewer of seeing) assert.isEmpty(yield* seenBy({ ...viewer, workspaceId: elsewhere.id }))
    })
  )

  it.effect("applies changes of visibility and membership immediately", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const { insider, open, outsider, secret, workspace } = yield* makeTeams
      const isSeen = (person: PersonId, key: string) =>
        Effect.map(teams.find(seesOwn(workspace.id, person), key), (team) => team !== undefined)
      yield* teams.update({ ...open, visibility: "private" })
      yield* teams.update({ ...secret, visibility: "open" })
      assert.isFalse(yield* isSeen(insider, open.key))
      assert.isTrue(yield* isSeen(outsider, secret.key))
      yield* teams.update({ ...secret, visibility: "private" })
      assert.isFalse(yield* isSeen(outsider, secret.key))
      yield* addTeamMember(secret, { id: outsider })
      assert.isTrue(yield* teams.deleteMember(secret.id, insider))
      assert.isTrue(yield* isSeen(outsider, secret.key))
      assert.isFalse(yield* isSeen(insider, secret.key))
    })
  )

  it.effect("updates name, visibility, archivedAt and updatedAt of one team, and nothing else", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const workspace = yield* addWorkspace()
      const [team, other] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      const changed = {
        ...team,
        name: "Renamed",
        visibility: "private",
        archivedAt: minute(3),
        updatedAt: minute(4)
      } as const
      yield* teams.update({ ...changed, key: teamKey(), createdAt: minute(9) })
      const find = (key: string) => teams.find(seesAll(workspace.id), key)
      assert.deepStrictEqual(yield* find(team.key), { ...changed, memberCount: 0 })
      assert.deepStrictEqual(yield* find(other.key), { ...other, memberCount: 0 })
      yield* teams.update({ ...changed, archivedAt: null })
      assert.isNull((yield* find(team.key))?.archivedAt)
    })
  )

  it.effect("allows a key once in a workspace, archived teams included", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const [workspace, elsewhere] = [yield* addWorkspace(), yield* addWorkspace()]
      const { key } = yield* addTeam(workspace.id, { archivedAt: minute(1) })
      const error = yield* Effect.flip(teams.insert(teamRow(workspace.id, { key })))
      assert.strictEqual(error.constraint, "teams_key_key")
      yield* addTeam(elsewhere.id, { key })
    })
  )

  it.effect("counts the active members of each team", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const members = yield* MembersRepo
      const workspace = yield* addWorkspace()
      const [empty, full] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id, { visibility: "private" })]
      const [ana, bo, kim] = [
        yield* addMember(workspace, "viewer"),
        yield* addMember(workspace, "member"),
        yield* addMember(workspace, "owner", { active: false })
      ]
      for (const member of [ana, bo, kim]) yield* addTeamMember(full, member)
      // The same person elsewhere is another member.
      const elsewhere = yield* addWorkspace()
      const abroad = yield* addTeam(elsewhere.id, { key: full.key })
      const person = { id: kim.principal.id, name: "", email: "", emailVerifiedAt: null, createdAt: minute(0) }
      yield* addTeamMember(abroad, yield* addMember(elsewhere, "member", { person }))

      const viewer = seesAll(workspace.id)
      const counts = Effect.gen(function* () {
        const listed = yield* teams.list(viewer)
        const counted = (key: string) => listed.find((team) => team.key === key)?.memberCount
        for (const find of [teams.find, teams.lock]) {
          assert.strictEqual((yield* find(viewer, full.key))?.memberCount, counted(full.key))
        }
        return [counted(empty.key), counted(full.key)]
      })
      assert.deepStrictEqual(yield* counts, [0, 2])
      assert.strictEqual((yield* teams.find(seesAll(elsewhere.id), abroad.key))?.memberCount, 1)
      const activate = (member: typeof ana, active: boolean) =>
        members.update({ workspaceId: workspace.id, personId: member.principal.id, role: "member", active })
      yield* activate(bo, false)
      assert.deepStrictEqual(yield* counts, [0, 1])
      yield* activate(bo, true)
      yield* activate(kim, true)
      assert.deepStrictEqual(yield* counts, [0, 3])
    })
  )

  it.effect("lists a team's members, inactive ones included, with their role and state in the workspace", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const workspace = yield* addWorkspace()
      const [team, other] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      const viewer = seesAll(workspace.id)
      assert.deepStrictEqual(yield* teams.members(viewer, team.key), [])
      const [ana, bo] = [yield* addMember(workspace, "admin"), yield* addMember(workspace, "viewer", { active: false })]
      yield* addTeamMember(team, ana, { addedAt: "2026-02-03T04:05:06.789Z" })
      yield* addTeamMember(team, bo)
      yield* addTeamMember(other, yield* addMember(workspace, "member"))
      const listed = yield* teams.members(viewer, team.key)
      const { email, id, name } = ana.principal
      assert.deepStrictEqual(
        listed?.toSorted((a, b) => (a.id === id ? -1 : b.id === id ? 1 : 0)),
        [
          { id, name, email, role: "admin", active: true, addedAt: "2026-02-03T04:05:06.789Z" },
          {
            id: bo.principal.id,
            name: bo.principal.name,
            email: bo.principal.email,
            role: "viewer",
            active: false,
            addedAt: minute(0)
          }
        ]
      )
      for (const key of impossibleKeys) assert.isUndefined(yield* teams.members(viewer, key), key)
    })
  )

  it.effect("allows a person once in a team", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const workspace = yield* addWorkspace()
      const [team, other] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      const { id } = (yield* addMember(workspace, "member")).principal
      const stranger = yield* addPerson()
      const member = yield* addTeamMember(team, { id })
      yield* addTeamMember(other, { id })
      assert.strictEqual((yield* Effect.flip(teams.insertMember(member))).constraint, "team_members_key")
      assert.isTrue(yield* teams.isMember(team.id, id))
      assert.isFalse(yield* teams.isMember(team.id, stranger.id))
      assert.isFalse(yield* teams.isMember(newId<TeamId>(), id))
      assert.isFalse(yield* teams.deleteMember(team.id, stranger.id))
      assert.isTrue(yield* teams.deleteMember(team.id, id))
      assert.isFalse(yield* teams.deleteMember(team.id, id))
      assert.isFalse(yield* teams.isMember(team.id, id))
      assert.isTrue(yield* teams.isMember(other.id, id))
      yield* addTeamMember(team, { id })
    })
  )

  it.effect("locks a team until the transaction ends", () =>
    Effect.gen(function* () {
      const teams = yield* TeamsRepo
      const workspace = yield* addWorkspace()
      const { key } = yield* addTeam(workspace.id, { name: unique("held") })
      yield* assertHolds(teams.lock(seesAll(workspace.id), key))
    })
  )
})
