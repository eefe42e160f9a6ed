import type { CreateTicket } from "@delivery/domain/planning/Ticket"
import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, tellFailure } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { TextArea } from "../ui/Field.tsx"
import { counted } from "../ui/format.ts"
import { toast, undone } from "../ui/toast.ts"
import { keepTeam } from "./lastTeam.ts"
import type { Likely } from "./likely.ts"
import { mostPasted, type Pasted, ticketsOf } from "./pasted.ts"
import { ticketsKey } from "./queries.ts"
import { readTicketsAgain } from "./readTicketsAgain.ts"
import { TicketFieldsView } from "./TicketFieldsView.tsx"
import { none, payloadOf, useTicketFields } from "./useTicketFields.ts"

interface Props {
  readonly slug: string
  /** What they are likely to be of. */
  readonly likely: Likely
  /** What stands in the list to begin with. */
  readonly text?: string
  readonly onClose: () => void
}

/** Makes them one after the other, in their order. Tells which are left where one is refused. */
const makeEach = async (
  tickets: ReadonlyArray<Pasted>,
  fields: Omit<CreateTicket, "title">,
  slug: string,
  onRefused: (rest: ReadonlyArray<Pasted>) => void
): Promise<ReadonlyArray<string>> => {
  const made: Array<string> = []
  for (const [index, { description, title }] of tickets.entries()) {
    const words = description === "" ? { title } : { title, description }
    try {
      // oxlint-disable-next-line no-await-in-loop -- their numbers follow the list
      const { identifier } = await client.tickets.create({ params: { slug }, payload: { ...fields, ...words } })
      made.push(identifier)
    } catch (error) {
      onRefused(tickets.slice(index))
      const failure = failureOf(error)
      throw index === 0 ? error : { ...failure, message: `${counted(index, "ticket")} made. ${failure.message}` }
    }
  }
  return made
}

/** Deletes those that were made, the last one first. */
const useUnmake = (slug: string) => {
  const queries = useQueryClient()
  return async (made: ReadonlyArray<string>): Promise<void> => {
    try {
      for (const ticket of made.toReversed()) {
        // oxlint-disable-next-line no-await-in-loop -- one that is refused stops the others
        await client.tickets.delete({ params: { slug, ticket } })
      }
      toast({ title: `${counted(made.length, "ticket")} deleted` })
    } catch (error) {
      tellFailure("Not all of the tickets could be deleted", error)
    } finally {
      void readTicketsAgain(queries, slug)()
    }
  }
}

/** What becomes of the lines, before it does. */
const Outcome = ({ tickets }: { readonly tickets: ReadonlyArray<Pasted> }) => {
  const described = tickets.filter(({ description }) => description !== "").length
  const long = tickets.filter(({ isTooLong }) => isTooLong).length
  return (
    <div role="status">
      {described > 0 && <p className="text-muted">{counted(described, "ticket")} with a description.</p>}
      {long > 0 && (
        <p className="text-warning">
          {long === 1 ? "1 title is" : `${long} titles are`} longer than 200 characters: the rest goes into the
          description.
        </p>
      )}
    </div>
  )
}

/** A ticket for each line of a list. Those that were refused stay in the field. */
const PasteTickets = ({ likely, onClose, slug, text: pasted = "" }: Props) => {
  const queries = useQueryClient()
  const fields = useTicketFields(slug, likely)
  const { team } = fields.shown
  const unmake = useUnmake(slug)
  const [text, setText] = useState(pasted)
  const tickets = ticketsOf(text)
  const make = useAction({
    act: () =>
      makeEach(tickets, payloadOf(fields), slug, (rest) => {
        // What is done is not done again.
        setText(rest.map(({ source }) => source).join("\n"))
        void queries.invalidateQueries({ queryKey: ticketsKey(slug) })
      }),
    changes: [ticketsKey(slug), workspaceKey(slug, "projects")],
    done: (made) => ({
      title: `${counted(made.length, "ticket")} created`,
      tone: "success",
      undo: () => undone(unmake(made))
    }),
    onDone: () => {
      keepTeam(slug, team)
      onClose()
    }
  })
  return (
    <FormDialog
      action={tickets.length === 0 ? "Create tickets" : `Create ${counted(tickets.length, "ticket")}`}
      doing={make}
      isReady={tickets.length <= mostPasted}
      isWaiting={fields.isLoading}
      missing={[...(tickets.length === 0 ? ["a title"] : []), ...(team === none ? ["a team"] : [])]}
      onClose={onClose}
      title="Tickets from a list"
    >
      <TextArea
        autoFocus
        hint="A line is a ticket, and what is indented below it its description. Bullets, numbers and boxes at the start of a line are left out."
        issue={tickets.length > mostPasted ? `At most ${mostPasted} at once.` : undefined}
        label="Titles"
        onChange={(event) => setText(event.target.value)}
        rows={10}
        value={text}
      />
      <Outcome tickets={tickets} />
      <TicketFieldsView fields={fields} slug={slug} />
    </FormDialog>
  )
}

export default PasteTickets
