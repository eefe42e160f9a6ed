import { counted as counts } from "../ui/format.ts"
import { useApprovals } from "./useApprovals.ts"
import { useNotices } from "./useNotices.ts"

/** How much is unread, and how many approvals wait for the person, beside the inbox in the sidebar. */
const InboxCount = ({ slug }: { readonly slug: string }) => {
  const { count, counted } = useNotices(slug)
  const approvals = useApprovals(slug).length
  return count + approvals === 0 ? null : (
    <span className="tabular ml-auto text-xs">
      {approvals === 0 ? counted : count + approvals}
      <span className="sr-only">
        {" "}
        {approvals === 0 ? "unread" : `waiting: ${counted} unread, ${counts(approvals, "approval")}`}
      </span>
    </span>
  )
}

export default InboxCount
