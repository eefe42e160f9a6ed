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
          className="border-border hover:bg-hover two-lines flex h-(--row) items-center gap-3 border-b px-4"
          data-tall
          hash={one.at ?? ""}
          key={one.id}
          params={{ slug, ticket: one.ticket.identifier }}
          to="/w/$slug/tickets/$ticket"
        >
          <span className="bg-accent-fill size-2 shrink-0 rounded-full" />
          <span className="truncate font-medium sm:shrink-0">{one.what}</span>
          <span className="second-line">
            <span className="text-muted tabular shrink-0">{one.ticket.identifier}</span>
            <span className="text-muted foreign min-w-0 flex-1 truncate">{lineOf(one.said)}</span>
            <span className="text-muted">
              <Time at={one.createdAt} />
            </span>
          </span>
        </Link>
      ))}
    </Section>
  )
}

export default Waiting
