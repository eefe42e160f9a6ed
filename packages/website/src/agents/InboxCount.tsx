import { useNotices } from "./useNotices.ts"

/** How much is unread, beside the inbox in the sidebar. */
const InboxCount = ({ slug }: { readonly slug: string }) => {
  const { count, counted } = useNotices(slug)
  return count === 0 ? null : (
    <span className="tabular ml-auto text-xs">
      {counted}
      <span className="sr-only"> unread</span>
    </span>
  )
}

export default InboxCount
