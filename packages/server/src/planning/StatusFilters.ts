import type { TeamId, WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { ViewsRepo } from "./ViewsRepo.ts"

/** A status of a team. */
interface NamedStatus {
  readonly workspaceId: WorkspaceId
  readonly teamId: TeamId
  readonly name: string
}

/**
 * Keeps the names of statuses in the filters of views up to date (docs/contract.md, Ticket statuses). Both operations
 * run in the transaction of the change. Where a view also shows tickets of another team that has a status of the same
 * name, that name stays in its filter. Whoever does not see the team sees no name change.
 */
export class StatusFilters extends Context.Service<
  StatusFilters,
  {
    /** A renamed status is renamed in filters. */
    readonly renamed: (status: NamedStatus, to: string) => Effect.Effect<void>
    /** A deleted status is removed from filters. */
    readonly deleted: (status: NamedStatus) => Effect.Effect<void>
  }
>()("@delivery/server/planning/StatusFilters") {
  static readonly layer = Layer.effect(
    StatusFilters,
    Effect.map(ViewsRepo, (views) =>
      StatusFilters.of({
        renamed: (status, to) => follow(views, status, to),
        deleted: (status) => follow(views, status, null)
      })
    )
  )
}

const follow = (views: ViewsRepo["Service"], { name, teamId, workspaceId }: NamedStatus, to: string | null) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    views.followStatus({ workspaceId, teamId, from: name, to, at: timestamp(now) })
  )
