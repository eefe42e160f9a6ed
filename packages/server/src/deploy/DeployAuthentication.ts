import { DeployCaller } from "@delivery/domain/deploy/DeployAuthorization"
import { Forbidden, Unauthorized } from "@delivery/domain/Errors"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect } from "effect"
import type { Headers } from "effect/http"
import { presentRefs } from "../catalog/DeploymentsRepo.ts"
import { clientAddress, isWithin } from "../http/ClientAddress.ts"
import { recognized } from "../http/RateLimits.ts"
import { hashToken, isToken } from "../ids/Tokens.ts"
import { type FoundSecrets, LoadsRepo } from "./LoadsRepo.ts"
import { ReadAudit } from "./ReadAudit.ts"
import { tokenSubject } from "./TokenSubjects.ts"
import { TokenUsage } from "./TokenUsage.ts"

/** A token alone; an API key beside it is another credential. */
const shownToken = ({ authorization = "", "x-api-key": key }: Headers.Headers): string => {
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ""
  return (key ?? token) === token ? token : ""
}

/** What a request reads: all secrets of the deployment, or the one of a name. */
export interface Wanted {
  readonly name: string | undefined
}

/** What the token of a request reads, found by the statement that recognized it: nobody reads with a token that has ended. */
export const FoundByToken = Context.Reference<FoundSecrets | undefined>("@delivery/server/deploy/FoundByToken", {
  defaultValue: () => undefined
})

/**
 * Looks up the deployment whose token is sent, on every request, with what the request reads, and notes that the token was used.
 * Refuses one that may not be used from the address of the client, and has the audit tell it.
 */
export const makeCallerOf = Effect.gen(function* () {
  const repo = yield* LoadsRepo
  const usage = yield* TokenUsage
  const audit = yield* ReadAudit
  return Effect.fnUntraced(function* (headers: Headers.Headers, wanted?: Wanted) {
    const shown = shownToken(headers)
    if (!isToken("dtk_", shown)) return yield* Effect.fail(Unauthorized.deployment)
    const tokenHash = hashToken(shown)
    const read = wanted && (yield* repo.read(tokenHash, wanted.name))
    const found = wanted === undefined ? yield* repo.authenticate(tokenHash) : read
    const now = timestamp(yield* Clock.currentTimeMillis)
    if (found === undefined || (found.token.expiresAt !== null && found.token.expiresAt <= now)) {
      return yield* Effect.fail(Unauthorized.deployment)
    }
    const { deployment, token } = found
    // Tokens of one deployment count together.
    yield* recognized(deployment.id)
    const address = (yield* clientAddress) ?? "unknown"
    const { id, lastFour, name } = token
    const caller: DeployCaller["Service"] = {
      workspaceId: token.workspaceId,
      ...presentRefs(found),
      deployment,
      token: { id, name, lastFour, expiresAt: token.expiresAt },
      address
    }
    if (token.allowedAddresses !== null && !isWithin(token.allowedAddresses, address)) {
      yield* audit.record(caller, {
        entry: { action: "token_refused", subject: tokenSubject({ ...caller, id, name }), outcome: "refused" },
        answered: ""
      })
      return yield* addressNotAllowed
    }
    yield* usage.note(id, address)
    return Context.make(DeployCaller, caller).pipe(Context.add(FoundByToken, read))
  })
})

const addressNotAllowed = new Forbidden({
  message: "The deployment token may not be used from this network address.",
  reason: "address_not_allowed"
})
