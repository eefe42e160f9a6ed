import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { Suspense, useState } from "react"
import { mayAct, useRole } from "../api/session.ts"
import { withoutUndefined } from "../ui/address.ts"
import { Button } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { isFiltered } from "./filters.ts"
import { TicketsView } from "./TicketsView.tsx"
import { useTickets } from "./useTickets.ts"
import { ViewTabs } from "./ViewTabs.tsx"

/** All tickets that one sees: what is being done, what comes next, and what is mine. */

const NewTicketDialog = later(() => import("./NewTicketDialog.tsx"))
const PasteTickets = later(() => import("./PasteTickets.tsx"))
const SaveView = later(() => import("./SaveView.tsx"))

type Overlay = "new" | "paste" | "save" | undefined

const TicketsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/tickets" })
  const search = useSearch({ from: "/w/$slug/tickets" })
  const navigate = useNavigate({ from: "/w/$slug/tickets" })
  const tickets = useTickets(slug, search, true)
  const mayChange = mayAct(useRole(slug), "member")
  const [overlay, setOverlay] = useState<Overlay>()
  const close = () => setOverlay(undefined)
  useKeys(
    mayChange
      ? [
          { keys: "n", label: "New ticket", group: "Tickets", run: () => setOverlay("new") },
          { keys: "N", label: "Tickets from a list", group: "Tickets", run: () => setOverlay("paste") }
        ]
      : []
  )
  return (
    <div className={search.layout === "board" ? "flex h-full flex-col" : ""}>
      <Header
        actions={
          mayChange && (
            <>
              {isFiltered(search) && <Button onClick={() => setOverlay("save")}>Save as view</Button>}
              <Button onClick={() => setOverlay("paste")} shortcut="N">
                From a list
              </Button>
              <Button icon="plus" look="primary" onClick={() => setOverlay("new")} shortcut="n">
                New ticket
              </Button>
            </>
          )
        }
        crumbs={[]}
        title="Tickets"
      />
      <ViewTabs search={search} slug={slug} />
      <TicketsView
        onClear={() =>
          void navigate({ search: ({ group, layout }) => withoutUndefined({ group, layout }), replace: true })
        }
        onNew={() => setOverlay("new")}
        onSearch={(change) =>
          void navigate({ search: (before) => withoutUndefined({ ...before, ...change }), replace: true })
        }
        search={search}
        slug={slug}
        tickets={tickets}
      />
      <Suspense fallback={null}>
        {overlay === "new" && (
          <NewTicketDialog
            about=""
            description=""
            onClose={close}
            slug={slug}
            title=""
            {...(search.teams?.length === 1 ? { team: search.teams[0]! } : {})}
          />
        )}
        {overlay === "paste" && <PasteTickets onClose={close} search={search} slug={slug} />}
        {overlay === "save" && <SaveView onClose={close} search={search} slug={slug} />}
      </Suspense>
    </div>
  )
}

export default TicketsScreen
