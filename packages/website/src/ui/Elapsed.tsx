import { formatDuration } from "./duration.ts"
import { useNow } from "./Time.tsx"

/** How long something has taken so far. */
export const Elapsed = ({ since }: { readonly since: string }) => {
  useNow(1_000)
  return <span className="tabular">{formatDuration(Math.floor((Date.now() - Date.parse(since)) / 1_000) * 1_000)}</span>
}
