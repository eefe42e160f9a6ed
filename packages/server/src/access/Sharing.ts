import { Forbidden } from "@delivery/domain/Errors"
import type { Actor } from "@delivery/domain/identity/Actor"
import type { PersonId } from "@delivery/domain/Ids"
import { Effect } from "effect"
import { type Access, personOf } from "./Access.ts"

/** What everybody sees, or one person alone: views, and saved filters (docs/contract.md, Views). */

type Visibility = "shared" | "personal"

interface Shareable {
  readonly createdBy: Actor
  /** Whose it is alone; null where it is shared. */
  readonly personId: PersonId | null
}

export const visibilityOf = ({ personId }: Pick<Shareable, "personId">): Visibility =>
  personId === null ? "shared" : "personal"

/** The person who has what the caller makes for themselves alone. */
export const ownPerson = ({ principal }: Access, noun: string): Effect.Effect<PersonId, Forbidden> => {
  const person = personOf(principal)
  return person === undefined
    ? Effect.fail(new Forbidden({ message: `An account API key has no personal ${noun}s.`, reason: "account_key" }))
    : Effect.succeed(person.id)
}

/** Whose it is after a change. Whoever made a shared one may take it back, and nobody else. */
export const personIdAfter = Effect.fnUntraced(function* (
  by: Access,
  { createdBy, personId: before }: Shareable,
  visibility: Visibility | undefined,
  noun: string
) {
  if (visibility === undefined) return before
  if (visibility === "shared") return null
  if (before !== null) return before
  const personId = yield* ownPerson(by, noun)
  const creator =
    createdBy.kind === "agent" ? createdBy.person.id : createdBy.kind === "user" ? createdBy.id : undefined
  if (creator !== personId) {
    return yield* new Forbidden({
      message: `Only who made a shared ${noun}, or whose agent did, can make it personal.`,
      reason: "not_creator"
    })
  }
  return personId
})
