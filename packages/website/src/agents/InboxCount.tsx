import { formatCount } from "../ui/format.ts"
import { useNotices } from "./useNotices.ts"

/** How much is unread, beside the inbox in the sidebar. */
const InboxCount = ({ slug }: { readonly slug: string }) => {
  const { unread } = useNotices(slug)
  return unread.length === 0 ? null : (
    <span className="tabular ml-auto text-xs">
      {formatCount(unread.length)}
      <span className="sr-only"> unread</span>
    </span>
  )
}

export default InboxCount
