import { OneOf } from "./Text.ts"
import type { Timestamp } from "./Timestamp.ts"

/** The filter `archived` of a list. */
export const Archived = OneOf(["exclude", "include", "only"]).annotate({
  description:
    "Whether the list leaves archived objects out (`exclude`), includes them (`include`), or lists only them (`only`).",
  default: "exclude"
})
export type Archived = typeof Archived.Type

/** Whether a list with this filter contains the object. */
export const isListed =
  (archived: Archived) =>
  ({ archivedAt }: { readonly archivedAt: Timestamp | null }): boolean =>
    archived === "include" || (archived === "only") === (archivedAt !== null)
