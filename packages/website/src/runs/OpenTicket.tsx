import type { RunErrors } from "@delivery/domain/runs/Case"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { membersQuery } from "../identity/queries.ts"
import { useOwnerNames } from "../planning/ownerNames.ts"
import { agentsQuery, ticketQuery } from "../planning/queries.ts"
import { runErrorsQuery } from "./queries.ts"

type Found = NonNullable<RunErrors["errors"][number]["cases"][number]["ticket"]>

interface Props {
  readonly slug: string
  readonly run: number
  readonly caseId: string
}

/** Its owner is read where there is one: most rows have no ticket. */
const Ticket = ({ found, slug }: { readonly found: Found; readonly slug: string }) => {
  const { data: ticket } = useQuery(ticketQuery(slug, found.identifier))
  // Who they are, and whether they are still there.
  const enabled = ticket !== undefined && ticket.owner !== null
  useQuery({ ...membersQuery(slug), enabled })
  useQuery({ ...agentsQuery(slug), enabled })
  const ownerOf = useOwnerNames(slug)
  const [owner, tone] = ticket === undefined ? [] : ownerOf(ticket.owner)
  return (
    <span className="text-muted mr-auto flex min-w-0 items-center gap-1 pr-1.5 pl-3 text-xs whitespace-nowrap">
      <Link
        className="text-text hover:underline"
        params={{ slug, ticket: found.identifier }}
        title={found.title}
        to="/w/$slug/tickets/$ticket"
      >
        {found.identifier}
      </Link>
      {owner !== undefined && (
        <span className={`foreign max-w-40 truncate max-sm:hidden ${tone}`}>{owner || "nobody’s"}</span>
      )}
    </span>
  )
}

/** Who looks after a test that fails: its open ticket, and whose that is. All rows share what is read once. */
export const OpenTicket = ({ caseId, run, slug }: Props) => {
  const { data } = useQuery(runErrorsQuery(slug, run))
  const found = data?.errors.flatMap(({ cases }) => cases).find((one) => one.caseId === caseId)?.ticket
  return found == null ? null : <Ticket found={found} slug={slug} />
}
