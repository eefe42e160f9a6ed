import type { View } from "@delivery/domain/planning/View"
import { Button } from "../ui/Button.tsx"
import { overlay } from "../ui/overlay.ts"
import ChangedView from "./ChangedView.tsx"
import type { TicketsSearch } from "./search.ts"
import { hasOtherLooks } from "./viewLooks.ts"
import ViewMenu from "./ViewMenu.tsx"

interface Props {
  readonly slug: string
  readonly view: View
  /** What is shown. */
  readonly search: TicketsSearch
  /** Whether its filters are no longer those of the view. */
  readonly isOwn: boolean
  readonly onReset: () => void
}

/** What is done with a view, and in it. */
const ViewActions = ({ isOwn, onReset, search, slug, view }: Props) => (
  <>
    {(isOwn || hasOtherLooks(view, search)) && (
      <ChangedView isFiltered={isOwn} onReset={onReset} search={search} slug={slug} view={view} />
    )}
    <Button icon="plus" look="primary" onClick={() => overlay.show("ticket")} shortcut="n">
      New ticket
    </Button>
    <ViewMenu slug={slug} view={view} />
  </>
)

export default ViewActions
