import { SignInId } from "@delivery/domain/Ids"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Queue, References } from "effect"
import { HttpRouter } from "effect/http"
import { McpSessions } from "../../src/agents/McpSessions.ts"
import { SignIns } from "../../src/agents/SignIns.ts"
import { SignInsRepo } from "../../src/agents/SignInsRepo.ts"
import { layerMemoryStorage } from "../../src/App.ts"
import { makeScene } from "../identity/Scene.ts"
import { eventually } from "../support/Eventually.ts"
import { layerServices } from "../support/Storages.ts"
import { form, registered } from "./Scene.ts"

describe("McpSessions", () => {
  const revoke = (token: string) => Effect.flatMap(SignIns, (signIns) => signIns.revoke(form({ token })))

  /** A session whose sign-in is looked up only as far as the test lets it: `asked` has the end of each look-up. */
  const makeSession = Effect.gen(function* () {
    const { member } = yield* makeScene
    const signIn = yield* registered(member)
    const repo = yield* SignInsRepo
    const asked = yield* Queue.unbounded<Deferred.Deferred<void>>()
    const live: SignInsRepo["Service"]["live"] = Effect.fnUntraced(function* (ids) {
      const found = yield* repo.live(ids)
      const end = yield* Deferred.make<void>()
      yield* Queue.offer(asked, end)
      yield* Deferred.await(end)
      return found
    })
    const context = yield* McpSessions.layer.pipe(
      Layer.provide([HttpRouter.layer, Layer.succeed(SignInsRepo, { ...repo, live })]),
      Layer.build
    )
    const sessions = yield* Effect.provideContext(McpSessions, context)
    const owner = { agent: signIn.agent, person: member.principal.id as never, signIn: SignInId.make(signIn.clientId) }
    yield* sessions.begin("session", owner, 0)
    return { signIn, asked: Queue.take(asked), isThere: sessions.use("session", owner) }
  })

  it.effect("ends with its sign-in while an earlier look-up has still found that alive", () =>
    Effect.gen(function* () {
      const { asked, isThere, signIn } = yield* makeSession
      yield* revoke(signIn.access_token)
      const first = yield* asked
      yield* revoke(signIn.refresh_token)
      const second = yield* asked
      yield* Deferred.succeed(first, undefined)
      yield* Effect.yieldNow
      assert.isTrue(yield* isThere)
      yield* Deferred.succeed(second, undefined)
      yield* eventually(isThere, (is) => !is)
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(layerServices, layerMemoryStorage)))
  )

  it.effect("is looked up again after a look-up that failed", () =>
    Effect.gen(function* () {
      const { asked, isThere, signIn } = yield* makeSession
      yield* revoke(signIn.refresh_token)
      yield* Deferred.die(yield* asked, new Error("The database does not answer."))
      assert.isTrue(yield* isThere)
      const other = yield* registered((yield* makeScene).member)
      yield* revoke(other.access_token)
      yield* Deferred.succeed(yield* asked, undefined)
      yield* eventually(isThere, (is) => !is)
    }).pipe(
      Effect.provideService(References.MinimumLogLevel, "None"),
      Effect.scoped,
      Effect.provide(Layer.provideMerge(layerServices, layerMemoryStorage))
    )
  )
})
