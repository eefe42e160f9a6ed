import { confirmText } from "./failures.ts"
import { confirmPath } from "./session.ts"
import { buttonClass } from "../ui/Button.tsx"

/** Leads to a proof of who one is, in another tab: what is typed here stays. */
export const ConfirmLink = ({ look = "plain" }: { readonly look?: "plain" | "primary" }) => (
  <a className={buttonClass(look)} href={confirmPath()} rel="noopener" target="_blank">
    {confirmText}
  </a>
)
