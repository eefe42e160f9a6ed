import { buttonClass } from "./Button.tsx"
import type { Choice } from "./Filter.tsx"
import { Icon } from "./Icon.tsx"
import { Menu } from "./Menu.tsx"

interface ManyProps {
  readonly noun: string
  readonly values: ReadonlyArray<string>
  readonly choices: ReadonlyArray<Choice>
  readonly onChange: (values: ReadonlyArray<string>) => void
}

/** A filter of which any of several values will do: `Status is Todo, In progress`. */
export const ManyFilter = ({ choices, noun, onChange, values }: ManyProps) => {
  const labels = values.map((value) => choices.find((one) => one.value === value)?.label ?? value)
  return (
    <Menu
      groups={[
        {
          isSearched: true,
          items: choices.map(({ label, value }) => ({
            label,
            isChecked: values.includes(value),
            onSelect: () =>
              onChange(values.includes(value) ? values.filter((one) => one !== value) : [...values, value])
          }))
        },
        ...(values.length > 0 ? [{ items: [{ label: `Any ${noun}`, onSelect: () => onChange([]) }] }] : [])
      ]}
      label={`Filter by ${noun}`}
      trigger={(props) => (
        <button {...props} className={buttonClass(values.length === 0 ? "quiet" : "plain")} type="button">
          <span className="first-letter:uppercase">{noun}</span>
          {labels.length > 0 && (
            <span className="text-accent max-w-40 truncate">
              is {labels.length <= 2 ? labels.join(", ") : `any of ${labels.length}`}
            </span>
          )}
          <Icon name="chevronDown" size={12} />
        </button>
      )}
    />
  )
}
