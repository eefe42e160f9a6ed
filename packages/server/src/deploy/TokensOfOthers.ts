import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { Audit } from "../audit/Audit.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { DeploymentEnds } from "../catalog/DeploymentEnds.ts"
import { MadeTokens } from "../identity/MadeTokens.ts"
import { DeploymentTokensRepo, type TokenWithMaker } from "./DeploymentTokensRepo.ts"
import { tokenScopes, tokenSubject } from "./TokenSubjects.ts"
import { TokenUsage } from "./TokenUsage.ts"

/** What deployment tokens are to lower rooms: credentials that somebody made, and that end with a deployment. */

const now = Effect.map(Clock.currentTimeMillis, timestamp)

/** Identity's `MadeTokens`. */
export const layerMadeTokens = Layer.effect(
  MadeTokens,
  Effect.gen(function* () {
    const repo = yield* DeploymentTokensRepo
    const usage = yield* TokenUsage
    const audit = yield* Audit
    const events = yield* AuditedEvents
    const madeBy = (makers: ReadonlyArray<string>) => Effect.flatMap(now, (now) => repo.madeBy(makers, now))
    return MadeTokens.of({
      makersEnded: Effect.fnUntraced(function* (makers, actor) {
        for (const token of yield* madeBy(makers)) {
          const by = { workspace: { id: token.workspaceId }, actor }
          yield* audit.record(by, { action: "token_maker_ended", subject: tokenSubject(token) })
        }
      }),
      madeBy: (makers) => Effect.map(madeBy(makers), (tokens) => tokens.map(({ id }) => id)),
      list: (workspaceId, now) =>
        Effect.map(repo.ofWorkspace(workspaceId, now), (tokens) =>
          tokens.map((token) => ofInventory(usage.merge(token)))
        ),
      endByToken: Effect.fnUntraced(function* (tokenHash) {
        const token = yield* repo.revokeByToken(tokenHash, yield* now)
        if (token === undefined) return
        const by = { workspace: { id: token.workspaceId }, actor: { kind: "deploymentToken", id: token.id } } as const
        yield* events.record(by, { kind: "token_reported", subject: tokenSubject(token) })
      })
    })
  })
)

const ofInventory = ({ environment, maker, makerEndedAt, product, ...token }: TokenWithMaker) => {
  const { createdAt, expiresAt, id, lastFour, lastUsedAt, name } = token
  return {
    id,
    kind: "deploymentToken" as const,
    name,
    owner: { kind: "deploymentToken" as const, id, name },
    createdBy: { kind: "user" as const, id: maker.id, name: maker.name, email: maker.email },
    lastFour,
    scopes: tokenScopes,
    role: "member" as const,
    createdAt,
    lastUsedAt,
    expiresAt,
    deployment: {
      product: { slug: product.slug, name: product.name },
      environment: { slug: environment.slug, name: environment.name }
    },
    ...(makerEndedAt === null ? {} : { makerEndedAt })
  }
}

/** The catalog's `DeploymentEnds`. */
export const layerDeploymentEnds = Layer.effect(
  DeploymentEnds,
  Effect.gen(function* () {
    const repo = yield* DeploymentTokensRepo
    const events = yield* AuditedEvents
    return DeploymentEnds.of({
      ended: Effect.fnUntraced(function* (by, { deployment }) {
        for (const token of yield* repo.revokeAll(deployment.id, yield* now)) {
          yield* events.record(by, { kind: "token_revoked", subject: tokenSubject(token) })
        }
      })
    })
  })
)
