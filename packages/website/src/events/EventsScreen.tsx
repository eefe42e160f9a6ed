import { useInfiniteQuery } from "@tanstack/react-query"
import { useParams, useSearch } from "@tanstack/react-router"
import { Loaded } from "../api/Loaded.tsx"
import { Header } from "../ui/Header.tsx"
import { later } from "../ui/later.tsx"
import { Older } from "../ui/Older.tsx"
import { EventList } from "./EventList.tsx"
import { eventsQuery } from "./queries.ts"

const NoEvents = later(() => import("./NoEvents.tsx"))
const EventFilter = later(() => import("./EventFilter.tsx"))

/** What happened in the workspace, newest first. It moves by itself. */
const EventsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/events" })
  const { types = [] } = useSearch({ from: "/w/$slug/events" })
  const query = useInfiniteQuery(eventsQuery(slug, types))
  return (
    <>
      <Header crumbs={[]} title="Events" />
      <search aria-label="Events" className="border-border flex min-h-10 items-center gap-1 border-b px-3 py-1.5">
        <EventFilter />
      </search>
      <Loaded query={query} rows={14}>
        {({ pages }) =>
          pages[0]?.events.length === 0 ? (
            <NoEvents isFiltered={types.length > 0} slug={slug} />
          ) : (
            <>
              <EventList events={pages.flatMap((page) => page.events)} />
              <Older noun="events" query={query} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

export default EventsScreen
