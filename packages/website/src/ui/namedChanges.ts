import type { Change } from "./Changes.tsx"

/** Fields whose values are slugs of environments of the workspace. */
const environments: ReadonlySet<string> = new Set(["from"])

/** Changes with the names of environments in place of their slugs. Pure. */
export const namedChanges = (
  changes: ReadonlyArray<Change>,
  nameOf: (environment: string) => string
): ReadonlyArray<Change> => {
  const named = (value: string | null) => (value === null ? null : nameOf(value))
  return changes.map((change) =>
    environments.has(change.field) ? { ...change, from: named(change.from), to: named(change.to) } : change
  )
}
