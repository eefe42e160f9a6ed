import { useNavigate, useSearch } from "@tanstack/react-router"
import { withoutUndefined } from "../ui/address.ts"
import { Button } from "../ui/Button.tsx"
import { ManyFilter } from "../ui/ManyFilter.tsx"
import { typesOfEvents } from "./kinds.ts"

/** Which events are shown, as words, kept in the address. */
const EventFilter = () => {
  const { types = [] } = useSearch({ from: "/w/$slug/events" })
  const navigate = useNavigate({ from: "/w/$slug/events" })
  const set = (next: ReadonlyArray<string>) =>
    void navigate({ search: withoutUndefined({ types: next.length === 0 ? undefined : next }), replace: true })
  return (
    <>
      <ManyFilter
        choices={typesOfEvents.map((value) => ({ value, label: value }))}
        noun="type"
        onChange={set}
        values={types}
      />
      {types.length > 0 && (
        <Button icon="cross" look="quiet" onClick={() => set([])}>
          Clear
        </Button>
      )}
    </>
  )
}

export default EventFilter
