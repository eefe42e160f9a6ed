import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { withoutUndefined } from "../ui/address.ts"
import { tabClass, Tabs } from "../ui/Header.tsx"
import { useMarkedPlace } from "../ui/useMarkedPlace.ts"
import { useTabInView } from "../ui/useTabInView.ts"
import { viewsQuery } from "./queries.ts"
import type { TicketsSearch } from "./search.ts"
import { ViewTab } from "./ViewTab.tsx"

const presets = [
  { label: "All", search: {} },
  { label: "Active", search: { categories: ["unstarted", "started"] } },
  { label: "Backlog", search: { categories: ["backlog"] } },
  { label: "Done", search: { categories: ["completed"] } },
  { label: "Mine", search: { owners: ["me"] } }
] as const satisfies ReadonlyArray<{ readonly label: string; readonly search: TicketsSearch }>

/** The filters that everybody uses, and the views of the workspace. */
const ViewTabs = ({ search, slug }: { readonly slug: string; readonly search?: TicketsSearch }) => {
  const { data } = useQuery(viewsQuery(slug))
  useMarkedPlace("/w/$slug/tickets")
  useTabInView("Views of tickets", data !== undefined)
  const looks = withoutUndefined({ layout: search?.layout, group: search?.group, sort: search?.sort })
  return (
    <Tabs label="Views of tickets">
      {presets.map(({ label, search: preset }) => (
        <Link
          activeOptions={{ exact: true }}
          className={tabClass}
          key={label}
          params={{ slug }}
          search={{ ...preset, ...looks }}
          to="/w/$slug/tickets"
        >
          {label}
        </Link>
      ))}
      {(data?.views ?? []).map((view) => (
        <ViewTab key={view.id} slug={slug} view={view} />
      ))}
    </Tabs>
  )
}

export default ViewTabs
