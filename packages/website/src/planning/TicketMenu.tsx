import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../api/client.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { IconButton } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { counted } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { attachmentsQuery } from "./attachmentQueries.ts"
import { copyText } from "../ui/copyText.ts"
import { branchOf } from "./branch.ts"
import { ticketsKey } from "./queries.ts"

const SureDialog = later(() => import("../api/SureDialog.tsx"))
const TicketHistory = later(() => import("./TicketHistory.tsx"))

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
  readonly onRename: () => void
}

/** What else is done with a ticket. */
const TicketMenu = ({ mayChange, onRename, slug, ticket }: Props) => {
  const [isSure, setSure] = useState(false)
  const [hasHistory, setHistory] = useState(false)
  const navigate = useNavigate()
  const me = useMe()?.id
  const role = useRole(slug)
  const { createdBy, identifier, title, url } = ticket
  const { data } = useQuery({ ...attachmentsQuery(slug, identifier), enabled: isSure })
  const files = data?.attachments.length ?? 0
  const isMine =
    (createdBy.kind === "user" && createdBy.id === me) || (createdBy.kind === "agent" && createdBy.person.id === me)
  const mayDelete = mayAct(role, "admin") || (isMine && mayAct(role, "member"))
  const remove = useAction({
    act: () => client.tickets.delete({ params: { slug, ticket: identifier } }),
    changes: [ticketsKey(slug)],
    done: () => ({ title: `${identifier} was deleted` }),
    onDone: () => void navigate({ to: "/w/$slug/tickets", params: { slug } })
  })
  useKeys([
    { keys: "y", label: "Copy the identifier", group: "Ticket", run: () => copyText(identifier, "Identifier") },
    {
      keys: "b",
      label: "Copy a name for its branch",
      group: "Ticket",
      run: () => copyText(branchOf(ticket), "Branch")
    },
    { keys: "h", label: "History of the texts", group: "Ticket", run: () => setHistory(true) }
  ])
  return (
    <>
      <Menu
        groups={[
          ...(mayChange ? [{ items: [{ label: "Rename", shortcut: "r", onSelect: onRename }] }] : []),
          {
            items: [
              { label: "Copy the identifier", shortcut: "y", onSelect: () => copyText(identifier, "Identifier") },
              { label: "Copy the link", onSelect: () => copyText(url, "Link") },
              {
                label: "Copy a name for its branch",
                shortcut: "b",
                onSelect: () => copyText(branchOf(ticket), "Branch")
              }
            ]
          },
          { items: [{ label: "History", shortcut: "h", onSelect: () => setHistory(true) }] },
          ...(mayDelete ? [{ items: [{ label: "Delete", isDangerous: true, onSelect: () => setSure(true) }] }] : [])
        ]}
        label={identifier}
        trigger={(props) => <IconButton {...props} icon="more" label="More" />}
      />
      {hasHistory && (
        <TicketHistory mayChange={mayChange} onClose={() => setHistory(false)} slug={slug} ticket={ticket} />
      )}
      {isSure && (
        <SureDialog action="Delete" doing={remove} onClose={() => setSure(false)} title={`Delete ${identifier}?`}>
          <p className="foreign font-medium">{title}</p>
          <p>
            Its comments{files === 0 ? "" : ` and ${counted(files, "file")}`} go with it, and its identifier is never
            used again. It cannot be brought back.
          </p>
        </SureDialog>
      )}
    </>
  )
}

export default TicketMenu
