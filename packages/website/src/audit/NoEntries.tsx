import { useNavigate } from "@tanstack/react-router"
import { serviceUrl } from "../api/client.ts"
import { Button } from "../ui/Button.tsx"
import { Empty } from "../ui/States.tsx"

/** In place of an empty audit: what it keeps, or that the filters leave nothing. */
const NoEntries = ({ isFiltered, slug }: { readonly isFiltered: boolean; readonly slug: string }) => {
  const navigate = useNavigate({ from: "/w/$slug/audit" })
  return isFiltered ? (
    <Empty
      action={<Button onClick={() => void navigate({ search: {}, replace: true })}>Clear the filters</Button>}
      icon="filter"
      title="No entry matches"
    />
  ) : (
    <Empty
      command={`curl ${serviceUrl}/v1/workspaces/${slug}/audit -H "Authorization: Bearer $DELIVERY_API_KEY"`}
      icon="audit"
      title="Nothing has been done yet"
    >
      Who signs in, changes settings, and reads or writes secrets is kept here, with the credential and the place. Over
      the API it is read so:
    </Empty>
  )
}

export default NoEntries
