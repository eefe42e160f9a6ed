import type { DeploymentTokenId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import type { DeploymentTokenRow } from "../access/ActorRows.ts"
import { makeBehind } from "../storage/Behind.ts"
import { DeploymentTokensRepo, type TokenUse } from "./DeploymentTokensRepo.ts"

/**
 * When and from where tokens were used last: written at most a second later, and what is not yet written is merged when it is
 * read (docs/contract.md, Tokens).
 */
export class TokenUsage extends Context.Service<
  TokenUsage,
  {
    /** Notes that the token was used now. */
    readonly note: (id: DeploymentTokenId, from: string) => Effect.Effect<void>
    /** The token with what was noted and is not yet written. */
    readonly merge: <Token extends Pick<DeploymentTokenRow, "id" | "lastUsedAt" | "lastUsedFrom">>(
      token: Token
    ) => Token
  }
>()("@delivery/server/deploy/TokenUsage") {
  static readonly layer = Layer.effect(
    TokenUsage,
    Effect.gen(function* () {
      const repo = yield* DeploymentTokensRepo
      const { note, noted } = yield* makeBehind<DeploymentTokenId, TokenUse>({
        task: "deployment_token_usage",
        failure: "The times at which deployment tokens were last used could not be stored.",
        merge: (_, use) => use,
        store: repo.touch
      })
      return TokenUsage.of({
        note: (id, from) => Effect.map(Clock.currentTimeMillis, (millis) => note(id, { at: timestamp(millis), from })),
        merge: (token) => {
          const use = noted(token.id)
          return use === undefined || (token.lastUsedAt !== null && token.lastUsedAt >= use.at)
            ? token
            : { ...token, lastUsedAt: use.at, lastUsedFrom: use.from }
        }
      })
    })
  )
}
