import type { Ref } from "react"
import { Icon } from "./Icon.tsx"

interface Props {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly ref?: Ref<HTMLInputElement>
}

/** A field that narrows what is below. Escape leaves it. */
export const SearchField = ({ label, onChange, ref, value }: Props) => (
  <div className="relative max-w-full min-w-40 grow basis-40 sm:max-w-64">
    <span className="text-faint pointer-events-none absolute top-1.5 left-2">
      <Icon name="search" />
    </span>
    <input
      aria-label={label}
      className="hover:border-border focus:border-border h-7 w-full text-ellipsis rounded-md border border-transparent bg-transparent pr-2 pl-8"
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        // Chromium would empty the field.
        event.preventDefault()
        event.currentTarget.blur()
      }}
      placeholder={label}
      ref={ref}
      spellCheck={false}
      type="search"
      value={value}
    />
  </div>
)
