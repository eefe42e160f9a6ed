import { Select } from "./Select.tsx"

const overlaps = [
  { value: "0", label: "Not at all", hint: "it ends at once" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" }
] as const

/** In seconds, as text. */
export type Overlap = (typeof overlaps)[number]["value"]

/** How long what is replaced goes on. Load it lazily: it brings Base UI. */
export const OverlapField = ({
  label,
  onChange,
  value
}: {
  readonly label: string
  readonly value: Overlap
  readonly onChange: (value: Overlap) => void
}) => <Select label={label} onChange={onChange} options={overlaps} value={value} />
