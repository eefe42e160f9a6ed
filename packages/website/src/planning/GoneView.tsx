import { Link } from "@tanstack/react-router"
import { buttonClass } from "../ui/Button.tsx"
import { Empty } from "../ui/States.tsx"

/** In place of a view that was deleted, or that the person does not see any more. */
const GoneView = ({ slug }: { readonly slug: string }) => (
  <Empty
    action={
      <Link className={buttonClass("primary")} params={{ slug }} to="/w/$slug/tickets">
        All tickets
      </Link>
    }
    icon="filter"
    title="There is no such view any more"
  >
    Somebody deleted it, or keeps it for themselves now. Its tickets are where they were.
  </Empty>
)

export default GoneView
