import { Effect, Layer } from "effect"
import { MemoryStorage } from "./MemoryStorage.ts"
import { makeListeners, Notices } from "./Notices.ts"

export const layer = Layer.effect(
  Notices,
  Effect.gen(function* () {
    const memory = yield* MemoryStorage
    const listeners = makeListeners()
    yield* memory.listen(({ channel, payload }) => listeners.notify(channel, payload))
    return Notices.of({
      listen: (channel, listener) =>
        Effect.andThen(
          listeners.add(channel, listener),
          Effect.sync(() => listener.onListening())
        )
    })
  })
)
