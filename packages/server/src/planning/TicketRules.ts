import { Conflict, Forbidden, InvalidInput, NotFound } from "@delivery/domain/Errors"
import type { Actor } from "@delivery/domain/identity/Actor"
import { isAtLeast } from "@delivery/domain/identity/Role"
import type { TicketChanges, UpdateTicket } from "@delivery/domain/planning/Ticket"
import { Effect } from "effect"
import { type Access, type ActorRef, isSameActor } from "../access/Access.ts"
import { idsOf } from "./TicketEvents.ts"
import type { LockedProject, LockedTeam, ResolvedReferences, TagPart, TicketDetails } from "./TicketsRepo.ts"

/** The rules that a change of a ticket must keep (docs/contract.md, Tickets). */

/**
 * Whether the caller may delete what an actor made: it is their own or their agent's, or they are an admin or owner of
 * the workspace.
 */
export const isAnswerableFor = (by: Access, actorRef: ActorRef, actor: Actor): boolean =>
  isSameActor(by.actor, actorRef) ||
  (by.principal.kind === "user" && actor.kind === "agent" && actor.person.id === by.principal.id) ||
  isAtLeast(by.workspace.role, "admin")

/**
 * What a body refers to beside the team and the project. A property that the body does not have is undefined; one that is
 * null stays null. `NotFound` names the property.
 */
export const referencesOf = Effect.fnUntraced(function* (
  input: Pick<UpdateTicket & TicketChanges, "status" | "owner" | "milestone" | "tags" | "addTags">,
  resolved: ResolvedReferences,
  project: LockedProject | null
) {
  const { milestone, owner, status: statusId } = input
  const status = resolved.statuses.find(({ id }) => id === statusId)
  if (statusId !== undefined && status === undefined) return yield* NotFound.reference("status", statusId)
  if (typeof owner === "string" && resolved.owner === undefined) return yield* NotFound.reference("owner", owner)
  if (typeof milestone === "number" && project !== null && resolved.milestone === undefined) {
    return yield* NotFound.reference("milestone", milestone)
  }
  const [tagField, tagRefs] = input.tags === undefined ? ["addTags", input.addTags] : ["tags", input.tags]
  const tags: Array<TagPart> = []
  for (const id of new Set(tagRefs)) {
    tags.push(resolved.tags.find((tag) => tag.id === id) ?? (yield* NotFound.reference(tagField, id, "tag")))
  }
  if (typeof milestone === "number" && project === null) {
    return yield* InvalidInput.at("milestone", "A milestone needs a project.")
  }
  return {
    status,
    owner: typeof owner === "string" ? resolved.owner!.owner : owner,
    milestone: typeof milestone === "number" ? resolved.milestone : milestone,
    tags: tagRefs === undefined ? undefined : tags
  }
})

/**
 * How a ticket is completed is decided by people: neither by agents nor by account keys. So are the cases of a ticket that
 * needs evidence (docs/contract.md, Evidence).
 */
export const checkPersons = (
  by: Access,
  input: Pick<UpdateTicket, "cases" | "completion" | "override" | "passes">,
  before?: { readonly completion: "free" | "evidence" }
): Effect.Effect<void, Forbidden> => {
  const isTheirs =
    (input.completion ?? input.passes ?? input.override) !== undefined ||
    (before?.completion === "evidence" && input.cases !== undefined)
  return !isTheirs || by.principal.kind === "user"
    ? Effect.void
    : Effect.fail(
        new Forbidden({ message: "How the ticket is completed is decided by people.", reason: "persons_only" })
      )
}

/**
 * A ticket that needs evidence is neither canceled nor taken from what it blocks by agents and account keys (docs/contract.md, Evidence):
 * it would hold nothing back any more, as if it had been completed without.
 */
export const checkHolding = (by: Access, before: Holding, after: Holding): Effect.Effect<void, Forbidden> => {
  const isLetGo = isHolding(before) && lettingGo(before, after).length > 0
  return !isLetGo || by.principal.kind === "user" ? Effect.void : heldByPeople
}

