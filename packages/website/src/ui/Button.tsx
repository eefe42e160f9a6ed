import type { ButtonHTMLAttributes, KeyboardEvent, ReactNode, Ref } from "react"
import { Icon, type IconName } from "./Icon.tsx"
import { Kbd } from "./Kbd.tsx"

type Native = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className">

const looks = {
  primary: "bg-accent-fill text-on-fill hover:bg-accent-fill-hover",
  plain: "bg-raised text-text border border-border hover:bg-hover",
  quiet: "quiet text-muted hover:bg-hover hover:text-text",
  danger: "bg-danger-fill text-on-fill"
}

interface Props extends Native {
  readonly look?: keyof typeof looks
  readonly icon?: IconName
  /** The key that does the same. */
  readonly shortcut?: string
  /** What it does is under way: it keeps the keyboard, and does nothing else. */
  readonly isBusy?: boolean
  readonly children: ReactNode
  readonly ref?: Ref<HTMLButtonElement>
}

const frame =
  "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium select-none whitespace-nowrap aria-disabled:opacity-60 disabled:opacity-50"

export const buttonClass = (look: keyof typeof looks = "plain") => `${frame} ${looks[look]} h-7 px-2.5`

/** A key that is held down presses a button once: what a list shows next would have its own button pressed. */
const onceHeld = (event: KeyboardEvent<HTMLButtonElement>) => {
  if (event.repeat && (event.key === "Enter" || event.key === " ")) event.preventDefault()
}

/** As `aria-keyshortcuts` writes it. */
const spoken = (key: string) => (/^[A-Z]$/.test(key) ? `Shift+${key}` : key)

/** A button with a verb on it. Its key is no part of its name. */
export const Button = ({
  children,
  icon,
  isBusy = false,
  look = "plain",
  onClick,
  onKeyDown,
  shortcut,
  ...rest
}: Props) => (
  <button
    type="button"
    {...rest}
    aria-busy={isBusy || undefined}
    aria-disabled={isBusy || undefined}
    aria-keyshortcuts={shortcut && spoken(shortcut)}
    className={buttonClass(look)}
    onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
    onKeyDown={(event) => {
      onceHeld(event)
      onKeyDown?.(event)
    }}
  >
    {icon !== undefined && <Icon name={icon} size={14} />}
    {children}
    {shortcut !== undefined && (
      <span aria-hidden className="contents">
        <Kbd keys={shortcut} />
      </span>
    )}
  </button>
)

interface IconButtonProps extends Native {
  readonly icon: IconName
  /** What it does: read by screen readers, and shown on hover. */
  readonly label: string
  readonly shortcut?: string
  readonly isSmall?: boolean
  readonly ref?: Ref<HTMLButtonElement>
}

export const IconButton = ({ icon, isSmall = false, label, shortcut, ...rest }: IconButtonProps) => (
  <button
    type="button"
    {...rest}
    aria-label={label}
    className={`${frame} text-muted hover:bg-hover hover:text-text ${isSmall ? "size-6" : "size-7"}`}
    data-tip={shortcut === undefined ? label : `${label}|${shortcut}`}
  >
    <Icon name={icon} size={isSmall ? 14 : 16} />
  </button>
)
