import { Link } from "@tanstack/react-router"
import { Section } from "../ui/Section.tsx"
import { Time } from "../ui/Time.tsx"
import { lineOf } from "./inbox.ts"
import { useNotices } from "./useNotices.ts"

/** What waits for the person: the newest of what is unread. */

const most = 5

const Waiting = ({ slug }: { readonly slug: string }) => {
  const { counted, notices } = useNotices(slug)
  if (notices.length === 0) return null
  return (
    <Section
      actions={
        <Link className="text-muted hover:underline" params={{ slug }} to="/w/$slug/inbox">
          Inbox ({counted})
        </Link>
      }
      isFlush
      title="Waiting for you"
    >
      {notices.slice(0, most).map((one) => (
        <Link
          className="border-border hover:bg-hover flex h-(--row) items-center gap-3 border-b px-4"
          hash={one.at ?? ""}
          key={one.id}
          params={{ slug, ticket: one.ticket.identifier }}
          to="/w/$slug/tickets/$ticket"
        >
          <span className="bg-accent-fill size-2 shrink-0 rounded-full" />
          <span className="shrink-0 font-medium max-sm:min-w-0 max-sm:shrink max-sm:truncate">{one.what}</span>
          <span className="text-muted tabular shrink-0">{one.ticket.identifier}</span>
          <span className="text-muted foreign min-w-0 flex-1 truncate max-sm:hidden">{lineOf(one.said)}</span>
          <span className="text-muted max-sm:ml-auto">
            <Time at={one.createdAt} />
          </span>
        </Link>
      ))}
    </Section>
  )
}

export default Waiting
