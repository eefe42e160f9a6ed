import { useQuery } from "@tanstack/react-query"
import { Navigate } from "@tanstack/react-router"
import { Loaded } from "../api/Loaded.tsx"
import { Header } from "../ui/Header.tsx"
import { messageQuery } from "./queries.ts"

/** A message is shown on the page of its ticket. */
const MessageScreen = ({ message, slug }: { readonly slug: string; readonly message: string }) => {
  const query = useQuery(messageQuery(slug, message))
  return (
    <>
      <Header crumbs={[{ label: "Agents", link: { to: "/w/$slug/agents", params: { slug } } }]} title="Message" />
      <Loaded query={query} rows={6}>
        {({ ticket }) => (
          <Navigate params={{ slug, ticket: ticket.identifier }} replace to="/w/$slug/tickets/$ticket" />
        )}
      </Loaded>
    </>
  )
}

export default MessageScreen