/** Nor is it deleted by them, while it is open. */
export const checkDeleting = (by: Access, ticket: Holding): Effect.Effect<void, Forbidden> =>
  !isHolding(ticket) || by.principal.kind === "user" ? Effect.void : heldByPeople

/** Whether a ticket waits for evidence. */
export const isHolding = ({ completion, status }: Pick<Holding, "completion" | "status">): boolean =>
  completion === "evidence" && status.category !== "completed" && status.category !== "canceled"

const heldByPeople = Effect.suspend(() =>
  personsOnly("A ticket that needs evidence is canceled, deleted and taken from what it blocks by people.")
)

export const personsOnly = (message: string) => Effect.fail(new Forbidden({ message, reason: "persons_only" }))

type Holding = Pick<TicketDetails, "blocks" | "completion" | "project" | "status">

/** What of a change makes that a ticket holds nothing back any more. */
export const lettingGo = (before: Holding, after: Holding) => {
  const isCanceled = after.status.category === "canceled" && before.status.category !== "canceled"
  const isUnblocked = before.blocks && !after.blocks
  const hasLeft = before.blocks && before.project !== null && before.project.id !== after.project?.id
  return [
    ...(isCanceled ? [{ field: "status", from: before.status.name, to: after.status.name }] : []),
    ...(isUnblocked ? [{ field: "blocks", from: "true", to: "false" }] : []),
    ...(hasLeft ? [{ field: "project", from: before.project.name, to: after.project?.name ?? null }] : [])
  ]
}

/** What needs evidence must say of what. */
export const checkCompletion = ({
  cases,
  completion
}: {
  readonly cases: unknown
  readonly completion: string
}): Effect.Effect<void, InvalidInput> =>
  completion === "evidence" && cases === null
    ? Effect.fail(InvalidInput.at("completion", "A ticket that needs evidence needs cases."))
    : Effect.void

export const checkProject = (
  project: LockedProject,
  { isLinked }: ResolvedReferences
): Effect.Effect<void, Conflict> => {
  if (project.archived) return Effect.fail(Conflict.archived("project"))
  return isLinked
    ? Effect.void
    : Effect.fail(
        new Conflict({
          message:
            "The project is not linked to the ticket's team. Link it to the team first, or name another project.",
          reason: "project_not_in_team"
        })
      )
}

/** An owner whom a ticket has already may be inactive; a new one may not. */
export const checkOwner = (
  team: LockedTeam,
  { owner }: ResolvedReferences,
  isNew: boolean
): Effect.Effect<void, Conflict> => {
  if (isNew && owner?.active === false) {
    return Effect.fail(
      new Conflict({
        message: "The owner is not an active member, or is an agent that was revoked.",
        reason: "inactive_owner"
      })
    )
  }
  return team.visibility === "open" || owner?.seesPrivateTeam === true
    ? Effect.void
    : Effect.fail(
        new Conflict({
          message: "The ticket's team is private, and the owner cannot see it.",
          reason: "owner_cannot_see"
        })
      )
}

/** A change may say from which values it was made: it must not overwrite those of somebody else. */
export const checkExpected = (
  before: TicketDetails,
  { tags, ...expected }: NonNullable<UpdateTicket["expected"]>
): Effect.Effect<void, Conflict> => {
  const now: Required<typeof expected> = {
    title: before.title,
    description: before.description,
    plan: before.plan,
    status: before.status.id,
    owner: before.owner?.id ?? null,
    project: before.project?.id ?? null,
    milestone: before.milestone?.number ?? null
  }
  const names = Object.keys(expected) as ReadonlyArray<keyof typeof now>
  const changed: ReadonlyArray<string> = [
    ...names.filter((name) => expected[name] !== now[name]),
    ...(tags !== undefined && tags.toSorted().join() !== idsOf(before.tags) ? ["tags"] : [])
  ]
  return changed.length === 0
    ? Effect.void
    : Effect.fail(
        new Conflict({
          message: `The ticket was changed meanwhile: ${changed.join(", ")}. Read it again, then decide.`,
          reason: "ticket_changed"
        })
      )
}
