import { useState } from "react"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { daysBetween, type Length, lengths, untilOf } from "./mute.ts"

/** Until when tests are muted: some days, or a day that is chosen. */

/** `end` is when a mute ends that is to go on: days are counted from then, once that has passed from now. */
export const useUntil = (end?: string) => {
  const [length, setLength] = useState<Length>("14")
  const [date, setDate] = useState("")
  const now = Date.now()
  const from = end === undefined ? now : Math.max(now, Date.parse(end))
  return { length, setLength, date, setDate, isMore: from > now, until: () => untilOf(length, date, now, from) }
}

const textOf = (length: Length, isMore: boolean): string => {
  if (length === "day") return "Until a day"
  if (!isMore) return `${length} days`
  return length === lengths[3] ? "As long as it may be" : `${length} days more`
}

interface Props {
  readonly value: ReturnType<typeof useUntil>
  readonly issue: string | undefined
}

export const UntilField = ({ issue, value: { date, isMore, length, setDate, setLength } }: Props) => (
  <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
    <Select
      label="Muted for"
      onChange={setLength}
      options={lengths.map((one) => ({ value: one, label: textOf(one, isMore) }))}
      value={length}
    />
    {length === "day" ? (
      <Input
        {...daysBetween(Date.now())}
        hint="To its end, at most 90 days from now."
        issue={issue}
        label="Until"
        onChange={(event) => setDate(event.target.value)}
        type="date"
        value={date}
      />
    ) : (
      issue !== undefined && (
        <p className="text-danger self-end" role="alert">
          {issue}
        </p>
      )
    )}
  </div>
)
