import { queryOptions, useQuery } from "@tanstack/react-query"
import { useSyncExternalStore } from "react"
import { callAs, client } from "./client.ts"

/** Who is signed in, and what happens when they no longer are. */

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal }) => {
    const me = await client.me.get({}, { signal })
    callAs(me.id)
    return me
  },
  staleTime: 60_000,
  // Another tab may have signed somebody else in meanwhile.
  refetchOnWindowFocus: "always"
})

/** The person; undefined until it is known. */
export const useMe = () => useQuery(meQuery).data

/** What the person may do in the workspace. */
export const useRole = (slug: string) => useMe()?.workspaces.find((one) => one.slug === slug)?.role

const ranks = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Whether a role may do what needs another one. Unknown roles may nothing; the server decides in any case. */
export const mayAct = (role: keyof typeof ranks | undefined, least: keyof typeof ranks): boolean =>
  role !== undefined && ranks[role] >= ranks[least]

let isOver = false
const listeners = new Set<() => void>()

const setOver = (next: boolean): void => {
  isOver = next
  for (const listener of listeners) listener()
}

export const endSession = (): void => setOver(true)

/** Somebody says that they are signed in again. The next refusal says otherwise. */
export const resumeSession = (): void => setOver(false)

export const isSessionOver = (): boolean => isOver

/** Calls it when the session ends, and when it goes on. Answers what ends that. */
export const onSession = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useIsSessionOver = (): boolean => useSyncExternalStore(onSession, isSessionOver)

/** The page where one signs in and comes back from to this place. */
export const signInPath = (): string =>
  `/sign-in?returnTo=${encodeURIComponent(location.pathname + location.search + location.hash)}`

/** The page where whoever is signed in proves again who they are, and comes back from to this place. */
export const confirmPath = (): string => `${signInPath()}&confirm`
