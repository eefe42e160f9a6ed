import { Loaded } from "../api/Loaded.tsx"
import { Empty } from "../ui/States.tsx"
import { useNotices } from "./useNotices.ts"

/** Who was never told of anything learns what the inbox is for. */
const InboxEmpty = ({ slug }: { readonly slug: string }) => {
  const { notices, query } = useNotices(slug, false)
  return (
    <Loaded<unknown> query={query} rows={8}>
      {() =>
        notices.length > 0 ? (
          <Empty icon="check" title="Nothing is unread" />
        ) : (
          <Empty icon="inbox" title="What concerns you comes here">
            Tickets that others assign to you, mentions of you, comments on your tickets, and what agents reply.
          </Empty>
        )
      }
    </Loaded>
  )
}

export default InboxEmpty
