import { Conflict } from "@delivery/domain/Errors"
import { compare } from "@delivery/domain/Order"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Effect, Redacted } from "effect"
import type { Access } from "../access/Access.ts"
import type { ValueCipher } from "./ValueCipher.ts"
import type { VaultDependencies } from "./VaultDependencies.ts"
import type { RequestKey } from "./VaultRepo.ts"
import type { Refusal } from "./VaultRules.ts"

/** How long a `requestId` counts. */
export const requestsKeptMillis = 24 * 3_600_000

/**
 * Performs a change in one transaction. With a `requestId`, the first request performs it, and those like it replay the
 * answer from what the first wrote, after they have waited for it (docs/contract.md, Vault).
 */
export const performOnce = ({ dataKeys, repo, storage }: VaultDependencies) =>
  Effect.fnUntraced(function* <A, Written>(
    by: Access,
    operation: RequestKey["operation"],
    requestId: string | undefined,
    request: unknown,
    perform: (cipher: ValueCipher) => Effect.Effect<{ readonly answer: A; readonly written: Written }, Refusal>,
    replay: (written: Written, cipher: ValueCipher) => Effect.Effect<A, Refusal>
  ) {
    const workspaceId = by.workspace.id
    const cipher = yield* dataKeys.cipher(workspaceId)
    if (requestId === undefined) {
      return yield* storage.transaction(Effect.map(perform(cipher), ({ answer }) => answer))
    }
    const key = { workspaceId, actor: by.actor, operation, requestId }
    const text = canonical(request)
    const fingerprint = cipher.fingerprint(text)
    return yield* storage.transaction(
      Effect.gen(function* () {
        const at = yield* Clock.currentTimeMillis
        const expired = timestamp(at - requestsKeptMillis)
        const first = yield* repo.claimRequest(key, { fingerprint, at: timestamp(at), expired })
        if (first === undefined) {
          const { answer, written } = yield* perform(cipher)
          yield* repo.recordWritten(key, written)
          return answer
        }
        if (!(yield* cipher.isFingerprint(first.fingerprint, text))) {
          return yield* new Conflict({
            message: "The requestId was used for another request.",
            reason: "request_id_reused"
          })
        }
        return yield* replay(first.written as Written, cipher)
      })
    )
  })

/** JSON with sorted keys, so that equal bodies have one text. It holds values: only its keyed hash is stored. */
const canonical = (value: unknown): string => JSON.stringify(sorted(value))

const sorted = (part: unknown): unknown => {
  if (Redacted.isRedacted(part)) return Redacted.value(part)
  if (Array.isArray(part)) return part.map(sorted)
  if (typeof part !== "object" || part === null) return part
  return Object.entries(part)
    .toSorted(([a], [b]) => compare(a, b))
    .map(([key, value]) => [key, sorted(value)])
}
