import { Forbidden, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { SessionId } from "@delivery/domain/Ids"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { mayGive } from "../access/Access.ts"
import { Settings } from "../Config.ts"
import { ApiKeysRepo, type Maker } from "./ApiKeysRepo.ts"
import { sessionTimes } from "./SessionAuthentication.ts"
import { SessionsRepo, type SessionTimes } from "./SessionsRepo.ts"
import { SessionUsage } from "./SessionUsage.ts"

export const noMaker: Maker = { id: null, family: null, expiresAt: null }

/** The credential of the request, looked at again where something is made with it (docs/contract.md, API keys, Sessions). */
export class Makers extends Context.Service<
  Makers,
  {
    /**
     * The credential, which stays as it is until the transaction ends: what is made now is found by whoever ends or blocks
     * the maker next. Refused where it has ended since the request was authenticated. Called after the rows of a workspace
     * and of a person were locked.
     */
    readonly hold: Effect.Effect<Maker, Unauthorized, Caller>
    /** Refuses a session that has ended since the request was authenticated. It may end right after. */
    readonly checkSession: Effect.Effect<void, Unauthorized, Caller>
  }
>()("@delivery/server/identity/Makers") {
  static readonly layer = Layer.effect(Makers, Effect.gen(make))
}

function* make() {
  const apiKeys = yield* ApiKeysRepo
  const sessions = yield* SessionsRepo
  const usage = yield* SessionUsage
  const { expiresMillis } = sessionTimes(yield* Settings)
  const live = Effect.fnUntraced(function* (id: SessionId, found: Effect.Effect<SessionTimes | undefined>) {
    const session = yield* found
    const now = yield* Clock.currentTimeMillis
    if (session === undefined) return yield* Effect.fail(Unauthorized.generic)
    const lastSeenAt = usage.latest(id, session.lastSeenAt)
    if (expiresMillis({ ...session, lastSeenAt }) <= now) return yield* Effect.fail(Unauthorized.generic)
  })
  return Makers.of({
    hold: Effect.gen(function* () {
      const { id, kind } = (yield* Caller).credential
      if (kind === "agent") return noMaker
      if (kind === "session") {
        yield* live(id as SessionId, sessions.hold(id as SessionId))
        return { id, family: id, expiresAt: null }
      }
      return (yield* apiKeys.holdMaker(id)) ?? (yield* Effect.fail(Unauthorized.generic))
    }),
    checkSession: Effect.flatMap(Caller, ({ credential: { id, kind } }) =>
      kind === "session" ? live(id as SessionId, sessions.find(id as SessionId)) : Effect.void
    )
  })
}

/**
 * A member has all scopes, and stays: a key that is limited, or that expires, would give more than it has (docs/contract.md,
 * Invites and Members).
 */
export const mayGiveAccess = ({ expiresAt }: Pick<Maker, "expiresAt">): Effect.Effect<void, Forbidden, Caller> =>
  Effect.andThen(mayGive(null), expiresAt === null ? Effect.void : keyExpires)

export const keyExpires = new Forbidden({
  message: "An API key that expires lets nobody and nothing in that would stay longer than the key.",
  reason: "key_expires"
})

/** The time, or the end of the maker where that is earlier. */
export const within = (at: Timestamp, end: Timestamp | null): Timestamp => (end !== null && end < at ? end : at)
