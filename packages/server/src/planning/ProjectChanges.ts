import type { Change } from "@delivery/domain/events/Event"
import type { ProjectProduct } from "@delivery/domain/planning/Project"
import { firstCharacters, fits } from "@delivery/domain/Text"
import { changesBetween } from "../events/Events.ts"
import type { ProjectRow } from "./ProjectsRepo.ts"

/** The changes of a project in the event of an update. */

type Described = Pick<ProjectRow, "slug" | "name" | "summary" | "status" | "targetDate" | "document"> & {
  readonly lead: { readonly email: string } | null
  readonly products: ReadonlyArray<ProjectProduct>
}

/** The changes of an event. Long texts are cut. Teams are not among them: they have events of their own. */
export const projectChanges = (before: Described, after: Described): ReadonlyArray<Change> =>
  changesBetween(
    describe(before),
    describe(after),
    "slug",
    "name",
    "summary",
    "status",
    "lead",
    "targetDate",
    "products",
    "document"
  ).map(shorten)

const describe = (project: Described) => ({
  ...project,
  lead: project.lead?.email ?? null,
  products:
    project.products
      .map(({ slug }) => slug)
      .toSorted()
      .join(", ") || null
})

/** Characters of the longest text in an event's change. */
const maxLength = 200

const shorten = ({ field, from, to }: Change): Change => {
  const short = (text: string | null) =>
    text === null || fits(text, maxLength) ? text : `${firstCharacters(text, maxLength - 1)}…`
  return { field, from: short(from), to: short(to) }
}

/** What is added and removed when `next`, if given, replaces `current`. */
export const changedLinks = <Current extends { readonly id: string }, Next extends { readonly id: string }>(
  current: ReadonlyArray<Current>,
  next: ReadonlyArray<Next> | undefined
): { readonly added: ReadonlyArray<Next>; readonly removed: ReadonlyArray<Current> } => {
  if (next === undefined) return { added: [], removed: [] }
  const [before, after] = [new Set(current.map(({ id }) => id)), new Set(next.map(({ id }) => id))]
  return {
    added: next.filter(({ id }) => !before.has(id)),
    removed: current.filter(({ id }) => !after.has(id))
  }
}
