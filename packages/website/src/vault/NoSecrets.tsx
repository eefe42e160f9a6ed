import { serviceUrl } from "../api/client.ts"
import { Empty } from "../ui/States.tsx"

/** What stands in the place of the grid before there is a secret. Its text is loaded by those alone who have none. */
const NoSecrets = ({ slug }: { readonly slug: string }) => (
  <Empty
    command={`export DELIVERY_URL=${serviceUrl} DELIVERY_WORKSPACE=${slug} DELIVERY_API_KEY=ctk_…\nnpx @delivery/cli secrets import .env --product shop --environment staging`}
    icon="vault"
    title="Secrets of your products are kept here, by environment"
  >
    Paste a .env file above, or import one from the command line.
  </Empty>
)

export default NoSecrets
