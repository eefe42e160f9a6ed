import { useEffect } from "react"
import { queryClient } from "../api/queries.ts"
import { meQuery, resumeSession, signInPath } from "../api/session.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"

/** The session has ended, or become another person's, while the page was open. What was typed stays behind it. */

/** The keyboard begins at the way that loses nothing. */
const focus = (link: HTMLElement | null) => link?.focus()

/** Closes the dialog for whoever comes back from a tab in which they have signed in. */
const useBack = () =>
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== "visible") return
      const resume = () => {
        resumeSession()
        void queryClient.invalidateQueries()
      }
      queryClient.fetchQuery({ ...meQuery, staleTime: 0 }).then(resume, () => undefined)
    }
    addEventListener("focus", look)
    document.addEventListener("visibilitychange", look)
    return () => {
      removeEventListener("focus", look)
      document.removeEventListener("visibilitychange", look)
    }
  }, [])

const SessionOver = () => {
  useBack()
  return (
    <Dialog
      actions={
        <>
          <a className={buttonClass("plain")} href={signInPath()}>
            Sign in here
          </a>
          <a className={buttonClass("primary")} href={signInPath()} ref={focus} rel="noopener" target="_blank">
            Sign in in a new tab
          </a>
        </>
      }
      description="It has ended, or somebody else has signed in with this browser. What was about to be saved was not."
      isPersistent
      onClose={resumeSession}
      title="Your session is over"
    >
      <div className="flex flex-col gap-2">
        <p>Sign in as the same person in a new tab, and come back: what you have typed is still here.</p>
        <p className="text-muted">
          This browser also keeps comments, descriptions, documents and new tickets that you have begun: they are here
          again after you sign in in this tab. It keeps no other form.
        </p>
      </div>
    </Dialog>
  )
}

export default SessionOver
