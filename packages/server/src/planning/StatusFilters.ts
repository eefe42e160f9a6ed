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
 * The names of statuses in the filters of views (contract, section 8). Called in the transaction of the change. Where a
 * view shows tickets of another team too that has a status of the same name, that name stays in its filter. Who does
 * not see the team sees neither name change.
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
    Effect.gen(function* () {
      const views = yield* ViewsRepo
      const follow = ({ name, teamId, workspaceId }: NamedStatus, to: string | null) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          views.followStatus({ workspaceId, teamId, from: name, to, at: timestamp(now) })
        )
      return StatusFilters.of({ renamed: follow, deleted: (status) => follow(status, null) })
    })
  )
}
