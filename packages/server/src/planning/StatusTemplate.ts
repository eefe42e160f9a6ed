import type { TicketStatusId } from "@delivery/domain/Ids"
import { templateStatuses } from "@delivery/domain/planning/TicketStatus"
import { Effect, Layer } from "effect"
import { NewWorkspaces } from "../identity/NewWorkspaces.ts"
import { NextId } from "../ids/NextId.ts"
import { TicketStatusesRepo } from "./TicketStatusesRepo.ts"

/** Gives every new workspace the template of ticket statuses (docs/contract.md, Ticket statuses). */
export const layer = Layer.effect(
  NewWorkspaces,
  Effect.gen(function* () {
    const repo = yield* TicketStatusesRepo
    const nextId = yield* NextId
    return NewWorkspaces.of({ createDefaults: createTemplate(repo, nextId) })
  })
)

const createTemplate = (
  repo: TicketStatusesRepo["Service"],
  nextId: NextId["Service"]
): NewWorkspaces["Service"]["createDefaults"] =>
  Effect.fnUntraced(
    function* ({ createdAt, id: workspaceId }) {
      const statuses = yield* Effect.forEach(templateStatuses, (status) =>
        Effect.map(nextId<TicketStatusId>(), (id) => ({
          ...status,
          id,
          workspaceId,
          teamId: null,
          position: 0,
          createdAt,
          updatedAt: createdAt
        }))
      )
      yield* repo.insert(statuses)
    },
    // Nothing else can be in the template of a new workspace.
    Effect.catchTag("UniqueViolation", Effect.die)
  )
