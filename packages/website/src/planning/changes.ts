import type { Ticket, TicketChanges, TicketSummary, UpdateTicket } from "@delivery/domain/planning/Ticket"
import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"
import { categoryNames } from "./categories.ts"

/** Changes of tickets as they are shown, and what the API is told of them. Pure. */

/** The fields of a ticket that people change, with the values that they then show. */
export type Shown = Partial<
  Pick<Ticket, "title" | "description" | "plan" | "status" | "owner" | "project" | "milestone" | "tags">
>

/** What the API is told. */
export const payloadOf = (shown: Shown): UpdateTicket => ({
  ...(shown.title === undefined ? {} : { title: shown.title }),
  ...(shown.description === undefined ? {} : { description: shown.description }),
  ...(shown.plan === undefined ? {} : { plan: shown.plan }),
  ...(shown.status === undefined ? {} : { status: shown.status.id }),
  ...(shown.owner === undefined ? {} : { owner: shown.owner?.id ?? null }),
  ...(shown.project === undefined ? {} : { project: shown.project?.slug ?? null }),
  ...(shown.milestone === undefined ? {} : { milestone: shown.milestone?.number ?? null }),
  ...(shown.tags === undefined ? {} : { tags: shown.tags.map(({ id }) => id) })
})

/** The values that a change was made from, as the API compares them. */
export const expectedOf = (shown: Shown): NonNullable<UpdateTicket["expected"]> => {
  const { project, ...rest } = shown
  return { ...payloadOf(rest), ...(project === undefined ? {} : { project: project?.id ?? null }) }
}

/** The change as it shows: a milestone is one of its project. */
export const shownOf = (change: Shown): Shown =>
  change.project === undefined || change.milestone !== undefined ? change : { ...change, milestone: null }

/** What takes a change of a ticket back. */
export const inverseOf = (ticket: Shown, change: Shown): Shown => {
  const names = Object.keys(shownOf(change)) as ReadonlyArray<keyof Shown>
  return Object.fromEntries(names.map((name) => [name, ticket[name]])) as Shown
}

const idOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map((one) => idOf(one)).join(" ")
    : typeof value === "object" && value !== null
      ? ((value as { readonly id?: unknown }).id ?? (value as { readonly number?: unknown }).number)
      : (value ?? null)

/** Which of the fields that were changed have been changed again, since the ticket was as it is answered. */
export const changedSince = (answered: Shown, now: Shown, change: Shown): ReadonlyArray<string> =>
  (Object.keys(change) as ReadonlyArray<keyof Shown>).filter((name) => idOf(answered[name]) !== idOf(now[name]))

/** A change that means the same for many tickets. */
export interface TicketChange extends Pick<Shown, "status" | "owner" | "project" | "milestone"> {
  /** The first status of this category in the team of each ticket. */
  readonly category?: StatusCategory
  readonly addTag?: Ticket["tags"][number]
  readonly removeTag?: Ticket["tags"][number]
}

/** What the API is told of a change of many tickets. */
export const changesOf = ({ addTag, category, removeTag, ...change }: TicketChange): TicketChanges => ({
  ...payloadOf(change),
  ...(category === undefined ? {} : { category }),
  ...(addTag === undefined ? {} : { addTags: [addTag.id] }),
  ...(removeTag === undefined ? {} : { removeTags: [removeTag.id] })
})

/** What a change makes of a ticket. */
export const changed = (ticket: TicketSummary, { addTag, category, removeTag, ...change }: TicketChange): Shown => ({
  ...shownOf(change),
  ...(category === undefined || ticket.status.category === category
    ? {}
    : { status: { ...ticket.status, category, name: categoryNames[category] } }),
  ...(addTag === undefined || ticket.tags.some(({ id }) => id === addTag.id)
    ? {}
    : { tags: [...ticket.tags, addTag].toSorted((a, b) => a.name.localeCompare(b.name)) }),
  ...(removeTag === undefined ? {} : { tags: ticket.tags.filter(({ id }) => id !== removeTag.id) })
})

/** What takes a change of many tickets back, for one of them; nothing where it had changed nothing. */
export const takenBack = (ticket: TicketSummary, change: TicketChange): TicketChange => {
  const hasTag = (tag: Ticket["tags"][number]) => ticket.tags.some(({ id }) => id === tag.id)
  const { addTag, category, removeTag, ...fields } = change
  return {
    ...inverseOf(ticket, fields),
    ...(category === undefined || ticket.status.category === category ? {} : { status: ticket.status }),
    ...(addTag === undefined || hasTag(addTag) ? {} : { removeTag: addTag }),
    ...(removeTag === undefined || !hasTag(removeTag) ? {} : { addTag: removeTag })
  }
}

/** Whether a ticket still is what a change has made of it. */
export const isStill = (now: TicketSummary, { addTag, category, removeTag, ...fields }: TicketChange): boolean => {
  const hasTag = (tag: Ticket["tags"][number]) => now.tags.some(({ id }) => id === tag.id)
  return (
    changedSince(fields, now, fields).length === 0 &&
    (category === undefined || now.status.category === category) &&
    (addTag === undefined || hasTag(addTag)) &&
    (removeTag === undefined || !hasTag(removeTag))
  )
}
