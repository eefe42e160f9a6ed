import type { ReleaseReadiness } from "./ReleaseReadiness.ts"

/** What kept a release back, in words: `run failed, ticket blocks (2)`. */
export const keptBackBy = ({ reasons }: ReleaseReadiness): string =>
  reasons.map(({ count, kind }) => `${kind.replaceAll("_", " ")}${count === 1 ? "" : ` (${count})`}`).join(", ")
