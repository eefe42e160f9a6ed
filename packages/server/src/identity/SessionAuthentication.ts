import { Forbidden, type TooManyRequests, Unauthorized } from "@delivery/domain/Errors"
import { Caller, personHeader } from "@delivery/domain/identity/Authorization"
import { type Timestamp, timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Settings } from "../Config.ts"
import { endpointOf } from "../http/Endpoints.ts"
import { isFromOwnPage, keepsCookies } from "../http/OwnPages.ts"
import { recognized } from "../http/RateLimits.ts"
import { Refusals } from "../http/Refusals.ts"
import { hashToken, isToken } from "../ids/Tokens.ts"
import { workspaceOfPath } from "./Credentials.ts"
import { type SessionRow, SessionsRepo } from "./SessionsRepo.ts"
import { SessionUsage } from "./SessionUsage.ts"

/** The times of a session, by the settings (docs/contract.md, Sessions). */
export const sessionTimes = ({ sessions: { idleMillis, maxMillis, sudoMillis } }: Settings["Service"]) => {
  const after = (at: Timestamp, millis: number) => timestamp(Date.parse(at) + millis)
  const expiresMillis = ({ createdAt, lastSeenAt }: Pick<SessionRow, "createdAt" | "lastSeenAt">): number =>
    Math.min(Date.parse(lastSeenAt) + idleMillis, Date.parse(createdAt) + maxMillis)
  return {
    expiresMillis,
    expiresAt: (session: Pick<SessionRow, "createdAt" | "lastSeenAt">): Timestamp => timestamp(expiresMillis(session)),
    sudoUntil: ({ provedAt }: Pick<SessionRow, "provedAt">): Timestamp => after(provedAt, sudoMillis)
  }
}

/**
 * Authenticates a request by the cookie of a session, where no key is in a header: one look-up gives the caller and the
 * membership in the path's workspace.
 */
export const makeAuthenticateSession = Effect.gen(function* () {
  const repo = yield* SessionsRepo
  const usage = yield* SessionUsage
  const settings = yield* Settings
  const isOffered = keepsCookies(settings.baseUrl)
  const refused = yield* Refusals
  const { expiresMillis, sudoUntil } = sessionTimes(settings)
  return Effect.fnUntraced(function* (
    token: string
  ): Effect.fn.Return<
    Caller["Service"],
    Unauthorized | Forbidden | TooManyRequests,
    HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext
  > {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { authorization, [personHeader]: expected, "x-api-key": apiKey } = request.headers
    if (!isOffered || authorization !== undefined || apiKey !== undefined || !isToken("wtk_", token)) {
      return yield* Effect.fail(Unauthorized.generic)
    }
    const found = yield* repo.authenticate({ tokenHash: hashToken(token), workspace: yield* workspaceOfPath })
    const now = yield* Clock.currentTimeMillis
    if (found === undefined) return yield* Effect.fail(Unauthorized.generic)
    const { membership, person, session } = found
    if (expected !== undefined && expected !== person.id) return yield* Effect.fail(Unauthorized.generic)
    const lastSeenAt = usage.latest(session.id, session.lastSeenAt)
    if (expiresMillis({ createdAt: session.createdAt, lastSeenAt }) <= now)
      return yield* Effect.fail(Unauthorized.generic)
    const caller: Caller["Service"] = {
      principal: { kind: "user", ...person },
      membership,
      credential: {
        kind: "session",
        id: session.id,
        lastFour: session.lastFour,
        // Few requests ask for it.
        get sudoUntil() {
          return sudoUntil(session)
        }
      }
    }
    if (!isFromOwnPage(request, settings.baseUrl)) {
      const endpoint = endpointOf(request.method, request.url)
      if (endpoint.isForAdmins) {
        const { slug, ...params } = yield* HttpRouter.params
        const told = { caller, operation: endpoint.name, isOfWorkspace: slug !== undefined, params }
        yield* Effect.provideService(refused(told), Caller, caller)
      }
      return yield* Effect.fail(Forbidden.crossSite)
    }
    yield* usage.note(session.id)
    yield* recognized(person.id)
    return caller
  })
})
