import type { Secret, SecretEnvironment } from "@delivery/domain/vault/Secret"

/** New values of several cells, before they are written. They live in the screen alone, and end with it. Pure. */

export interface Place {
  readonly secret: Secret
  readonly cell: SecretEnvironment
}

export interface Draft extends Place {
  /** Null clears. */
  readonly value: string | null
  /** The version that it replaces. */
  readonly version: number
  /** The version that somebody else has written meanwhile. */
  readonly conflict?: number
}

export type Drafts = ReadonlyMap<string, Draft>

export const keyOf = ({ cell, secret }: Place): string => `${secret.id} ${cell.environment.id}`

/** With the new value of a cell; undefined takes it back. */
export const withDraft = (drafts: Drafts, place: Place, value: string | null | undefined): Drafts => {
  const next = new Map(drafts)
  if (value === undefined) next.delete(keyOf(place))
  else next.set(keyOf(place), { ...place, value, version: place.cell.version })
  return next
}

/** What one request writes: the cells of a secret. */
export interface SecretDraft {
  readonly secret: Secret
  readonly drafts: ReadonlyArray<Draft>
}

export const bySecret = (drafts: Drafts): ReadonlyArray<SecretDraft> =>
  [...Map.groupBy(drafts.values(), ({ secret }) => secret.id).values()].map((group) => ({
    secret: group[0]!.secret,
    drafts: group
  }))

/** What is left after a write: cells of refused secrets, where others were first with their version. */
export const afterWrite = (
  drafts: Drafts,
  written: ReadonlySet<string>,
  conflicts: ReadonlyMap<string, Readonly<Record<string, number>>>
): Drafts =>
  new Map(
    [...drafts]
      .filter(([, { secret }]) => !written.has(secret.id))
      .map(([key, draft]) => {
        const conflict = conflicts.get(draft.secret.id)?.[draft.cell.environment.slug]
        return [key, conflict === undefined ? draft : { ...draft, conflict }]
      })
  )

/** The same drafts over what others have written. */
export const overConflicts = (drafts: Drafts): Drafts =>
  new Map(
    [...drafts].map(([key, { conflict, ...draft }]) => [
      key,
      conflict === undefined ? draft : { ...draft, version: conflict }
    ])
  )
