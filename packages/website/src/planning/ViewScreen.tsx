import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { View } from "@delivery/domain/planning/View"
import { Suspense } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { withoutUndefined } from "../ui/address.ts"
import { visible } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { viewQuery } from "./queries.ts"
import { filterNames, type TicketsSearch } from "./search.ts"
import { type SearchChange, TicketsView } from "./TicketsView.tsx"
import { useTickets, useViewTickets } from "./useTickets.ts"
import { inScope, searchOf } from "./viewFilters.ts"
import { ViewTabs } from "./ViewTabs.tsx"

/** A saved view. What is changed of it shows at once, and stays with whoever changed it until it is saved. */

const ViewActions = later(() => import("./ViewActions.tsx"))

interface Props {
  readonly slug: string
  readonly view: View
}

const crumbOf = ({ scope }: View, slug: string) =>
  scope.kind === "project"
    ? { label: scope.key, link: { to: "/w/$slug/projects/$project" as const, params: { slug, project: scope.key } } }
    : {
        label: scope.kind === "team" ? scope.key : "Tickets",
        link: {
          to: "/w/$slug/tickets" as const,
          params: { slug },
          search: scope.kind === "team" ? { teams: [scope.key] } : {}
        }
      }

/** Any change but that of the grouping, which is no part of a view, leaves its filters for one's own. */
const changedSearch = (
  { scope }: View,
  shown: TicketsSearch,
  before: TicketsSearch,
  next: SearchChange
): TicketsSearch => {
  if (Object.keys(next).every((name) => name === "group")) return withoutUndefined({ ...before, ...next })
  return withoutUndefined({ ...inScope(scope), ...shown, ...next, own: true as const })
}

const noFilters = Object.fromEntries([...filterNames, "q"].map((name) => [name, undefined])) as SearchChange

const Shown = ({ slug, view }: Props) => {
  const address = useSearch({ from: "/w/$slug/views/$view" })
  const navigate = useNavigate({ from: "/w/$slug/views/$view" })
  const mayChange = mayAct(useRole(slug), "member")
  const saved = searchOf(view)
  const { own: isOwn = false, ...changed } = address
  const search: TicketsSearch = isOwn ? changed : { ...saved, ...changed }
  const ofView = useViewTickets(slug, isOwn ? undefined : view.id)
  const ofSearch = useTickets(slug, search, isOwn)
  const change = (next: SearchChange) =>
    void navigate({ search: (before) => changedSearch(view, search, before, next), replace: true })
  return (
    <div className={search.layout === "board" ? "flex h-full flex-col" : ""}>
      <Header
        actions={
          mayChange && (
            <Suspense fallback={null}>
              <ViewActions
                changed={isOwn ? search : undefined}
                onReset={() => void navigate({ search: {}, replace: true })}
                slug={slug}
                view={view}
              />
            </Suspense>
          )
        }
        crumbs={[crumbOf(view, slug)]}
        title={visible(view.name)}
      />
      {view.scope.kind === "workspace" && <ViewTabs slug={slug} />}
      <TicketsView
        onClear={() => change(noFilters)}
        onSearch={change}
        search={search}
        slug={slug}
        tickets={isOwn ? ofSearch : ofView}
      />
    </div>
  )
}

const ViewScreen = () => {
  const { slug, view } = useParams({ from: "/w/$slug/views/$view" })
  const query = useQuery(viewQuery(slug, view))
  return (
    <>
      {query.data === undefined && <Header crumbs={[]} title="View" />}
      <Loaded query={query} rows={10}>
        {(data) => <Shown key={data.id} slug={slug} view={data} />}
      </Loaded>
    </>
  )
}

export default ViewScreen
