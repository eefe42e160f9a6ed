import { useQuery } from "@tanstack/react-query"
import { useMemo, useState } from "react"
import { actorName } from "../api/actors.ts"
import { useMe } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { CopyButton } from "../ui/Copy.tsx"
import { Time } from "../ui/Time.tsx"
import { historyQuery } from "./activityQueries.ts"
import { changedComment, draftsAbout, forgetDraft } from "./drafts.ts"

interface Props {
  readonly slug: string
  /** As the address has it. */
  readonly ticket: string
  /** Its id, where it was seen before it was gone. */
  readonly id: string | undefined
}

/** Who deleted the ticket, and what the person had typed about it: that can still be copied. */
const GoneTicket = ({ id, slug, ticket }: Props) => {
  const me = useMe()?.id ?? ""
  const [discarded, setDiscarded] = useState<ReadonlyArray<string>>([])
  // Who the person is may come after what is shown.
  const all = useMemo(() => draftsAbout(me, ticket), [me, ticket])
  const drafts = all.filter(({ name }) => !discarded.includes(name))
  const subject = id ?? drafts.find(({ what }) => what !== changedComment)?.id
  const { data } = useQuery({
    ...historyQuery(slug, subject ?? ""),
    enabled: subject !== undefined,
    refetchOnMount: "always"
  })
  const deleted = data?.events.find(({ kind }) => kind === "ticket_deleted")
  const discard = (name: string) => {
    forgetDraft(name)
    setDiscarded([...discarded, name])
  }
  return (
    <div className="mx-auto flex max-w-200 flex-col gap-4 px-4 pb-8">
      {deleted !== undefined && (
        <p role="status">
          <span className="foreign">{actorName(deleted.actor)}</span> deleted {ticket} <Time at={deleted.createdAt} />.
        </p>
      )}
      {drafts.map(({ name, text, what }) => (
        <section aria-label={`Your ${what}`} className="border-border rounded-md border" key={name}>
          <div className="border-border flex min-h-9 items-center gap-2 border-b px-3">
            <h2 className="text-muted flex-1 text-xs font-medium">Your {what}, which was not sent</h2>
            <CopyButton label={`Copy your ${what}`} text={text} />
            <Button look="quiet" onClick={() => discard(name)}>
              Discard
            </Button>
          </div>
          <pre className="foreign px-3 py-2 whitespace-pre-wrap">{text}</pre>
        </section>
      ))}
    </div>
  )
}

export default GoneTicket
