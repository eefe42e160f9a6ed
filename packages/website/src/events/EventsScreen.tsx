import { useInfiniteQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { Loaded } from "../api/Loaded.tsx"
import { Header } from "../ui/Header.tsx"
import { Older } from "../ui/Older.tsx"
import { Empty } from "../ui/States.tsx"
import { EventList } from "./EventList.tsx"
import { eventsQuery } from "./queries.ts"

/** What happened in the workspace, newest first. It moves by itself. */
const EventsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/events" })
  const query = useInfiniteQuery(eventsQuery(slug))
  return (
    <>
      <Header crumbs={[]} title="Events" />
      <Loaded query={query} rows={14}>
        {({ pages }) =>
          pages[0]?.events.length === 0 ? (
            <Empty icon="events" title="Nothing has happened yet" />
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
