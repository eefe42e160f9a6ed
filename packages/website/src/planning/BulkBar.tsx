import { Button, buttonClass } from "../ui/Button.tsx"
import { counted } from "../ui/format.ts"
import { Kbd } from "../ui/Kbd.tsx"
import type { Field } from "./useTicketChoices.ts"

interface Props {
  readonly count: number
  /** The names of what can be set. */
  readonly fields: Readonly<Record<Field, string | undefined>>
  readonly keyOf: Readonly<Record<Field, string>>
  readonly askAgentKey: string
  readonly onAskAgent: () => void
  readonly onClear: () => void
}

/** What is done with the tickets that are selected. Its buttons are heard by `useTicketPointer`. */
export const BulkBar = ({ askAgentKey, count, fields, keyOf, onAskAgent, onClear }: Props) => (
  <div
    aria-label="Selection"
    className="bg-raised shadow-overlay animate-appear sticky bottom-3 z-10 mx-3 flex flex-wrap items-center gap-1 rounded-lg px-3 py-1.5"
    data-toasts-above
    id="selection"
    role="toolbar"
  >
    <span className="tabular pr-2 font-medium" role="status">
      {counted(count, "ticket")} selected
    </span>
    {(Object.keys(fields) as ReadonlyArray<Field>).map(
      (field) =>
        fields[field] !== undefined && (
          <button aria-haspopup="menu" className={buttonClass("quiet")} data-ask={field} key={field} type="button">
            {fields[field]}
            <span className="max-sm:hidden">
              <Kbd keys={keyOf[field]} />
            </span>
          </button>
        )
    )}
    <Button look="quiet" onClick={onAskAgent} shortcut={askAgentKey}>
      Ask an agent
    </Button>
    <span className="flex-1" />
    <Button icon="cross" look="quiet" onClick={onClear} shortcut="Escape">
      Clear
    </Button>
  </div>
)
