import { firstCharacters } from "@delivery/domain/Text"
import { Effect, Layer } from "effect"
import { actorOf } from "../access/Access.ts"
import { type Refused, Refusals } from "../http/Refusals.ts"
import { Audit } from "./Audit.ts"

/** Refusals of operations for admins are entries, in a transaction of their own: what was refused left nothing. */
export const layer = Layer.effect(
  Refusals,
  Effect.map(Audit, (audit) => (refused: Refused) => {
    const { caller, operation } = refused
    const { membership, principal } = caller
    if (membership === undefined) return Effect.void
    return audit.record(
      { workspace: membership, actor: actorOf(principal) },
      { action: operation, subject: subjectOf(refused, membership), outcome: "refused" }
    )
  })
)

/** What the path names, as it was sent, or else the workspace. A token that was sent in a wrong place is not kept. */
const subjectOf = (
  { params }: Refused,
  { id, name }: { readonly id: string; readonly name: string }
): { readonly type: string; readonly id: string; readonly label: string } => {
  const named = Object.entries(params).at(-1)
  if (named === undefined) return { type: "workspace", id, label: name }
  const [type, value] = named
  const text = firstCharacters(String(value), 200).replaceAll(/\b([a-z]tk)_[0-9A-Za-z]+/g, "$1_***")
  return { type: type === "apiKeyId" ? "key" : type, id: text, label: text }
}
