import { Caller, OptionalCaller } from "@delivery/domain/identity/Authorization"
import type { Role } from "@delivery/domain/identity/Role"
import type { PersonId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer, Option } from "effect"
import { layerMemoryStorage, layerPorts, layerRooms } from "../App.ts"
import * as AuditRoom from "../audit/AuditRoom.ts"
import { Settings } from "../Config.ts"
import * as EventsRoom from "../events/EventsRoom.ts"
import * as Files from "../files/Files.ts"
import * as Http from "../http/Http.ts"
import { ApiKeys } from "../identity/ApiKeys.ts"
import { Bootstrap } from "../identity/Bootstrap.ts"
import * as Identity from "../identity/Identity.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { PersonsRepo } from "../identity/PersonsRepo.ts"
import { type WorkspaceRow, WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import * as Ids from "../ids/Ids.ts"
import { NextId } from "../ids/NextId.ts"
import * as Keys from "../keys/Keys.ts"

/** Every repository, in the memory of the process: new and empty for each layer that is built. */
export const layerRepositories = layerMemoryStorage

/**
 * The services of every room over repositories in memory, with the first workspace and its owner, as a server has them, and
 * without HTTP and work in the background. `environment` sets what the environment variables of a server would
 * (docs/operations.md).
 */
export const layerServices = (environment: Readonly<Record<string, string>> = {}) =>
  Identity.layerBootstrap.pipe(
    Layer.provideMerge(Layer.merge(layerRooms, EventsRoom.layerReads)),
    Layer.provideMerge(layerPorts),
    Layer.provideMerge(AuditRoom.layer),
    Layer.provideMerge([EventsRoom.layer, Keys.layer, Http.layer]),
    Layer.provideMerge(layerRepositories),
    Layer.provideMerge([
      Ids.layer,
      Keys.layerMemoryKeyring,
      Files.layerMemory,
      Settings.layer({ BASE_URL: "http://delivery.localhost", ...environment })
    ])
  )

/** The workspace that the services began with. */
const firstWorkspace = Effect.gen(function* () {
  const { owner, workspace } = Option.getOrThrow((yield* Bootstrap).made)
  const found = yield* (yield* WorkspacesRepo).named(workspace)
  return { owner, workspace: found! }
})

/** Calls services as the owner of the first workspace. */
export const asOwner = Effect.map(
  Effect.flatMap(firstWorkspace, ({ owner, workspace }) => callerOf(owner, workspace, "owner")),
  as
)

/** Adds a person to the first workspace, and calls services as that person. */
export const asNewMember = Effect.fnUntraced(function* (role: Role, name: string) {
  const { workspace } = yield* firstWorkspace
  const now = timestamp(yield* Clock.currentTimeMillis)
  const id = yield* (yield* NextId)<PersonId>()
  const person = { id, name, email: `${id}@example.com`, emailVerifiedAt: now, createdAt: now }
  yield* (yield* PersonsRepo).insert(person)
  yield* (yield* MembersRepo).insert({
    workspaceId: workspace.id,
    personId: id,
    role,
    active: true,
    joinedAt: now
  })
  return as(yield* callerOf(id, workspace, role))
})

/** The person with a key of theirs: what it makes, it makes as long as that lasts. */
const callerOf = Effect.fnUntraced(function* (id: PersonId, { id: workspaceId, name, slug }: WorkspaceRow, role: Role) {
  const person = (yield* (yield* PersonsRepo).find(id))!
  const key = yield* (yield* ApiKeys).issue({ personId: id, workspaceId: null, role: null }, "tests")
  const caller: Caller["Service"] = {
    principal: { kind: "user", id, name: person.name, email: person.email },
    membership: { id: workspaceId, slug, name, role },
    credential: { kind: "apiKey", id: key.id, lastFour: key.lastFour }
  }
  return caller
})

function as(caller: Caller["Service"]) {
  return <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Caller | OptionalCaller>> =>
    call.pipe(Effect.provideService(Caller, caller), Effect.provideService(OptionalCaller, { caller })) as never
}
