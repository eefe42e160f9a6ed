import { buttonClass } from "./Button.tsx"
import { Icon } from "./Icon.tsx"
import { Menu } from "./Menu.tsx"

/** A filter as words: `Product is Shop`. Chosen in a menu. */

export interface Choice {
  readonly value: string
  readonly label: string
}

/** Of more choices than are read at a glance, one is found by its letters. */
const mostRead = 12

interface Props {
  readonly noun: string
  readonly value: string | undefined
  readonly choices: ReadonlyArray<Choice>
  readonly onChange: (value: string | undefined) => void
  /** One of the choices always holds. */
  readonly isRequired?: boolean
}

export const Filter = ({ choices, isRequired = false, noun, onChange, value }: Props) => {
  const chosen = choices.find((one) => one.value === value)?.label ?? value
  const any = { label: `Any ${noun}`, isChosen: value === undefined, onSelect: () => onChange(undefined) }
  return (
    <Menu
      groups={[
        {
          isSearched: choices.length > mostRead,
          items: [
            ...(isRequired ? [] : [any]),
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

/** A filter that holds or not, as a button that stays pressed. */
export const pressedClass =
  "text-muted hover:bg-hover aria-pressed:bg-selected aria-pressed:text-text inline-flex h-7 items-center gap-1.5 rounded-md px-2"
