import { assert } from "@effect/vitest"
import type { PersonId, TagId, WorkspaceId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { TagsRepo, type TagRow } from "../../src/planning/TagsRepo.ts"
import type { TeamRow } from "../../src/planning/TeamsRepo.ts"
import type { Viewer } from "../../src/planning/Viewer.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { addMember, addWorkspace, assertHolds, minute, newId } from "../identity/Scene.ts"
import { onEachStorage } from "../support/Storages.ts"
import { addTag, addTeam, addTeamMember, seesAll, seesOwn, tagRow, teamKey, teamRefOf } from "./Scene.ts"

const ofWorkspace = (workspaceId: WorkspaceId) => ({ workspaceId, id: null })

/** A tag of the workspace, one of an open team, one of a private team, and their viewers. */
const makeTags = Effect.gen(function* () {
  const workspace = yield* addWorkspace()
  const [open, secret] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id, { visibility: "private" })]
  const insider = (yield* addMember(workspace, "member")).principal.id as PersonId
  const outsider = (yield* addMember(workspace, "member")).principal.id as PersonId
  yield* addTeamMember(secret, { id: insider })
  const shown = (tag: TagRow, team: TeamRow | null) => ({ ...tag, team: team && teamRefOf(team) })
  return {
    workspace,
    open,
    secret,
    shared: shown(yield* addTag(ofWorkspace(workspace.id)), null),
    ofOpen: shown(yield* addTag(open), open),
    ofSecret: shown(yield* addTag(secret), secret),
    seeing: [seesAll(workspace.id), seesOwn(workspace.id, insider)],
    blind: [seesOwn(workspace.id, outsider), seesOwn(workspace.id, null)]
  }
})

const byId = <A extends { readonly id: string }>(rows: ReadonlyArray<A>) =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))

