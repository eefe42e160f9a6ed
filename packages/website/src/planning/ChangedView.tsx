import type { View } from "@delivery/domain/planning/View"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { ticketsKey } from "./queries.ts"
import type { TicketsSearch } from "./search.ts"
import { filtersToSave } from "./viewFilters.ts"
import { looksToSave } from "./viewLooks.ts"

interface Props {
  readonly slug: string
  readonly view: View
  /** What is shown instead of what is saved. */
  readonly search: TicketsSearch
  /** Whether that is other tickets, and not only how they are shown. */
  readonly isFiltered: boolean
  readonly onReset: () => void
}

/** What is done with a view that somebody changed for themselves. */
const ChangedView = ({ isFiltered, onReset, search, slug, view }: Props) => {
  const save = useAction({
    act: () =>
      client.views.update({
        params: { slug, view: view.id },
        payload: { ...(isFiltered ? { filters: filtersToSave(search) } : {}), ...looksToSave(search) }
      }),
    changes: [workspaceKey(slug, "views"), ticketsKey(slug)],
    done: () => ({ title: `${view.name} was saved`, tone: "success" }),
    failed: () => `${view.name} could not be saved`,
    onDone: onReset
  })
  return (
    <>
      <Button onClick={onReset}>Reset</Button>
      <Button isBusy={save.isPending} look="primary" onClick={() => save.mutate()}>
        Save view
      </Button>
    </>
  )
}

export default ChangedView
