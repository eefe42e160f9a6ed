import { Conflict, Forbidden, type NotFound } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { Me } from "@delivery/domain/identity/Me"
import type { CreateWorkspace, UpdateWorkspace, Workspace } from "@delivery/domain/identity/Workspace"
import type { ApiKeyId, WorkspaceId } from "@delivery/domain/Ids"
import { byName } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import { NextId } from "../ids/NextId.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { changesBetween } from "../events/Events.ts"
import { nextUpdate } from "../storage/NextUpdate.ts"
import { Storage } from "../storage/Storage.ts"
import { actorOf, anyRole, atLeast, personOf } from "../access/Access.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { NewWorkspaces } from "./NewWorkspaces.ts"
import { PersonsRepo } from "./PersonsRepo.ts"
import { type WorkspaceRow, WorkspacesRepo } from "./WorkspacesRepo.ts"

/** Workspaces and who the caller is in them (docs/contract.md, Identity). */
export class Workspaces extends Context.Service<
  Workspaces,
  {
    readonly me: Effect.Effect<Me, never, Caller>
    readonly list: Effect.Effect<ReadonlyArray<Workspace>, never, Caller>
    readonly create: (input: CreateWorkspace) => Effect.Effect<Workspace, Forbidden | Conflict, Caller>
    readonly get: Effect.Effect<Workspace, NotFound, Caller>
    readonly update: (input: UpdateWorkspace) => Effect.Effect<Workspace, NotFound | Forbidden | Conflict, Caller>
  }
>()("@delivery/server/identity/Workspaces") {
  static readonly layer = Layer.effect(Workspaces, Effect.gen(make))
}

interface Dependencies {
  readonly creation: Settings["Service"]["workspaceCreation"]
  readonly persons: PersonsRepo["Service"]
  readonly repo: WorkspacesRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly newWorkspaces: NewWorkspaces["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    creation: (yield* Settings).workspaceCreation,
    persons: yield* PersonsRepo,
    repo: yield* WorkspacesRepo,
    members: yield* MembersRepo,
    newWorkspaces: yield* NewWorkspaces,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    nextId: yield* NextId
  }
  return Workspaces.of({
    me: me(dependencies),
    list: Effect.withSpan(ofCaller(dependencies), "Workspaces.list"),
    create: create(dependencies),
    get: get(dependencies),
    update: update(dependencies)
  })
}

/** The workspaces of the caller: a person's by name, an account key's one. */
const ofCaller = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { credential, membership, principal } = yield* Caller
    const person = personOf(principal)
    if (person !== undefined) return (yield* repo.ofPerson(person.id, credential.id)).toSorted(byName)
    if (membership === undefined) return []
    return [{ ...(yield* repo.find(membership.id))!, role: membership.role }]
  })

const me = (dependencies: Dependencies) =>
  Effect.gen(function* () {
    const { principal } = yield* Caller
    const workspaces = yield* ofCaller(dependencies)
    const caller = personOf(principal)
    if (caller === undefined)
      return { kind: "apiKey" as const, id: principal.id as ApiKeyId, name: principal.name, workspaces }
    const { email, emailVerifiedAt, id, name } = (yield* dependencies.persons.find(caller.id))!
    return { kind: "user" as const, id, name, email, emailVerifiedAt, workspaces }
  }).pipe(Effect.withSpan("Workspaces.me"))

const create = ({ creation, events, members, newWorkspaces, nextId, repo, storage }: Dependencies) =>
  Effect.fn("Workspaces.create")(function* (input: CreateWorkspace) {
    const { credential, principal } = yield* Caller
    const person = personOf(principal)
    if (person === undefined) {
      return yield* new Forbidden({
        message: "An account API key acts in its own workspace only.",
        reason: "account_key"
      })
    }
    const mayCreate =
      creation === "anyone" || (yield* repo.ofPerson(person.id, credential.id)).some(({ role }) => role === "owner")
    if (!mayCreate) {
      return yield* new Forbidden({
        message: "On this server, only owners of a workspace create another.",
        reason: "not_allowed"
      })
    }
    const now = timestamp(yield* Clock.currentTimeMillis)
    const workspace: WorkspaceRow = {
      id: yield* nextId<WorkspaceId>(),
      slug: input.slug,
      name: input.name,
      runDays: null,
      fileDays: null,
      createdAt: now,
      updatedAt: now
    }
    const owner = { personId: person.id, role: "owner", active: true, joinedAt: now } as const
    const by = { workspace, actor: actorOf(principal) }
    const inserted = Effect.gen(function* () {
      yield* repo.insert(workspace)
      yield* members.insert({ ...owner, workspaceId: workspace.id })
      yield* newWorkspaces.createDefaults(workspace)
      yield* events.record(by, { kind: "workspace_created", subject: subjectOf(workspace) })
    })
    yield* storage
      .transaction(inserted)
      .pipe(Effect.catchTag("UniqueViolation", () => Effect.fail(Conflict.slugInUse(input.slug))))
    return { ...workspace, role: "owner" as const }
  })

const get = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { workspace } = yield* anyRole
    return { ...(yield* repo.find(workspace.id))!, role: workspace.role }
  }).pipe(Effect.withSpan("Workspaces.get"))

const update = ({ events, repo, storage }: Dependencies) =>
  Effect.fn("Workspaces.update")(function* (input: UpdateWorkspace) {
    const by = yield* atLeast("admin")
    const { role } = by.workspace
    const updated = Effect.gen(function* () {
      yield* repo.lock(by.workspace.id)
      const before = (yield* repo.find(by.workspace.id))!
      const changed = { ...before, ...input }
      const changes = changesBetween(before, changed, "slug", "name", "runDays", "fileDays")
      if (changes.length === 0) return { ...before, role }
      const after = { ...changed, updatedAt: yield* nextUpdate(before) }
      yield* repo.update(after)
      yield* events.record(by, { kind: "workspace_updated", subject: subjectOf(after), changes })
      return { ...after, role }
    })
    return yield* storage
      .transaction(updated)
      .pipe(Effect.catchTag("UniqueViolation", () => Effect.fail(Conflict.slugInUse(input.slug ?? ""))))
  })

const subjectOf = (workspace: WorkspaceRow) => ({
  type: "workspace",
  id: workspace.id,
  label: workspace.name,
  path: "settings"
})
