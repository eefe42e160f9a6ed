import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { mayAct, useRole } from "../api/session.ts"
import { withoutUndefined } from "../ui/address.ts"
import { Button, IconButton } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { overlay } from "../ui/overlay.ts"
import { isFiltered } from "./filters.ts"
import { TicketsView } from "./TicketsView.tsx"
import { useKeptSearch } from "./useKeptSearch.ts"
import { useTickets } from "./useTickets.ts"

/** All tickets that one sees: what is being done, what comes next, and what is mine. */

const PasteTickets = later(() => import("./PasteTickets.tsx"))
const SaveView = later(() => import("./SaveView.tsx"))
const ViewTabs = later(
  () => import("./ViewTabs.tsx"),
  () => <div className="border-border h-9 border-b" />
)

type Part = "paste" | "save" | undefined

const TicketsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/tickets" })
  const navigate = useNavigate({ from: "/w/$slug/tickets" })
  const search = useKeptSearch(
    slug,
    useSearch({ from: "/w/$slug/tickets" }),
    (kept) => void navigate({ search: kept, replace: true })
  )
  const tickets = useTickets(slug, search, true)
  const mayChange = mayAct(useRole(slug), "member")
  const [part, setPart] = useState<Part>()
  const close = () => setPart(undefined)
  const mayBeSaved = mayChange && (isFiltered(search) || search.group !== undefined || search.sort !== undefined)
  useKeys([
    ...(mayChange ? [{ keys: "N", label: "Tickets from a list", group: "Tickets", run: () => setPart("paste") }] : []),
    ...(mayBeSaved ? [{ keys: "S", label: "Save as view", group: "Tickets", run: () => setPart("save") }] : [])
  ])
  return (
    <div className={search.layout === "board" ? "flex h-full flex-col" : ""}>
      <Header
        actions={
          mayChange && (
            <>
              {mayBeSaved && (
                <Button onClick={() => setPart("save")} shortcut="S">
                  <span>
                    Save<span className="max-sm:sr-only"> as view</span>
                  </span>
                </Button>
              )}
              <Button icon="plus" look="primary" onClick={() => overlay.show("ticket")} shortcut="n">
                New ticket
              </Button>
              <Menu
                groups={[{ items: [{ label: "From a list", shortcut: "N", onSelect: () => setPart("paste") }] }]}
                label="Tickets"
                trigger={(props) => <IconButton {...props} icon="more" label="More" />}
              />
            </>
          )
        }
        crumbs={[]}
        title="Tickets"
      />
      <ViewTabs search={search} slug={slug} />
      <TicketsView
        onClear={() =>
          void navigate({
            search: ({ group, layout, sort }) => withoutUndefined({ group, layout, sort }),
            replace: true
          })
        }
        onSearch={(change) =>
          void navigate({ search: (before) => withoutUndefined({ ...before, ...change }), replace: true })
        }
        search={search}
        slug={slug}
        tickets={tickets}
      />
      {part === "paste" && <PasteTickets onClose={close} search={search} slug={slug} />}
      {part === "save" && <SaveView onClose={close} search={search} slug={slug} />}
    </div>
  )
}

export default TicketsScreen
