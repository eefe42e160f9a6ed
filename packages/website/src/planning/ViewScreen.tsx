import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { View } from "@delivery/domain/planning/View"
import { failureOf } from "../api/failures.ts"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { withoutUndefined } from "../ui/address.ts"
import { type Crumb, Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { projectsQuery, viewQuery } from "./queries.ts"
import { filterNames, type TicketsSearch } from "./search.ts"
import { type SearchChange, TicketsView } from "./TicketsView.tsx"
import { useTickets, useViewTickets } from "./useTickets.ts"
import { inScope, isShut, searchOf } from "./viewFilters.ts"

/** A saved view. What is changed of it shows at once, and stays with whoever changed it until it is saved. */

const NoTabs = () => <div className="border-border h-9 border-b" />
const GoneView = later(() => import("./GoneView.tsx"))
const HiddenFilters = later(() => import("./HiddenFilters.tsx"))
const ProjectTabs = later(() => import("./ProjectTabs.tsx"), NoTabs)
const ViewActions = later(() => import("./ViewActions.tsx"))
const ViewTabs = later(() => import("./ViewTabs.tsx"), NoTabs)

interface Props {
  readonly slug: string
  readonly view: View
}

/** Where a view is: in the list of tickets, of a team or of all, or in a project. */
const useCrumbs = ({ scope }: View, slug: string): ReadonlyArray<Crumb> => {
  const { data } = useQuery(projectsQuery(slug))
  if (scope.kind === "project") {
    const name = data?.projects.find((one) => one.slug === scope.key)?.name ?? scope.key
    const to = "/w/$slug/projects/$project"
    return [{ label: name, link: { to, params: { slug, project: scope.key } } }]
  }
  const isOfTeam = scope.kind === "team"
  const search = isOfTeam ? { teams: [scope.key] } : {}
  return [{ label: isOfTeam ? scope.key : "Tickets", link: { to: "/w/$slug/tickets", params: { slug }, search } }]
}

/** How tickets are shown. */
const looks = new Set(["group", "layout", "sort"])

/** Any change but that of how the tickets are shown leaves the filters of the view for one's own. */
const changedSearch = (
  { scope, sort }: View,
  shown: TicketsSearch,
  before: TicketsSearch,
  next: SearchChange
): TicketsSearch => {
  // What is shown in its own order, where the view has another, has no word in the address.
  const isOwn = before.own === true || ("sort" in next && next.sort === undefined && sort !== null)
  if (!isOwn && Object.keys(next).every((name) => looks.has(name))) {
    return withoutUndefined({ ...before, ...next, ...("group" in next ? { group: next.group ?? "status" } : {}) })
  }
  return withoutUndefined({ ...inScope(scope), ...shown, ...next, own: true as const })
}

const noFilters = Object.fromEntries([...filterNames, "q"].map((name) => [name, undefined])) as SearchChange

const Shown = ({ slug, view }: Props) => {
  const address = useSearch({ from: "/w/$slug/views/$view" })
  const navigate = useNavigate({ from: "/w/$slug/views/$view" })
  const mayChange = mayAct(useRole(slug), "member")
  const { hiddenFilters, scope } = view
  const saved = searchOf(view)
  const { own: isOwn = false, ...changed } = address
  const search: TicketsSearch = isOwn ? changed : { ...saved, ...changed }
  const ofView = useViewTickets(slug, isOwn ? undefined : view.id)
  const ofSearch = useTickets(slug, search, isOwn)
  const own = isShut(hiddenFilters, search) ? { ...ofSearch, data: ofSearch.data && [] } : ofSearch
  const change = (next: SearchChange) =>
    void navigate({ search: (before) => changedSearch(view, search, before, next), replace: true })
  return (
    <div className={search.layout === "board" ? "flex h-full flex-col" : ""}>
      <Header
        actions={
          mayChange && (
            <ViewActions
              search={search}
              isOwn={isOwn}
              onReset={() => void navigate({ search: {}, replace: true })}
              slug={slug}
              view={view}
            />
          )
        }
        crumbs={useCrumbs(view, slug)}
        title={view.name}
      />
      {scope.kind === "project" ? <ProjectTabs project={scope.key} slug={slug} /> : <ViewTabs slug={slug} />}
      {hiddenFilters.length > 0 && <HiddenFilters names={hiddenFilters} />}
      <TicketsView
        isRestricted={hiddenFilters.length > 0}
        onClear={() => change(noFilters)}
        onSearch={change}
        search={search}
        slug={slug}
        tickets={isOwn ? own : ofView}
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
      {query.error !== null && failureOf(query.error)._tag === "NotFound" ? (
        <GoneView slug={slug} />
      ) : (
        <Loaded query={query} rows={10}>
          {(data) => <Shown key={data.id} slug={slug} view={data} />}
        </Loaded>
      )}
    </>
  )
}

export default ViewScreen
