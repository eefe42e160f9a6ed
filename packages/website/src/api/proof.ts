import { queryOptions, useQuery } from "@tanstack/react-query"
import { client } from "./client.ts"

/** The session of this page, with its person, and whether it may do what needs a proof of who they are that is new. */

export const sessionQuery = queryOptions({
  queryKey: ["sign-in", "session"],
  queryFn: ({ signal }) => client.auth.session({}, { signal })
})

/** The longest that timers of browsers wait. */
const mostMillis = 2 ** 31 - 1

/** As it is by now: it is read again when its proof is old, and when the person comes back from another tab. */
export const currentSessionQuery = {
  ...sessionQuery,
  staleTime: 0,
  refetchOnWindowFocus: "always",
  refetchInterval: ({
    state: { data }
  }: {
    readonly state: { readonly data: Session | undefined }
  }): number | false => {
    const until = data?.session.sudoUntil ?? null
    return until !== null && Math.min(Math.max(Date.parse(until) - Date.now() + 100, 1_000), mostMillis)
  }
} as const

type Session = Awaited<ReturnType<typeof client.auth.session>>

/** When it was read whether there is such a proof; undefined until it is known. */
export const useProof = (isAsked: boolean): { readonly isFresh: boolean; readonly readAt: number } | undefined => {
  const { data, dataUpdatedAt } = useQuery({ ...currentSessionQuery, enabled: isAsked })
  return data === undefined ? undefined : { isFresh: data.session.sudoUntil !== null, readAt: dataUpdatedAt }
}
