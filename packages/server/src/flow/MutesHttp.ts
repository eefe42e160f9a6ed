import { DeliveryApi } from "@delivery/domain/Api"
import { Effect } from "effect"
import { ListedMute } from "@delivery/domain/flow/Mute"
import { handlersOf } from "../http/Handlers.ts"
import { listAnswer } from "../http/ListAnswer.ts"
import { ListTurns } from "../http/ListTurns.ts"
import { Mutes } from "./Mutes.ts"

export const layer = handlersOf(DeliveryApi, "mutes", (handlers) =>
  Effect.gen(function* () {
    const mutes = yield* Mutes
    const muteList = listAnswer(yield* ListTurns, "mutes", ListedMute)
    return handlers
      .handle("list", ({ query }) => muteList(mutes.list(query.product)))
      .handle("set", ({ params, payload }) => mutes.set(params.ticket, payload))
      .handle("end", ({ params }) => mutes.end(params.ticket))
  })
)
