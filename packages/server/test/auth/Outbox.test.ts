import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { Outbox } from "../../src/auth/Outbox.ts"
import { Settings } from "../../src/Config.ts"

/** Whose mail waits for whose. Nothing is sent: letters are written, or wait to be. */

const layerOutbox = Layer.provide(
  Outbox.layer,
  Settings.layer({ SMTP_URL: "smtp://127.0.0.1:9", MAIL_FROM: "delivery@example.com" })
)

layer(layerOutbox, { excludeTestServices: true })("Mails under way", (it) => {
  it.effect("are at most 500 invites, beside which people sign in", () =>
    Effect.gen(function* () {
      const outbox = yield* Outbox
      const open = yield* Deferred.make<undefined>()
      const held = Effect.as(Deferred.await(open), undefined)
      for (let n = 0; n < 500; n++) assert.isTrue(yield* outbox.post(held, "invites"))
      assert.isFalse(yield* outbox.hasRoom("invites"))
      assert.isFalse(yield* outbox.post(held, "invites"))
      const written = yield* Deferred.make<undefined>()
      assert.isTrue(yield* outbox.hasRoom("signIns"))
      assert.isTrue(yield* outbox.post(Effect.as(Deferred.succeed(written, undefined), undefined)))
      yield* Deferred.await(written)
      for (let n = 0; n < 1_000; n++) assert.isTrue(yield* outbox.post(held))
      assert.isFalse(yield* outbox.post(held))
      yield* Deferred.succeed(open, undefined)
    })
  )
})
