import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { Settings } from "../Config.ts"
import { NextId } from "../ids/NextId.ts"
import { asHost } from "../audit/ActsInstead.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { Storage } from "../storage/Storage.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { NewWorkspaces } from "./NewWorkspaces.ts"
import { PersonsRepo } from "./PersonsRepo.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** What the first start made, or nothing on a database that is in use (docs/contract.md, Running the server). */
export class Bootstrap extends Context.Service<
  Bootstrap,
  {
    readonly made: Option.Option<{
      readonly workspace: string
      readonly owner: PersonId
      readonly ownerEmail: string
      readonly apiKey: Redacted.Redacted
      /** Whether the key was given in the settings, and so need not be shown. */
      readonly isGiven: boolean
    }>
  }
>()("@delivery/server/identity/Bootstrap") {
  static readonly layer = Layer.effect(Bootstrap, Effect.gen(make))
}

function* make() {
  const storage = yield* Storage
  const makeFirst = makeFirstWorkspace({
    settings: (yield* Settings).bootstrap,
    persons: yield* PersonsRepo,
    workspaces: yield* WorkspacesRepo,
    members: yield* MembersRepo,
    newWorkspaces: yield* NewWorkspaces,
    apiKeys: yield* ApiKeys,
    events: yield* AuditedEvents,
    nextId: yield* NextId
  })
  return Bootstrap.of({ made: yield* Effect.orDie(asHost(storage.transaction(makeFirst))) })
}

interface Dependencies {
  readonly settings: Settings["Service"]["bootstrap"]
  readonly persons: PersonsRepo["Service"]
  readonly workspaces: WorkspacesRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly newWorkspaces: NewWorkspaces["Service"]
  readonly apiKeys: ApiKeys["Service"]
  readonly events: AuditedEvents["Service"]
  readonly nextId: NextId["Service"]
}

/** The first workspace, its owner and their key, where there is nobody yet; called in a transaction. */
const makeFirstWorkspace = ({
  apiKeys,
  events,
  members,
  newWorkspaces,
  nextId,
  persons,
  settings,
  workspaces
}: Dependencies) =>
  Effect.gen(function* () {
    if (!(yield* persons.isEmpty)) return Option.none()
    const now = timestamp(yield* Clock.currentTimeMillis)
    const person = {
      id: yield* nextId<PersonId>(),
      name: settings.ownerName,
      email: settings.ownerEmail,
      // The operator of the host says so.
      emailVerifiedAt: now,
      createdAt: now
    }
    const workspace = {
      id: yield* nextId<WorkspaceId>(),
      slug: settings.workspace,
      name: settings.workspace,
      runDays: null,
      fileDays: null,
      createdAt: now,
      updatedAt: now
    }
    yield* persons.insert(person)
    yield* workspaces.insert(workspace)
    yield* members.insert({
      workspaceId: workspace.id,
      personId: person.id,
      role: "owner",
      active: true,
      joinedAt: now
    })
    yield* newWorkspaces.createDefaults(workspace)
    const given = Option.getOrUndefined(Option.map(settings.apiKey, Redacted.value))
    const owner = { personId: person.id, workspaceId: null, role: null }
    const { secret } = yield* apiKeys.issue(owner, "first key", { token: given })
    const subject = { type: "workspace", id: workspace.id, label: workspace.name, path: "settings" }
    const by = { workspace, actor: { kind: "user", id: person.id } as const }
    yield* events.record(by, { kind: "workspace_created", subject })
    return Option.some({
      workspace: workspace.slug,
      owner: person.id,
      ownerEmail: person.email,
      apiKey: Redacted.make(secret),
      isGiven: given !== undefined
    })
  })
