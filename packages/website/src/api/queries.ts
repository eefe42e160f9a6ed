import { type Query, QueryCache, MutationCache, notifyManager, QueryClient } from "@tanstack/react-query"
import { failureOf } from "./failures.ts"
import { endSession } from "./session.ts"

// What is being done is shown before the next key or click is heard, which would do it again.
notifyManager.setScheduler(queueMicrotask)

const lookForEnd = (error: unknown): void => {
  if (failureOf(error)._tag === "Unauthorized") endSession()
}

/** A thing of a workspace that is not there any more: perhaps it is the access of the person. */
const lookForAccess = (error: unknown, { queryKey: [kind] }: Pick<Query, "queryKey">): void => {
  lookForEnd(error)
  if (kind === "w" && failureOf(error)._tag === "NotFound") void queryClient.invalidateQueries({ queryKey: ["me"] })
}

const isRetried = (tries: number, error: unknown): boolean => {
  const { _tag, call } = failureOf(error)
  return tries < 2 && (_tag === "NoAnswer" || _tag === "TooManyRequests" || (call?.status ?? 0) >= 500)
}

/** What was read is shown at once when a screen is seen again, and read anew behind it. It lives in memory alone. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: lookForAccess }),
  mutationCache: new MutationCache({ onError: lookForEnd }),
  defaultOptions: {
    queries: { staleTime: 10_000, gcTime: 15 * 60_000, retry: isRetried, refetchOnWindowFocus: true },
    // One that waited for a network would be made when nobody expects it any more.
    mutations: { retry: false, networkMode: "always" }
  }
})

/** The queries of a workspace begin with its slug; what follows is the kind of object. */
export const workspaceKey = (slug: string, ...rest: ReadonlyArray<unknown>): ReadonlyArray<unknown> => [
  "w",
  slug,
  ...rest
]
