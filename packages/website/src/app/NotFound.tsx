import { Header } from "../ui/Header.tsx"
import { Empty } from "../ui/States.tsx"

/** In place of a page that there is not. */
const NotFound = () => (
  <>
    <Header crumbs={[]} title="Page not found" />
    <Empty icon="search" title="There is no page at this address">
      A link to it may be wrong. The sidebar and the search lead to what there is.
    </Empty>
  </>
)

export default NotFound
