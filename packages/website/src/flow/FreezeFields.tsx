import { useRef } from "react"
import { Button, IconButton } from "../ui/Button.tsx"
import { Input } from "../ui/Field.tsx"
import { type FreezeDraft, hintOf, issuesOf, newDraft } from "./freezeDrafts.ts"
import { inYourTime } from "./zone.ts"

/** The most windows that a policy has. */
const most = 100

interface Props {
  readonly freezes: ReadonlyArray<FreezeDraft>
  readonly onChange: (next: ReadonlyArray<FreezeDraft>) => void
}

/** When nothing goes out. */
export const FreezeFields = ({ freezes, onChange }: Props) => {
  const change = (index: number, next: Partial<FreezeDraft>) =>
    onChange(freezes.with(index, { ...freezes[index]!, ...next }))
  const add = useRef<HTMLButtonElement>(null)
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="text-muted pb-1 text-xs font-medium">Freeze windows, {inYourTime()}</legend>
      {freezes.map((one, index) => (
        <div className="border-border flex items-start gap-2 border-b pb-3" key={one.key}>
          <div className="grid min-w-0 flex-1 gap-2 sm:grid-cols-2">
            <Input
              hint={hintOf(one, "from")}
              issue={issuesOf(one).from}
              label="From"
              onChange={(event) => change(index, { from: event.target.value })}
              type="datetime-local"
              value={one.from}
            />
            <Input
              hint={hintOf(one, "to")}
              issue={issuesOf(one).to}
              label="To"
              onChange={(event) => change(index, { to: event.target.value })}
              type="datetime-local"
              value={one.to}
            />
            <div className="sm:col-span-2">
              <Input
                label="Reason"
                maxLength={200}
                onChange={(event) => change(index, { reason: event.target.value })}
                placeholder="Holidays"
                value={one.reason}
              />
            </div>
          </div>
          <IconButton
            icon="cross"
            label={`Remove the window ${one.reason}`.trim()}
            onClick={() => {
              onChange(freezes.toSpliced(index, 1))
              // The button that has the keyboard is gone with its window.
              add.current?.focus()
            }}
          />
        </div>
      ))}
      {freezes.length < most && (
        <div>
          <Button icon="plus" ref={add} onClick={() => onChange([...freezes, newDraft()])}>
            Add window
          </Button>
        </div>
      )}
    </fieldset>
  )
}
