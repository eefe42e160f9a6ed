import { serviceUrl } from "../api/client.ts"
import { Begin } from "../api/Begin.tsx"
import { Empty } from "../ui/States.tsx"

/** In place of tests over time where there is no product yet. */
const NoProduct = ({ slug }: { readonly slug: string }) => (
  <Empty
    action={<Begin label="Add a product" look="primary" slug={slug} />}
    command={`curl -X POST ${serviceUrl}/v1/workspaces/${slug}/products \\\n  -H "Authorization: Bearer $DELIVERY_API_KEY" -H "Content-Type: application/json" \\\n  -d '{"slug": "shop", "name": "Shop", "type": "website"}'`}
    icon="deployments"
    title="Tests belong to a product, and there is none yet"
  />
)

export default NoProduct
