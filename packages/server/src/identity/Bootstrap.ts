import type { PersonId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer, Option, Redacted } from "effect"
import { Settings } from "../Config.ts"
import { nextId } from "../ids/NextId.ts"
import { Events } from "../events/Events.ts"
import { Storage } from "../storage/Storage.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { MembersRepo } from "./MembersRepo.ts"
import { NewWorkspaces } from "./NewWorkspaces.ts"
import { PersonsRepo } from "./PersonsRepo.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

/** What the first start made, or nothing on a database that is in use (contract, section 2). */
export class Bootstrap extends Context.Service<
  Bootstrap,
  {
    readonly made: Option.Option<{
      readonly workspace: string
      readonly ownerEmail: string
      readonly apiKey: Redacted.Redacted
      /** Whether the key was given in the settings, and so need not be shown. */
      readonly isGiven: boolean
    }>
  }
>()("@delivery/server/identity/Bootstrap") {
  static readonly layer = Layer.effect(
    Bootstrap,
    Effect.gen(function* () {
      const { bootstrap } = yield* Settings
      const storage = yield* Storage
      const persons = yield* PersonsRepo
      const workspaces = yield* WorkspacesRepo
      const members = yield* MembersRepo
      const newWorkspaces = yield* NewWorkspaces
      const apiKeys = yield* ApiKeys
      const events = yield* Events

      const make = Effect.gen(function* () {
        if (!(yield* persons.isEmpty)) return Option.none()
        const now = timestamp(yield* Clock.currentTimeMillis)
        const person = {
          id: yield* nextId<PersonId>(),
          name: bootstrap.ownerName,
          email: bootstrap.ownerEmail,
          createdAt: now
        }
        const workspace = {
          id: yield* nextId<WorkspaceId>(),
          slug: bootstrap.workspace,
          name: bootstrap.workspace,
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
        yield* newWorkspaces.furnish(workspace)
        const given = Option.getOrUndefined(Option.map(bootstrap.apiKey, Redacted.value))
        const { secret } = yield* apiKeys.issue(
          { personId: person.id, workspaceId: null, role: null },
          "first key",
          given
        )
        yield* events.record(
          { workspace, actor: { kind: "user", id: person.id } },
          {
            kind: "workspace_created",
            subject: { type: "workspace", id: workspace.id, label: workspace.name, path: "settings" }
          }
        )
        return Option.some({
          workspace: workspace.slug,
          ownerEmail: person.email,
          apiKey: Redacted.make(secret),
          isGiven: given !== undefined
        })
      })

      return Bootstrap.of({ made: yield* Effect.orDie(storage.transaction(make)) })
    })
  )
}
