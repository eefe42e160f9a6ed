import type { TeamId } from "@delivery/domain/Ids"
import { Context, type Effect } from "effect"
import type { Access } from "../access/Access.ts"

/**
 * What is asked of whoever keeps teams: events of private teams, and counts of their messages, are for those alone who
 * see the team (contract, section 10). The planning room answers.
 */
export class EventAudience extends Context.Service<
  EventAudience,
  { readonly teamsSeenBy: (access: Access) => Effect.Effect<"all" | ReadonlyArray<TeamId>> }
>()("@delivery/server/events/EventAudience") {}
