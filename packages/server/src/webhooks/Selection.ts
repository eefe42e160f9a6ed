import type { Event } from "@delivery/domain/events/Event"
import { Context, Effect, Layer } from "effect"
import { Settings } from "../Config.ts"
import { presentEvent } from "../events/EventPages.ts"
import { EventsRepo, type EventWithActor } from "../events/EventsRepo.ts"
import { WorkspacesRepo } from "../identity/WorkspacesRepo.ts"
import { TeamsRepo } from "../planning/TeamsRepo.ts"
import type { WebhookRow } from "./WebhooksRepo.ts"

type Selecting = Pick<WebhookRow, "id" | "workspaceId" | "teamId" | "kinds">

/**
 * Which events a webhook is sent (docs/contract.md, Webhooks): those of its team, or those that everybody in the workspace
 * sees. That is decided anew for each try. It is sent none about itself.
 */
export class Selection extends Context.Service<
  Selection,
  {
    /** The first event after a position, up to another one; undefined where there is none for the webhook. */
    readonly next: (
      webhook: Selecting,
      range: { readonly after: number; readonly upTo: number }
    ) => Effect.Effect<EventWithActor | undefined>
    /** An event as it is sent. */
    readonly present: (webhook: Pick<Selecting, "workspaceId">, event: EventWithActor) => Effect.Effect<Event>
  }
>()("@delivery/server/webhooks/Selection") {
  static readonly layer = Layer.effect(Selection, Effect.gen(make))
}

function* make() {
  const { baseUrl } = yield* Settings
  const events = yield* EventsRepo
  const teams = yield* TeamsRepo
  const workspaces = yield* WorkspacesRepo
  return Selection.of({
    next: Effect.fnUntraced(function* ({ id, kinds, teamId, workspaceId }, { after, upTo }) {
      const everybody = { workspaceId, seesPrivateTeams: false, personId: null }
      const seen = teamId === null ? (yield* teams.list(everybody)).map((team) => team.id) : [teamId]
      const [event] = yield* events.between(workspaceId, seen, 1, {
        after: { position: after, seen: [] },
        upTo,
        kinds: kinds ?? undefined,
        ofTeam: teamId ?? undefined,
        notAbout: id
      })
      return event
    }),
    present: ({ workspaceId }, event) =>
      Effect.map(workspaces.find(workspaceId), (workspace) => presentEvent(baseUrl, workspace!.slug)(event))
  })
}
