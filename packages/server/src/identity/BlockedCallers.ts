import { Forbidden } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { Effect } from "effect"
import { freshProof } from "../access/Access.ts"
import type { ApiKeysRepo } from "./ApiKeysRepo.ts"
import type { BlocksRepo } from "./BlocksRepo.ts"

/** What a credential that a workspace has blocked may no longer do anywhere (docs/contract.md, Credentials). */

interface Dependencies {
  readonly apiKeys: ApiKeysRepo["Service"]
  readonly blocks: BlocksRepo["Service"]
}

/** Refuses a session that some workspace has blocked, and says what to do instead. It may be blocked right after. */
export const notBlocked = (
  { blocks }: Pick<Dependencies, "blocks">,
  instead: string
): Effect.Effect<void, Forbidden, Caller> =>
  Effect.gen(function* () {
    const { credential } = yield* Caller
    if (!(yield* blocks.isBlockedAnywhere(credential.id))) return
    return yield* new Forbidden({
      message: `A workspace has blocked this session. ${instead}`,
      reason: "session_blocked"
    })
  })

/**
 * Whether the request may end another credential of its person, with what that made in the workspace that blocks this one. A
 * session that is blocked may once its person has proven anew who they are. A key may as ever: whoever has a stolen
 * credential could else keep its person from ending that, by a block in a workspace of their own. In a transaction, nobody
 * blocks the credential of the request until that ends.
 */
export const mayEndOthers = (dependencies: Dependencies): Effect.Effect<void, Forbidden, Caller> =>
  Effect.gen(function* () {
    const { credential } = yield* Caller
    yield* dependencies.apiKeys.holdFamilies([credential.id], "shared")
    if (credential.kind === "session" && (yield* dependencies.blocks.isBlockedAnywhere(credential.id)))
      yield* freshProof
  })
