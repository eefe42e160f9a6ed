import { serviceUrl } from "../api/client.ts"
import { Empty } from "../ui/States.tsx"

/** In place of an empty list of events: what makes one, or that the filter leaves nothing. */
const NoEvents = ({ isFiltered, slug }: { readonly isFiltered: boolean; readonly slug: string }) =>
  isFiltered ? (
    <Empty icon="filter" title="No event matches">
      Clear the filter to see all.
    </Empty>
  ) : (
    <Empty
      command={`curl -X POST ${serviceUrl}/v1/workspaces/${slug}/products \\\n  -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" \\\n  -d '{"slug": "shop", "name": "Shop", "type": "website"}'`}
      icon="events"
      title="Nothing has happened yet"
    >
      What is published, released, planned and set is told here at once. Begin with a product:
    </Empty>
  )

export default NoEvents
