import type { Archived } from "@delivery/domain/Doc"
import { Conflict } from "@delivery/domain/Errors"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect } from "effect"

/** Whether a list with this `archived` parameter holds the object. */
export const isListed =
  (archived: Archived) =>
  (object: { readonly archivedAt: Timestamp | null }): boolean =>
    archived === "include" || (archived === "only") === (object.archivedAt !== null)

/** What a unique violation of a slug means. */
export const slugInUse = (slug: string) => () =>
  Effect.fail(new Conflict({ message: `The slug "${slug}" is already in use.`, reason: "slug_in_use" }))
