import { useQuery } from "@tanstack/react-query"
import { Loaded } from "../api/Loaded.tsx"
import { Facts } from "../ui/Facts.tsx"
import { later } from "../ui/later.tsx"
import { CategoryMark } from "./CategoryMark.tsx"
import { useOwnerNames } from "./ownerNames.ts"
import { ticketQuery, TicketContext } from "./queries.ts"

const Markdown = later(() => import("./TicketMarkdown.tsx"))

/** What a ticket is about, beside the list. */
const TicketPeek = ({ slug, ticket: identifier }: { readonly slug: string; readonly ticket: string }) => {
  const query = useQuery(ticketQuery(slug, identifier))
  const ownerOf = useOwnerNames(slug)
  return (
    <Loaded query={query} rows={6}>
      {(ticket) => {
        const [owner, tone] = ownerOf(ticket.owner)
        return (
          <>
            <h2 className="text-md foreign py-3 pr-12 pl-4 font-semibold">{ticket.title}</h2>
            <Facts
              facts={[
                ["Status", <CategoryMark isNameShown key="status" status={ticket.status} />],
                [
                  "Owner",
                  <span className={tone} key="owner">
                    {owner || "Nobody"}
                  </span>
                ],
                ...(ticket.project === null ? [] : [["Project", ticket.project.name] as const]),
                ...(ticket.milestone === null ? [] : [["Milestone", ticket.milestone.name] as const])
              ]}
            />
            <div className="flex flex-col gap-4 px-4 py-3">
              <TicketContext value={{ slug, ticket: identifier, mayAttach: false }}>
                <Markdown text={ticket.description ?? "*No description.*"} />
                {ticket.plan !== null && (
                  <section aria-label="Plan">
                    <h3 className="text-muted pb-1 text-xs font-medium">Plan</h3>
                    <Markdown text={ticket.plan} />
                  </section>
                )}
              </TicketContext>
            </div>
          </>
        )
      }}
    </Loaded>
  )
}

export default TicketPeek
