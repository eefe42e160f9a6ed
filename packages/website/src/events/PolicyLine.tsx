import { useEnvironmentName } from "../catalog/useEnvironmentName.ts"
import { type Change, Changes } from "../ui/Changes.tsx"
import { namedChanges } from "../ui/namedChanges.ts"

/** What changed of a readiness policy, with the names of environments. */
const PolicyLine = ({ changes, slug }: { readonly changes: ReadonlyArray<Change>; readonly slug: string }) => (
  <Changes changes={namedChanges(changes, useEnvironmentName(slug))} />
)

export default PolicyLine
