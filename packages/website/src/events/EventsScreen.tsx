import { useInfiniteQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { FailureView } from "../api/FailureView.tsx"
import { Button } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { Empty, SkeletonRows } from "../ui/States.tsx"
import { EventList } from "./EventList.tsx"
import { eventsQuery } from "./queries.ts"

/** What happened in the workspace, newest first. It moves by itself. */
const EventsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/events" })
  const { data, error, fetchNextPage, hasNextPage, isFetchingNextPage, refetch } = useInfiniteQuery(eventsQuery(slug))
  const events = data?.pages.flatMap((page) => page.events) ?? []
  return (
    <>
      <Header crumbs={[]} title="Events" />
      {data === undefined ? (
        error === null ? (
          <SkeletonRows rows={14} />
        ) : (
          <FailureView error={error} onRetry={() => void refetch()} />
        )
      ) : events.length === 0 ? (
        <Empty icon="events" title="Nothing has happened yet" />
      ) : (
        <>
          <EventList events={events} />
          {hasNextPage && (
            <div className="px-4 py-3">
              <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Show older events
              </Button>
            </div>
          )}
        </>
      )}
    </>
  )
}

export default EventsScreen
