import type { TeamId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { Access } from "../access/Access.ts"

/**
 * Which teams a caller sees: events of private teams, and counts of their messages, are only for those who see the team
 * (docs/contract.md, Events). Planning supplies it.
 */
export class EventAudience extends Context.Service<
  EventAudience,
  { readonly teamsSeenBy: (access: Access) => Effect.Effect<"all" | ReadonlyArray<TeamId>> }
>()("@delivery/server/events/EventAudience") {}
