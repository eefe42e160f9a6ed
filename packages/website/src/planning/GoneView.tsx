import { Link } from "@tanstack/react-router"
import { buttonClass } from "../ui/Button.tsx"
import { Empty } from "../ui/States.tsx"

/** In place of a view that was deleted, or that the person does not see. */
const GoneView = ({ slug }: { readonly slug: string }) => (
  <Empty
    action={
      <Link className={buttonClass("primary")} params={{ slug }} to="/w/$slug/tickets">
        All tickets
      </Link>
    }
    icon="filter"
    title="This view was deleted, or you cannot see it"
  >
    Only those who see a private team see its views, and some views only their maker. Tickets are never deleted with a
    view.
  </Empty>
)

export default GoneView
