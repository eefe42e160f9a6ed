import type { StatusCategory as Category } from "@delivery/domain/planning/TicketStatus"

/** The categories of statuses in the order of a board. */
export const categories = [
  "backlog",
  "unstarted",
  "started",
  "completed",
  "canceled"
] as const satisfies ReadonlyArray<Category>

export const categoryNames: Readonly<Record<Category, string>> = {
  backlog: "Backlog",
  unstarted: "Unstarted",
  started: "Started",
  completed: "Completed",
  canceled: "Canceled"
}
