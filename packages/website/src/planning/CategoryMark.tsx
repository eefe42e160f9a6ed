import type { StatusCategory } from "@delivery/domain/planning/TicketStatus"

/** The status of a ticket: a shape by its category, the same everywhere, and its name. */

const colours: Readonly<Record<StatusCategory, string>> = {
  backlog: "text-faint",
  unstarted: "text-muted",
  started: "text-warning",
  completed: "text-success",
  canceled: "text-faint"
}

const Shape = ({ category }: { readonly category: StatusCategory }) => {
  switch (category) {
    case "backlog":
      return <circle cx="8" cy="8" r="5.8" strokeDasharray="1.6 2.05" />
    case "unstarted":
      return <circle cx="8" cy="8" r="5.8" />
    case "started":
      return (
        <>
          <circle cx="8" cy="8" r="5.8" />
          <path d="M8 4.6a3.4 3.4 0 010 6.8z" fill="currentColor" stroke="none" />
        </>
      )
    case "completed":
      return (
        <>
          <circle cx="8" cy="8" fill="currentColor" r="6.5" stroke="none" />
          <path d="M5 8.3l2.1 2.1L11.2 6" stroke="var(--surface)" />
        </>
      )
    case "canceled":
      return (
        <>
          <circle cx="8" cy="8" fill="currentColor" r="6.5" stroke="none" />
          <path d="M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4" stroke="var(--surface)" />
        </>
      )
  }
}

interface Props {
  readonly status: { readonly name: string; readonly category: StatusCategory }
  /** Whether the name stands beside the shape; else a screen reader says it. */
  readonly isNameShown?: boolean
}

export const CategoryMark = ({ isNameShown = false, status: { category, name } }: Props) => (
  <span
    className={`inline-flex min-w-0 items-center gap-1.5 ${isNameShown ? "" : "shrink-0"}`}
    title={isNameShown ? undefined : name}
  >
    <svg
      aria-hidden="true"
      className={`shrink-0 ${colours[category]}`}
      fill="none"
      height="16"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.6"
      viewBox="0 0 16 16"
      width="16"
    >
      <Shape category={category} />
    </svg>
    <span className={isNameShown ? "truncate" : "sr-only"}>{name}</span>
  </span>
)
