import { useEffect, useState } from "react"
import { queryClient } from "../api/queries.ts"
import { meQuery, signInPath, useIsSessionOver } from "../api/session.ts"
import { later, loadWaiting } from "../ui/later.tsx"

const SessionOver = later(() => import("./SessionOver.tsx"))
const HeaderHeight = later(() => import("../ui/HeaderHeight.tsx"))
const Tips = later(() => import("../ui/Tips.tsx"))
const Toasts = later(() => import("../ui/Toasts.tsx"))

/** What every page has, once it has come to rest: the end of the session, toasts and tooltips over it, and the height of its header. */
export const SessionGuard = () => {
  const isOver = useIsSessionOver()
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      loadWaiting()
      setIdle(true)
    }, 800)
    return () => clearTimeout(timer)
  }, [])
  const wasSignedIn = queryClient.getQueryData(meQuery.queryKey) !== undefined
  useEffect(() => {
    // Nobody was signed in: there is nothing to lose on this page.
    if (isOver && !wasSignedIn) location.replace(signInPath())
  }, [isOver, wasSignedIn])
  return (
    <>
      {isOver && wasSignedIn && <SessionOver />}
      {isIdle && (
        <>
          <Toasts />
          <Tips />
          <HeaderHeight />
        </>
      )}
    </>
  )
}
