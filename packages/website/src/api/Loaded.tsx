import type { ReactNode } from "react"
import { SkeletonRows } from "../ui/States.tsx"
import { FailureView } from "./FailureView.tsx"
import { failureOf } from "./failures.ts"

interface Props<A> {
  readonly query: { readonly data: A | undefined; readonly error: unknown; readonly refetch: () => unknown }
  /** How many rows stand for what comes. */
  readonly rows: number
  /** Whether they have two lines on narrow screens. */
  readonly isTall?: boolean
  readonly children: (data: NonNullable<A>) => ReactNode
}

/** Whether what was read is not there any more, though it is still known what it was. */
export const isGone = (error: unknown): boolean => error !== null && failureOf(error)._tag === "NotFound"

/** What a query answers; until then its skeleton, or why there is nothing. */
export const Loaded = <A,>({ children, isTall, query, rows }: Props<A>) => {
  if (query.data !== undefined && query.data !== null && !isGone(query.error)) return children(query.data)
  if (query.error !== null) return <FailureView error={query.error} onRetry={() => void query.refetch()} />
  return <SkeletonRows isTall={isTall} rows={rows} />
}
