import { Link } from "@tanstack/react-router"
import { counted as counts } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { useApprovals } from "./useApprovals.ts"
import { useNotices } from "./useNotices.ts"

interface Props {
  readonly slug: string
  /** A number in the sidebar unless told; a dot where that is collapsed, and a link where it is away. */
  readonly look?: "dot" | "link" | undefined
}

/** How much is unread, and how many approvals wait for the person. */
const InboxCount = ({ look, slug }: Props) => {
  const { count, counted } = useNotices(slug)
  const approvals = useApprovals(slug).length
  if (count + approvals === 0) return null
  if (look === "dot") return <span className="bg-accent-fill absolute top-1 right-1 size-1.5 rounded-full" />
  const shown = (
    <span className="tabular ml-auto text-xs">
      {approvals === 0 ? counted : count + approvals}
      <span className="sr-only">
        {" "}
        {approvals === 0 ? "unread" : `waiting: ${counted} unread, ${counts(approvals, "approval")}`}
      </span>
    </span>
  )
  if (look === undefined) return shown
  return (
    <Link
      className="text-accent hover:bg-hover inline-flex h-7 items-center gap-1 rounded-md px-1.5 font-medium"
      params={{ slug }}
      to="/w/$slug/inbox"
    >
      <Icon name="inbox" />
      <span className="sr-only">Inbox </span>
      {shown}
    </Link>
  )
}

export default InboxCount
