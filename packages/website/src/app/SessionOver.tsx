import { resumeSession, signInPath } from "../api/session.ts"
import { buttonClass } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"

/** The session has ended, or become another person's, while the page was open. What was typed stays behind it. */
const SessionOver = () => (
  <Dialog
    actions={
      <>
        <a className={buttonClass("plain")} href={signInPath()} rel="noopener" target="_blank">
          Sign in in a new tab
        </a>
        <a className={buttonClass("primary")} href={signInPath()}>
          Sign in
        </a>
      </>
    }
    description="It has ended, or somebody else has signed in with this browser. Sign in, and you come back to this place."
    isPersistent
    onClose={resumeSession}
    title="Your session is over"
  >
    <p className="text-muted">
      If you have typed something here, sign in as the same person in a new tab, then close this dialog: a page that is
      loaded again has forgotten it.
    </p>
  </Dialog>
)

export default SessionOver
