import type { View } from "@delivery/domain/planning/View"
import { Button } from "../ui/Button.tsx"
import { overlay } from "../ui/overlay.ts"
import ChangedView from "./ChangedView.tsx"
import type { TicketsSearch } from "./search.ts"
import ViewMenu from "./ViewMenu.tsx"

interface Props {
  readonly slug: string
  readonly view: View
  /** What is shown instead of what is saved; undefined where that is what is saved. */
  readonly changed: TicketsSearch | undefined
  readonly isFiltered: boolean
  readonly onReset: () => void
}

/** What is done with a view, and in it. */
const ViewActions = ({ changed, isFiltered, onReset, slug, view }: Props) => (
  <>
    {changed !== undefined && (
      <ChangedView isFiltered={isFiltered} onReset={onReset} search={changed} slug={slug} view={view} />
    )}
    <ViewMenu slug={slug} view={view} />
    <Button icon="plus" look="primary" onClick={() => overlay.show("ticket")} shortcut="n">
      New ticket
    </Button>
  </>
)

export default ViewActions
