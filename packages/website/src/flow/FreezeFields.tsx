import { useRef } from "react"
import type { FreezeWindow } from "@delivery/domain/flow/FreezeChanges"
import { Button, IconButton } from "../ui/Button.tsx"
import { Input } from "../ui/Field.tsx"
import { inYourTime } from "./zone.ts"

/** A freeze window as it is typed, in the time of the browser. */
export interface FreezeDraft {
  readonly key: number
  /** The window of the policy that it was made of; none of a new one. */
  readonly of: FreezeWindow | undefined
  readonly from: string
  readonly to: string
  readonly reason: string
}

/** The most windows that a policy has. */
const most = 100

let keys = 0

const local = (at: Date): string => {
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}

export const freezeDraft = (window: FreezeWindow): FreezeDraft => ({
  key: keys++,
  of: window,
  from: local(new Date(window.from)),
  to: local(new Date(window.to)),
  reason: window.reason
})

/** Fields have no seconds: what was not changed of a window is what it was. */
export const windowOf = ({ from, of, reason, to }: FreezeDraft): FreezeWindow => {
  const time = (text: string, was: string | undefined) =>
    was !== undefined && local(new Date(was)) === text ? was : new Date(text).toISOString()
  return { from: time(from, of?.from), to: time(to, of?.to), reason: reason === of?.reason ? reason : reason.trim() }
}

const isInOrder = ({ from, to }: FreezeDraft): boolean => from === "" || to === "" || from < to

/** What the windows lack before they can be saved. */
export const missingOf = (freezes: ReadonlyArray<FreezeDraft>): ReadonlyArray<string> => [
  ...(freezes.some(({ from }) => from === "") ? ["the beginning of a window"] : []),
  ...(freezes.some(({ to }) => to === "") ? ["the end of a window"] : []),
  ...(freezes.every(isInOrder) ? [] : ["an end after the beginning"]),
  ...(freezes.some(({ reason }) => reason.trim() === "") ? ["the reason of a window"] : [])
]

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
              label="From"
              onChange={(event) => change(index, { from: event.target.value })}
              type="datetime-local"
              value={one.from}
            />
            <Input
              issue={isInOrder(one) ? undefined : "Later than its beginning"}
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
          <Button
            icon="plus"
            ref={add}
            onClick={() =>
              onChange([...freezes, { key: keys++, of: undefined, from: local(new Date()), to: "", reason: "" }])
            }
          >
            Add window
          </Button>
        </div>
      )}
    </fieldset>
  )
}
