import { DeliveryApi } from "@delivery/domain/Api"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Teams } from "./Teams.ts"

/** Handlers of the planning room. */
export const PlanningHttp = Layer.mergeAll(
  HttpApiBuilder.group(DeliveryApi, "teams", (handlers) =>
    Effect.map(Teams, (teams) =>
      handlers
        .handle("list", ({ query }) => Effect.map(teams.list(query.archived), (teams) => ({ teams })))
        .handle("create", ({ payload }) => teams.create(payload))
        .handle("get", ({ params }) => teams.get(params.team))
        .handle("update", ({ params, payload }) => teams.update(params.team, payload))
        .handle("archive", ({ params }) => teams.archive(params.team))
        .handle("restore", ({ params }) => teams.restore(params.team))
        .handle("listMembers", ({ params }) => Effect.map(teams.listMembers(params.team), (members) => ({ members })))
        .handle("addMember", ({ params, payload }) => teams.addMember(params.team, payload))
        .handle("removeMember", ({ params }) => teams.removeMember(params.team, params.member))
    )
  )
)
