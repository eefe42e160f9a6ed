import { Forbidden, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect } from "effect"
import { mayGive } from "../access/Access.ts"
import type { ApiKeysRepo, Maker } from "./ApiKeysRepo.ts"

export const noMaker: Maker = { id: null, family: null, expiresAt: null }

/**
 * The credential of the request, which stays as it is until the transaction ends: what is made now is found by whoever ends
 * the maker next. Refused where it has ended since the request was authenticated.
 */
export const holdMaker = (repo: ApiKeysRepo["Service"]): Effect.Effect<Maker, Unauthorized, Caller> =>
  Effect.flatMap(Caller, ({ credential: { id, kind } }) => {
    if (kind === "agent") return Effect.succeed(noMaker)
    if (kind === "session") return Effect.as(repo.holdFamilies([id], "shared"), { id, family: id, expiresAt: null })
    return Effect.flatMap(repo.holdMaker(id), (maker) =>
      maker === undefined ? Effect.fail(Unauthorized.generic) : Effect.succeed(maker)
    )
  })

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
