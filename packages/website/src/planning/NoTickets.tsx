import { Button } from "../ui/Button.tsx"
import { overlay } from "../ui/overlay.ts"
import { Empty } from "../ui/States.tsx"

interface Props {
  readonly mayChange: boolean
  /** Takes the filters away; undefined where there are none. */
  readonly onClear: (() => void) | undefined
}

/** In place of tickets. */
const NoTickets = ({ mayChange, onClear }: Props) =>
  onClear === undefined ? (
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
  ) : (
    <Empty
      action={<Button onClick={onClear}>Clear the filters</Button>}
      icon="filter"
      title="No ticket matches these filters"
    />
  )

export default NoTickets
