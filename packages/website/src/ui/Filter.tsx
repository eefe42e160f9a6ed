import { buttonClass } from "./Button.tsx"
import { Icon } from "./Icon.tsx"
import { Menu } from "./Menu.tsx"

interface Choice {
  readonly value: string
  readonly label: string
}

interface Props {
  readonly noun: string
  readonly value: string | undefined
  readonly choices: ReadonlyArray<Choice>
  readonly onChange: (value: string | undefined) => void
}

/** A filter as words: "result is failed". */
export const Filter = ({ choices, noun, onChange, value }: Props) => {
  const chosen = choices.find((one) => one.value === value)?.label ?? value
  return (
    <Menu
      groups={[
        {
          items: [
            { label: `Any ${noun}`, isChosen: value === undefined, onSelect: () => onChange(undefined) },
            ...choices.map((one) => ({
              label: one.label,
              isChosen: one.value === value,
              onSelect: () => onChange(one.value)
            }))
          ]
        }
      ]}
      label={`Filter by ${noun}`}
      trigger={(props) => (
        <button {...props} className={buttonClass(value === undefined ? "quiet" : "plain")} type="button">
          <span className="first-letter:uppercase">{noun}</span>
          {chosen !== undefined && <span className="text-accent max-w-40 truncate">is {chosen}</span>}
          <Icon name="chevronDown" size={12} />
        </button>
      )}
    />
  )
}