onEachStorage("TagsRepo", (it) => {
  it.effect("shows tags of the workspace, and tags of teams that the viewer sees", () =>
    Effect.gen(function* () {
      const tags = yield* TagsRepo
      const { blind, ofOpen, ofSecret, open, secret, seeing, shared } = yield* makeTags
      yield* makeTags
      const seenBy = Effect.fnUntraced(function* (viewer: Viewer) {
        const listed = byId(yield* tags.list(viewer))
        const locked = yield* Effect.forEach([shared, ofOpen, ofSecret], ({ id }) => tags.lock(viewer, id))
        assert.deepStrictEqual(byId(locked.filter((tag) => tag !== undefined)), listed)
        return listed
      })
      for (const viewer of seeing) {
        assert.deepStrictEqual(yield* seenBy(viewer), byId([shared, ofOpen, ofSecret]))
        assert.deepStrictEqual(byId((yield* tags.listOfTeam(viewer, open.key))!), byId([shared, ofOpen]))
        assert.deepStrictEqual(byId((yield* tags.listOfTeam(viewer, secret.key))!), byId([shared, ofSecret]))
      }
      for (const viewer of blind) {
        assert.deepStrictEqual(yield* seenBy(viewer), byId([shared, ofOpen]))
        assert.deepStrictEqual(byId((yield* tags.listOfTeam(viewer, open.key))!), byId([shared, ofOpen]))
        assert.isUndefined(yield* tags.listOfTeam(viewer, secret.key))
      }
    })
  )

  it.effect("distinguishes a team without tags from a missing team", () =>
    Effect.gen(function* () {
      const tags = yield* TagsRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const { key } = yield* addTeam(workspace.id)
      yield* addTag(ofWorkspace(other.id))
      assert.deepStrictEqual(yield* tags.listOfTeam(seesAll(workspace.id), key), [])
      for (const missing of [teamKey(), "", "eng", "\u0000"]) {
        assert.isUndefined(yield* tags.listOfTeam(seesAll(workspace.id), missing))
      }
      assert.isUndefined(yield* tags.listOfTeam(seesAll(other.id), key))
      for (const id of [newId(), "", "tag", "\u0000"]) assert.isUndefined(yield* tags.lock(seesAll(workspace.id), id))
    })
  )

  it.effect("updates name and color of one tag, and deletes it", () =>
    Effect.gen(function* () {
      const tags = yield* TagsRepo
      const workspace = yield* addWorkspace()
      const team = yield* addTeam(workspace.id)
      const [tag, other] = [yield* addTag(team), yield* addTag(team)]
      const find = (id: TagId) => tags.lock(seesAll(workspace.id), id)
      const changed = { ...tag, name: "Ünïcode 🚀 'quoted'", color: "#00ff00" }
      yield* tags.update({ ...changed, teamId: null, createdAt: minute(9) })
      assert.deepStrictEqual(yield* find(tag.id), { ...changed, team: teamRefOf(team) })
      yield* tags.delete(tag.id)
      assert.isUndefined(yield* find(tag.id))
      assert.deepStrictEqual(yield* find(other.id), { ...other, team: teamRefOf(team) })
    })
  )

  it.effect("allows a name, in any case, once in a team or workspace", () =>
    Effect.gen(function* () {
      const tags = yield* TagsRepo
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const [team, beside] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id)]
      for (const owner of [team, ofWorkspace(workspace.id)]) {
        const tag = yield* addTag(owner, { name: "Größe" })
        const second = yield* addTag(owner, { name: "Other" })
        const again = tagRow(owner, { name: "GRÖßE" })
        assert.strictEqual((yield* Effect.flip(tags.insert(again))).constraint, "tags_name_key")
        assert.strictEqual((yield* Effect.flip(tags.update({ ...second, name: "größe" }))).constraint, "tags_name_key")
        yield* tags.update({ ...tag, name: "GRÖßE" })
      }
      yield* addTag(beside, { name: "Größe" })
      yield* addTag(ofWorkspace(other.id), { name: "Größe" })
    })
  )

  it.effect("finds whether another tag has a name that must be unique", () =>
    Effect.gen(function* () {
      const tags = yield* TagsRepo
      const storage = yield* Storage
      const [workspace, other] = [yield* addWorkspace(), yield* addWorkspace()]
      const [team, beside] = [yield* addTeam(workspace.id), yield* addTeam(workspace.id, { visibility: "private" })]
      const ofTeam = yield* addTag(team, { name: "Bug" })
      const shared = yield* addTag(ofWorkspace(workspace.id), { name: "Chore" })
      const isTaken = (tag: TagRow) => storage.transaction(tags.lockName(tag))
      for (const [of, name, expected] of [
        [team, "bUG", true],
        [team, "CHORE", true],
        [team, "Bugs", false],
        [beside, "Bug", false],
        [beside, "chore", true],
        [ofWorkspace(workspace.id), "BUG", true],
        [ofWorkspace(workspace.id), "chore", true],
        [ofWorkspace(workspace.id), "task", false],
        [ofWorkspace(other.id), "Bug", false]
      ] as const) {
        assert.strictEqual(yield* isTaken(tagRow(of, { name })), expected, `${of.id} ${name}`)
      }
      assert.isFalse(yield* isTaken({ ...ofTeam, name: "BUG" }))
      assert.isFalse(yield* isTaken({ ...shared, name: "CHORE" }))
    })
  )

  it.effect("locks a name, in any case, and a tag until the transaction ends", () =>
    Effect.gen(function* () {
      const tags = yield* TagsRepo
      const workspace = yield* addWorkspace()
      const team = yield* addTeam(workspace.id)
      let last = 0
      yield* assertHolds(
        Effect.suspend(() => tags.lockName(tagRow(team, { name: last++ % 2 === 0 ? "Held" : "hELD" })))
      )
      const { id } = yield* addTag(team)
      yield* assertHolds(tags.lock(seesAll(workspace.id), id))
    })
  )
})
