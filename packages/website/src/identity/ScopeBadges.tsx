import type { Scope } from "@delivery/domain/Scope"
import { Badge } from "../ui/Badge.tsx"

/** What a key is limited to; null: nothing. */
export const ScopeBadges = ({ scopes }: { readonly scopes: ReadonlyArray<Scope> | null }) => (
  <span className="flex flex-wrap gap-1">
    {scopes === null ? <Badge>all scopes</Badge> : scopes.map((scope) => <Badge key={scope}>{scope}</Badge>)}
  </span>
)
