import { Conflict, type Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { TagId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import type { CreateTag, Tag, UpdateTag } from "@delivery/domain/planning/Tag"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { changesBetween, Events } from "../events/Events.ts"
import { type Access, anyRole, atLeast } from "../access/Access.ts"
import { Storage } from "../storage/Storage.ts"
import { type TagOfTeam, type TagRow, TagsRepo } from "./TagsRepo.ts"
import { TeamsRepo } from "./TeamsRepo.ts"
import { viewerOf } from "./Visibility.ts"

/** Tags of teams and of workspaces (contract, section 8). */
export class Tags extends Context.Service<
  Tags,
  {
    /** By name; with a team, those that its tickets can have. */
    readonly list: (team?: string) => Effect.Effect<ReadonlyArray<Tag>, NotFound, Caller>
    readonly create: (input: CreateTag) => Effect.Effect<Tag, NotFound | Forbidden | Conflict, Caller>
    readonly update: (tag: string, input: UpdateTag) => Effect.Effect<Tag, NotFound | Forbidden | Conflict, Caller>
    readonly delete: (tag: string) => Effect.Effect<void, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/planning/Tags") {
  static readonly layer = Layer.effect(
    Tags,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* TagsRepo
      const teams = yield* TeamsRepo
      const events = yield* Events

      /** The tag, held, for a caller who may change it. */
      const lock = Effect.fnUntraced(function* (by: Access, id: string) {
        const tag = yield* repo.lock(viewerOf(by), id)
        if (tag === undefined) return yield* NotFound.of("tag")
        if (tag.team === null) yield* atLeast("admin")
        return tag
      })

      /** Fails where the tag may not have its name. */
      const takeName = Effect.fnUntraced(function* (tag: TagRow) {
        if (yield* repo.holdName(tag)) return yield* nameInUse(tag.name)
      })

      return Tags.of({
        list: Effect.fn("Tags.list")(function* (team?: string) {
          const viewer = viewerOf(yield* anyRole)
          const tags = team === undefined ? yield* repo.list(viewer) : yield* repo.listOfTeam(viewer, team)
          return tags === undefined ? yield* NotFound.reference("team") : tags.map(shown).toSorted(byName)
        }),

        create: Effect.fn("Tags.create")(
          function* (input: CreateTag) {
            const key = input.team ?? null
            const by = yield* atLeast(key === null ? "admin" : "member")
            return yield* storage
              .transaction(
                Effect.gen(function* () {
                  const team = key === null ? null : yield* teams.find(viewerOf(by), key)
                  if (team === undefined) return yield* NotFound.reference("team")
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
                  return shown(tag)
                })
              )
              .pipe(Effect.catchTag("UniqueViolation", Effect.die))
          },
          Effect.provideService(SecureRandom.SecureRandom, random)
        ),

        update: Effect.fn("Tags.update")(function* (id: string, input: UpdateTag) {
          const by = yield* atLeast("member")
          return yield* storage
            .transaction(
              Effect.gen(function* () {
                const before = yield* lock(by, id)
                const after = { ...before, ...input }
                const changes = changesBetween(before, after, "name", "color")
                if (changes.length === 0) return shown(before)
                if (after.name !== before.name) yield* takeName(after)
                yield* repo.update(after)
                yield* events.record(by, { kind: "tag_updated", ...about(after), changes })
                return shown(after)
              })
            )
            .pipe(Effect.catchTag("UniqueViolation", Effect.die))
        }),

        delete: Effect.fn("Tags.delete")(function* (id: string) {
          const by = yield* atLeast("member")
          yield* storage.transaction(
            Effect.gen(function* () {
              const tag = yield* lock(by, id)
              yield* repo.delete(tag.id)
              yield* events.record(by, { kind: "tag_deleted", ...about(tag) })
            })
          )
        })
      })
    })
  )
}

const nameInUse = (name: string) =>
  new Conflict({ message: `The name "${name}" is already in use.`, reason: "name_in_use" })

/** The subject of an event about a tag, and who sees it. */
const about = ({ id, name, team }: TagOfTeam) => ({
  subject: { type: "tag", id, label: name, path: team === null ? "settings/tags" : `teams/${team.key}/tags` },
  ...(team === null ? {} : { teams: [team.id] })
})

const shown = ({ color, createdAt, id, name, team }: TagOfTeam): Tag => ({ id, name, color, team, createdAt })
