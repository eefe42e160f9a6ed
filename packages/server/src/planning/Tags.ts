import { Conflict, type Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { TagId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import type { CreateTag, Tag, UpdateTag } from "@delivery/domain/planning/Tag"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { NextId } from "../ids/NextId.ts"
import { Storage } from "../storage/Storage.ts"
import { type TagOfTeam, type TagRow, TagsRepo } from "./TagsRepo.ts"
import { TeamsRepo } from "./TeamsRepo.ts"
import { viewerOf } from "./Viewer.ts"

/** Tags of teams and of workspaces (docs/contract.md, Tags). */
export class Tags extends Context.Service<
  Tags,
  {
    /** By name; with a team's key, those that its tickets can have. */
    readonly list: (team?: string) => Effect.Effect<ReadonlyArray<Tag>, NotFound, Caller>
    readonly create: (input: CreateTag) => Effect.Effect<Tag, NotFound | Forbidden | Conflict, Caller>
    readonly update: (tag: string, input: UpdateTag) => Effect.Effect<Tag, NotFound | Forbidden | Conflict, Caller>
    readonly delete: (tag: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/planning/Tags") {
  static readonly layer = Layer.effect(Tags, Effect.gen(make))
}

interface Dependencies {
  readonly repo: TagsRepo["Service"]
  readonly teams: TeamsRepo["Service"]
  readonly storage: Storage["Service"]
  readonly events: Events["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* TagsRepo,
    teams: yield* TeamsRepo,
    storage: yield* Storage,
    events: yield* Events,
    nextId: yield* NextId
  }
  return Tags.of({
    list: list(dependencies),
    create: create(dependencies),
    update: update(dependencies),
    delete: remove(dependencies)
  })
}

const list = ({ repo }: Dependencies) =>
  Effect.fn("Tags.list")(function* (team?: string) {
    const viewer = viewerOf(yield* anyRole)
    const tags = team === undefined ? yield* repo.list(viewer) : yield* repo.listOfTeam(viewer, team)
    return tags === undefined ? yield* NotFound.reference("team", team) : tags.map(present).toSorted(byName)
  })

const create = (dependencies: Dependencies) => {
  const { events, nextId, repo, storage, teams } = dependencies
  const takeName = lockNameOf(dependencies)
  return Effect.fn("Tags.create")(function* (input: CreateTag) {
    const key = input.team ?? null
    const by = yield* atLeast(key === null ? "admin" : "member")
    const created = Effect.gen(function* () {
      const team = key === null ? null : yield* teams.find(viewerOf(by), key)
      if (team === undefined) return yield* NotFound.reference("team", key ?? undefined)
      const tag: TagOfTeam = {
        id: yield* nextId<TagId>(),
        workspaceId: by.workspace.id,
        teamId: team?.id ?? null,
        name: input.name,
        color: input.color,
        createdAt: timestamp(yield* Clock.currentTimeMillis),
        team: team && { id: team.id, key: team.key, name: team.name, visibility: team.visibility }
      }
      yield* takeName(tag)
      yield* repo.insert(tag)
      yield* events.record(by, { kind: "tag_created", ...about(tag) })
      return present(tag)
    })
    return yield* storage.transaction(created).pipe(Effect.catchTag("UniqueViolation", Effect.die))
  })
}

const update = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  const lock = lockTag(dependencies)
  const takeName = lockNameOf(dependencies)
  return Effect.fn("Tags.update")(function* (id: string, input: UpdateTag) {
    const by = yield* atLeast("member")
    const updated = Effect.gen(function* () {
      const before = yield* lock(by, id)
      const after = { ...before, ...input }
      const changes = changesBetween(before, after, "name", "color")
      if (changes.length === 0) return present(before)
      if (after.name !== before.name) yield* takeName(after)
      yield* repo.update(after)
      yield* events.record(by, { kind: "tag_updated", ...about(after), changes })
      return present(after)
    })
    return yield* storage.transaction(updated).pipe(Effect.catchTag("UniqueViolation", Effect.die))
  })
}

const remove = (dependencies: Dependencies) => {
  const { events, repo, storage } = dependencies
  const lock = lockTag(dependencies)
  return Effect.fn("Tags.delete")(function* (id: string) {
    const by = yield* atLeast("member")
    const deleted = Effect.gen(function* () {
      const tag = yield* lock(by, id)
      yield* repo.delete(tag.id)
      yield* events.record(by, { kind: "tag_deleted", ...about(tag) })
    })
    yield* storage.transaction(deleted)
  })
}

/** Locks the tag of a path, for a caller who may change it: tags of the workspace need an admin. */
const lockTag = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (by: Access, id: string) {
    const tag = yield* repo.lock(viewerOf(by), id)
    if (tag === undefined) return yield* NotFound.of("tag", id)
    if (tag.team === null) yield* atLeast("admin")
    return tag
  })

/** Locks the tag's name until the transaction ends. Fails where another tag has the name. */
const lockNameOf = ({ repo }: Dependencies) =>
  Effect.fnUntraced(function* (tag: TagRow) {
    if (yield* repo.lockName(tag)) return yield* Conflict.nameInUse(tag.name)
  })

/** The subject of an event about a tag, and who sees it. */
const about = ({ id, name, team }: TagOfTeam) => ({
  subject: { type: "tag", id, label: name, path: team === null ? "settings/tags" : `teams/${team.key}/tags` },
  ...(team === null ? {} : { teams: [team.id] })
})

const present = ({ color, createdAt, id, name, team }: TagOfTeam): Tag => ({ id, name, color, team, createdAt })
