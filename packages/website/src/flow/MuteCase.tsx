import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useRef, useState } from "react"
import { mayAct, useRole } from "../api/session.ts"
import { caseQuery } from "../runs/queries.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { MuteEnd } from "./MuteEnd.tsx"
import { mutesQuery } from "./queries.ts"
import { UnmuteButton } from "./UnmuteButton.tsx"
import { useUnmute } from "./useUnmute.ts"

const MuteDialog = later(() => import("./MuteDialog.tsx"))

interface Props {
  readonly slug: string
  readonly product: string
  readonly caseId: string
  readonly title: string
}

interface TicketLinkProps {
  readonly slug: string
  readonly ticket: { readonly identifier: string; readonly title: string }
}

const TicketLink = ({ slug, ticket: { identifier, title } }: TicketLinkProps) => (
  <Link
    className="text-text foreign max-w-80 min-w-0 truncate underline"
    params={{ slug, ticket: identifier }}
    title={title}
    to="/w/$slug/tickets/$ticket"
  >
    {identifier} {title}
  </Link>
)

/** Which ticket is about a test, whether it is muted, by what and until when; and what mutes it. */
const MuteCase = ({ caseId, product, slug, title }: Props) => {
  const { data } = useQuery(caseQuery(slug, product, caseId))
  const mayMute = mayAct(useRole(slug), "member")
  const [isOpen, setOpen] = useState(false)
  const open = () => setOpen(true)
  const button = useRef<HTMLButtonElement>(null)
  const openByKey = () => {
    // The dialog gives the keyboard back to it.
    button.current?.focus()
    open()
  }
  useKeys(mayMute ? [{ keys: "m", label: "Mute the test", group: "Test", run: openByKey }] : [])
  const muted = data?.muted ?? null
  const about = data?.ticket ?? null
  const { data: mutes } = useQuery(mutesQuery(slug, product))
  const muting = mutes?.mutes.find(
    ({ cases, overdue, ticket }) =>
      !overdue && ticket !== null && ticket.identifier === muted?.ticket && cases.includes(caseId)
  )
  const unmute = useUnmute(slug)
  const late = mutes?.mutes.find(({ cases, overdue }) => overdue && cases.includes(caseId))
  return (
    <>
      {muted !== null && (
        <span className="text-muted inline-flex min-h-7 flex-wrap items-center gap-1.5">
          <Badge title="Its failures do not count in runs that start now">muted</Badge>
          {muted.ticket === null ? (
            "by a ticket of a private team"
          ) : (
            <>
              by
              <Link
                className="text-text underline"
                params={{ slug, ticket: muted.ticket }}
                to="/w/$slug/tickets/$ticket"
              >
                {muted.ticket}
              </Link>
            </>
          )}
          <MuteEnd until={muted.until} />
        </span>
      )}
      {muted === null && late !== undefined && (
        <span className="text-warning inline-flex min-h-7 flex-wrap items-center gap-1.5">
          <Badge title="Its time has passed, and its ticket is still open: nothing else puts it away" tone="warning">
            overdue
          </Badge>
          <span>
            its mute <MuteEnd until={late.until} />
          </span>
          {late.ticket !== null && <TicketLink slug={slug} ticket={late.ticket} />}
          <span className="text-muted">Complete the ticket, or mute the test again.</span>
        </span>
      )}
      {about !== null && about.identifier !== muted?.ticket && about.identifier !== late?.ticket?.identifier && (
        <span className="text-muted inline-flex min-h-7 min-w-0 items-center gap-1.5">
          Open ticket: <TicketLink slug={slug} ticket={about} />
        </span>
      )}
      {mayMute && muting !== undefined && (
        <UnmuteButton isBusy={unmute.isPending} onClick={() => unmute.mutate({ was: muting, gone: [caseId] })} />
      )}
      {mayMute && (
        <Button onClick={open} ref={button} shortcut="m">
          {muted === null ? "Mute…" : "Mute again…"}
        </Button>
      )}
      {isOpen && (
        <MuteDialog
          cases={[{ caseId, title }]}
          onClose={() => setOpen(false)}
          product={{ slug: product, name: product }}
          slug={slug}
        />
      )}
    </>
  )
}

export default MuteCase
