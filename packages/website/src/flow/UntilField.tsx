import { useState } from "react"
import { Input } from "../ui/Field.tsx"
import { Select } from "../ui/Select.tsx"
import { daysBetween, type Length, lengths, untilOf } from "./mute.ts"

/** Until when tests are muted: some days, or a day that is chosen. */

export const useUntil = () => {
  const [length, setLength] = useState<Length>("14")
  const [date, setDate] = useState("")
  return { length, setLength, date, setDate, until: () => untilOf(length, date, Date.now()) }
}

interface Props {
  readonly value: ReturnType<typeof useUntil>
  readonly issue: string | undefined
}

export const UntilField = ({ issue, value: { date, length, setDate, setLength } }: Props) => (
  <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
    <Select
      label="Muted for"
      onChange={setLength}
      options={lengths.map((one) => ({ value: one, label: one === "day" ? "Until a day" : `${one} days` }))}
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
