import { type ReactNode, useRef } from "react"
import { Kbd } from "../ui/Kbd.tsx"
import { useKeys } from "../ui/keys.ts"
import { Menu, type MenuGroup } from "../ui/Menu.tsx"

interface Props {
  readonly name: string
  /** The key that opens its choices. */
  readonly shortcut: string
  /** Where the key works, for the list of keys. */
  readonly group: string
  readonly groups: ReadonlyArray<MenuGroup>
  readonly mayChange: boolean
  readonly children: ReactNode
  /** What is to be known of its value, below it. */
  readonly note?: ReactNode
}

/** A property with what it can be, in a menu. */
export const Property = ({ children, group, groups, mayChange, name, note, shortcut }: Props) => {
  const trigger = useRef<HTMLElement>(null)
  useKeys(
    mayChange
      ? [
          {
            keys: shortcut,
            label: `Set the ${name.toLowerCase()}`,
            group,
            run: () => {
              trigger.current?.focus()
              trigger.current?.click()
            }
          }
        ]
      : []
  )
  return (
    <div className="flex min-h-(--row) items-center gap-2">
      <dt className="text-muted w-20 shrink-0">{name}</dt>
      <dd className="min-w-0 flex-1">
        {mayChange ? (
          <Menu
            groups={groups.map((one) => ({ ...one, isSearched: true }))}
            label={name}
            trigger={({ ref, ...props }) => (
              <button
                {...props}
                className="hover:bg-hover flex min-h-7 w-full min-w-0 items-center gap-1.5 rounded-md px-2 text-left"
                ref={(element) => {
                  trigger.current = element
                  ref(element)
                }}
                type="button"
              >
                <span className="sr-only">{name}: </span>
                <span className="flex min-w-0 flex-1 items-center gap-1.5">{children}</span>
                <Kbd keys={shortcut} />
              </button>
            )}
          />
        ) : (
          <span className="flex min-h-7 min-w-0 items-center gap-1.5 px-2">{children}</span>
        )}
        {note}
      </dd>
    </div>
  )
}
