import { DeliveryApi } from "@delivery/domain/Api"
import { Release } from "@delivery/domain/releases/Release"
import { Effect } from "effect"
import { handlersOf } from "../http/Handlers.ts"
import { listAnswer } from "../http/ListAnswer.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { Releases } from "./Releases.ts"

export const layer = handlersOf(DeliveryApi, "releases", (handlers) =>
  Effect.gen(function* () {
    const releases = yield* Releases
    const turns = yield* ListTurns
    const releaseList = listAnswer(turns, "releases", Release)
    return handlers
      .handle("history", ({ params, query }) =>
        releaseList(releases.history(params.product, params.environment, query))
      )
      .handle("version", ({ params }) => Effect.andThen(turns.take, releases.version(params.product, params.version)))
      .handle("trace", ({ params }) => Effect.andThen(turns.take, releases.trace(params.ticket)))
  })
)
