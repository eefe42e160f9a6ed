import { Context, Effect, Layer } from "effect"
import { EventsRepo, type EventWithActor } from "../events/EventsRepo.ts"
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
  }
>()("@delivery/server/webhooks/Selection") {
  static readonly layer = Layer.effect(Selection, Effect.gen(make))
}

function* make() {
  const events = yield* EventsRepo
  const teams = yield* TeamsRepo
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
    })
  })
}
