import { useQuery } from "@tanstack/react-query"
import { Navigate, useParams } from "@tanstack/react-router"
import { client } from "../api/client.ts"
import { FailureView } from "../api/FailureView.tsx"
import { workspaceKey } from "../api/queries.ts"
import { Facts } from "../ui/Facts.tsx"
import { visible } from "../ui/format.ts"
import { Header } from "../ui/Header.tsx"
import { Command, SkeletonRows } from "../ui/States.tsx"
import NotFound from "./NotFound.tsx"
import { factsOf, readerOf } from "./facts.ts"

/** What has no screen of its own yet: its main facts, and where the API has the rest. */
const FactsScreen = () => {
  const { _splat = "", slug } = useParams({ from: "/w/$slug/$" })
  const reader = readerOf(client, slug, _splat)
  const { data, error, refetch } = useQuery({
    queryKey: workspaceKey(slug, "facts", _splat),
    queryFn: () => reader?.read() ?? null
  })
  const [, team] = /^teams\/([^/]+)\/(?:tags|ticket-statuses)$/.exec(_splat) ?? []
  // Where the API says that statuses and tags are: on the page of their team, or with what all teams share.
  if (team !== undefined) return <Navigate params={{ slug, team }} replace to="/w/$slug/teams/$team" />
  if (/^settings\/(?:tags|ticket-statuses)$/.test(_splat)) {
    return <Navigate params={{ slug }} replace search={{ view: "shared" }} to="/w/$slug/teams" />
  }
  if (reader === undefined) return <NotFound />
  return (
    <>
      <Header crumbs={[]} title={visible(reader.name)} />
      <p className="text-muted px-4 py-3">
        The screen of this {reader.noun} is not built yet. These are its main facts; the API has the rest.
      </p>
      <div className="px-4 pb-4">
        <Command text={`curl -H "Authorization: Bearer $DELIVERY_API_KEY" ${location.origin}${reader.path}`} />
      </div>
      {data !== undefined ? (
        <Facts facts={factsOf(data)} />
      ) : error !== null ? (
        <FailureView error={error} onRetry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={6} />
      )}
    </>
  )
}

export default FactsScreen
