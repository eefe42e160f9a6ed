import { useQuery } from "@tanstack/react-query"
import { useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { later } from "../ui/later.tsx"
import { type Likely, likelyOf } from "./likely.ts"
import NewTicketDialog from "./NewTicketDialog.tsx"
import { ticketQuery, viewQuery } from "./queries.ts"
import { inScope, searchOf } from "./viewFilters.ts"

const PasteTickets = later(() => import("./PasteTickets.tsx"))

interface Props {
  readonly slug: string
  /** Several of them, a line each. */
  readonly isList: boolean
  readonly onClose: () => void
}

/** What is looked at: the filters of a list, a view, a project, or a ticket of the same team. */
const useLikely = (slug: string): Likely => {
  const { project, ticket, view } = useParams({ strict: false })
  const { own, ...search } = useSearch({ strict: false })
  const { data: ofView } = useQuery({ ...viewQuery(slug, view ?? ""), enabled: view !== undefined })
  const { data: ofTicket } = useQuery({ ...ticketQuery(slug, ticket ?? ""), enabled: ticket !== undefined })
  if (project !== undefined) return { project }
  if (ofTicket !== undefined) return { team: ofTicket.team.key }
  if (ofView === undefined) return likelyOf(search)
  return likelyOf({ ...(own === true ? {} : searchOf(ofView)), ...inScope(ofView.scope), ...search })
}

/** A new ticket, or several, of what is looked at. */
const NewTicketHere = ({ isList, ...props }: Props) => {
  const likely = useLikely(props.slug)
  const [list, setList] = useState(isList ? "" : undefined)
  return list === undefined ? (
    <NewTicketDialog {...props} likely={likely} onList={setList} />
  ) : (
    <PasteTickets {...props} likely={likely} text={list} />
  )
}

export default NewTicketHere
