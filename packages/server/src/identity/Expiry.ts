import { InvalidInput } from "@delivery/domain/Errors"
import { maxExpiryYears } from "@delivery/domain/identity/ApiKey"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { DateTime, Effect } from "effect"

/** The time at which a new key or token is to end: in the future, and not far ahead (docs/contract.md, API keys). */
export const expiryOf = Effect.fnUntraced(function* (
  asked: string | null | undefined
): Effect.fn.Return<Timestamp | null, InvalidInput> {
  if (asked == null) return null
  const now = yield* DateTime.now
  const expiresAt = timestamp(Date.parse(asked))
  if (expiresAt <= DateTime.formatIso(now)) {
    return yield* InvalidInput.at("expiresAt", "Expected a time in the future")
  }
  if (expiresAt > DateTime.formatIso(DateTime.add(now, { years: maxExpiryYears }))) {
    return yield* InvalidInput.at("expiresAt", `Expected a time at most ${maxExpiryYears} years ahead`)
  }
  return expiresAt
})
