import type { AuditAction } from "@delivery/domain/audit/AuditActions"
import { firstCharacters, visible, withoutTokens } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import { actorOf } from "../access/Access.ts"
import { Audit } from "../audit/Audit.ts"
import { type Refused, Refusals } from "../http/Refusals.ts"
import { WorkspacesRepo } from "./WorkspacesRepo.ts"

/**
 * Refusals of operations for admins are entries, in a transaction of their own: what was refused left nothing. Those of
 * making keys, which belong to no workspace, are in each of the person's (docs/contract.md, Audit).
 */
export const layer = Layer.effect(
  Refusals,
  Effect.gen(function* () {
    const audit = yield* Audit
    const workspaces = yield* WorkspacesRepo
    return Effect.fnUntraced(function* (refused: Refused) {
      const { caller, isOfWorkspace } = refused
      const { membership, principal } = caller
      const action = refused.operation as AuditAction
      const actor = actorOf(principal)
      if (membership !== undefined) {
        const subject = subjectOf(refused, membership)
        yield* audit.record({ workspace: membership, actor }, { action, subject, outcome: "refused" })
      } else if (!isOfWorkspace && principal.kind === "user") {
        const { id, name } = principal
        const subject = { type: "person", id, label: name }
        yield* audit.recordIn(yield* workspaces.ofPerson(id), actor, { action, subject, outcome: "refused" })
      }
    })
  })
)

/**
 * What the path names, or else the workspace. Whoever is refused may send any text there: nothing in it is hidden, and a token
 * that was sent in a wrong place is not kept.
 */
const subjectOf = (
  { params }: Refused,
  { id, name }: { readonly id: string; readonly name: string }
): { readonly type: string; readonly id: string; readonly label: string } => {
  const named = Object.entries(params).at(-1)
  if (named === undefined) return { type: "workspace", id, label: name }
  const [type, value] = named
  const text = firstCharacters(visible(withoutTokens(String(value))), 200)
  return { type: type === "apiKeyId" ? "key" : type, id: text, label: text }
}
