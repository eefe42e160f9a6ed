import { FailureView } from "../api/FailureView.tsx"
import { failureOf } from "../api/failures.ts"
import { Button } from "../ui/Button.tsx"
import { overlay } from "../ui/overlay.ts"
import { Empty } from "../ui/States.tsx"

interface Props {
  readonly mayChange: boolean
  /** Why they could not be read; null where there are none. */
  readonly error: unknown
  readonly onRetry: () => void
  /** They are also filtered by what the person cannot see. */
  readonly isRestricted: boolean
  /** Takes the filters away; undefined where there are none. */
  readonly onClear: (() => void) | undefined
}

/** In place of tickets. */
const NoTickets = ({ error, isRestricted, mayChange, onClear, onRetry }: Props) => {
  const clear = <Button onClick={onClear}>Clear the filters</Button>
  if (error !== null) {
    const { _tag, message } = failureOf(error)
    const isOfFilter = onClear !== undefined && ["NotFound", "InvalidInput"].includes(_tag)
    if (!isOfFilter) return <FailureView error={error} onRetry={onRetry} />
    return (
      <Empty action={clear} icon="filter" title="One of these filters cannot be used">
        <p className="foreign">{message}</p>
      </Empty>
    )
  }
  if (isRestricted) {
    return <Empty action={onClear && clear} icon="filter" title="No ticket that you can see matches this view" />
  }
  if (onClear !== undefined) return <Empty action={clear} icon="filter" title="No ticket matches these filters" />
  return (
    <Empty
      action={
        mayChange && (
          <Button look="primary" onClick={() => overlay.show("ticket")} shortcut="n">
            New ticket
          </Button>
        )
      }
      icon="ticket"
      title="Work is planned here: a ticket for each piece of it"
    />
  )
}

export default NoTickets
