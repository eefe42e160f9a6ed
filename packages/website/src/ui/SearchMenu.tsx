import { Popover } from "@base-ui/react/popover"
import { Fragment, type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from "react"
import { takeHeldKeys } from "./keys.ts"
import { matches } from "./match.ts"
import type { MenuGroup, MenuItem, OpenMenu } from "./Menu.tsx"
import { MenuContent, menuRow } from "./MenuContent.tsx"

/** A menu with a field, which finds items by any part of their names. The field keeps the keyboard. */

interface Props extends OpenMenu {
  readonly groups: ReadonlyArray<MenuGroup>
  readonly label: string
  /** What gets the keyboard when it closes. Default: the anchor. */
  readonly back?: HTMLElement | undefined
}

/** Those whose names have what was typed; of them those that begin with it first. */
const found = (groups: ReadonlyArray<MenuGroup>, text: string): ReadonlyArray<MenuGroup> => {
  if (text.trim() === "") return groups
  const begins = ({ label }: MenuItem) => (label.toLowerCase().startsWith(text.trim().toLowerCase()) ? 0 : 1)
  return groups
    .map((group) => ({
      ...group,
      items: group.items
        .filter(({ label }) => matches(text.trim(), label))
        .toSorted((one, other) => begins(one) - begins(other))
    }))
    .filter(({ items }) => items.length > 0)
}

const roleOf = ({ isChecked, isChosen }: MenuItem) =>
  isChosen !== undefined ? "menuitemradio" : isChecked === undefined ? "menuitem" : "menuitemcheckbox"

interface ItemsProps {
  readonly groups: ReadonlyArray<MenuGroup>
  readonly current: number
  readonly id: string
  readonly label: string
  readonly onPlace: (place: number) => void
  readonly onSelect: (item: MenuItem) => void
}

const Items = ({ current, groups, id, label, onPlace, onSelect }: ItemsProps) => {
  let place = -1
  return (
    <div aria-label={label} className="min-h-0 overflow-y-auto p-1" id={id} role="menu">
      {groups.map((group, at) => (
        <Fragment key={group.label ?? at}>
          {at > 0 && <div className="bg-border -mx-1 my-1 h-px" role="separator" />}
          {group.items.map((item) => {
            const mine = ++place
            return (
              <div
                aria-checked={item.isChosen ?? item.isChecked}
                className={menuRow}
                data-highlighted={mine === current ? "" : undefined}
                data-place={mine}
                id={`${id}-${mine}`}
                key={`${mine} ${item.label}`}
                onClick={() => onSelect(item)}
                onPointerMove={() => onPlace(mine)}
                role={roleOf(item)}
                tabIndex={-1}
              >
                <MenuContent item={item} />
              </div>
            )
          })}
        </Fragment>
      ))}
    </div>
  )
}

interface ContentProps extends Pick<Props, "groups" | "label"> {
  readonly field: RefObject<HTMLInputElement | null>
  readonly onClose: () => void
}

const Content = ({ field, groups, label, onClose }: ContentProps) => {
  const id = useId()
  const [text, setText] = useState("")
  const [place, setPlace] = useState(() =>
    Math.max(
      0,
      groups.flatMap(({ items }) => items).findIndex(({ isChosen }) => isChosen)
    )
  )
  const shown = found(groups, text)
  const items = shown.flatMap((group) => group.items)
  const current = Math.min(place, items.length - 1)
  // What was typed at the button of the menu.
  useEffect(() => {
    const typed = takeHeldKeys()
    if (typed === "") return
    setText(typed)
    setPlace(0)
    field.current?.focus()
  }, [field])
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: "nearest" })
  }, [current, id])
  const select = (item: MenuItem | undefined) => {
    if (item === undefined) return
    if (item.isChecked === undefined) onClose()
    item.onSelect()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const on = event.target instanceof HTMLElement ? event.target.dataset["place"] : undefined
    const from = on === undefined ? current : Number(on)
    const steps: Readonly<Record<string, number>> = { ArrowDown: from + 1, ArrowUp: from - 1 }
    const next = steps[event.key]
    if (next !== undefined) {
      setPlace((next + items.length) % Math.max(1, items.length))
      field.current?.focus()
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      // It sends the form around the menu, which is not done before something is chosen.
      event.stopPropagation()
    } else if (event.key === "Enter" || (event.key === " " && on !== undefined)) select(items[from])
    else {
      // What is typed at an item is for the field.
      if (event.key.length === 1 && on !== undefined) field.current?.focus()
      return
    }
    event.preventDefault()
  }
  return (
    <div className="flex min-h-0 flex-col" onKeyDown={onKeyDown} role="presentation">
      <input
        aria-activedescendant={items.length === 0 ? undefined : `${id}-${current}`}
        aria-controls={items.length === 0 ? undefined : id}
        aria-label={`Search: ${label}`}
        autoComplete="off"
        className="border-border h-8 shrink-0 rounded-t-lg border-b bg-transparent px-3 outline-none"
        onChange={(event) => {
          setText(event.target.value)
          setPlace(0)
        }}
        placeholder="Search"
        ref={field}
        spellCheck={false}
        value={text}
      />
      {items.length === 0 ? (
        <p className="text-muted px-3 py-2" role="status">
          {text === "" ? "There is none yet." : "Nothing has this name."}
        </p>
      ) : (
        <Items current={current} groups={shown} id={id} label={label} onPlace={setPlace} onSelect={select} />
      )}
    </div>
  )
}

export const SearchMenu = ({ anchor, back, groups, isOpen, label, onOpenChange, side }: Props) => {
  const field = useRef<HTMLInputElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  /** Whether something else has the keyboard by now, such as a dialog that an item has opened. */
  const hasMovedOn = () => {
    const { activeElement } = document
    return activeElement !== null && activeElement !== document.body && popup.current?.contains(activeElement) === false
  }
  // The next key is the page's, also while the menu is still going.
  const close = () => {
    ;(back ?? anchor.current)?.focus()
    onOpenChange(false)
  }
  return (
    <Popover.Root
      onOpenChange={(next, { event, reason }) => {
        // Also before it has the keyboard, which its button has until then.
        if (reason === "escape-key") return close()
        // Its button closes it by itself.
        const isAtButton = event.target instanceof Node && anchor.current?.contains(event.target) === true
        if (next || !isAtButton) onOpenChange(next)
      }}
      open={isOpen}
    >
      <Popover.Portal container={anchor.current?.closest<HTMLElement>("main, nav, [role=dialog]") ?? null}>
        <Popover.Positioner
          align="start"
          anchor={anchor}
          className="z-40 outline-none"
          positionMethod="fixed"
          side={side}
          sideOffset={4}
        >
          <Popover.Popup
            aria-label={label}
            aria-modal={false}
            className="bg-raised shadow-overlay animate-appear flex max-h-(--available-height) w-72 max-w-[calc(100vw-1rem)] flex-col rounded-lg outline-none"
            finalFocus={() => !hasMovedOn() && (back ?? anchor.current)}
            // Without a keyboard, one on the screen would hide the menu.
            initialFocus={() => (matchMedia("(pointer: coarse)").matches ? popup.current : field.current)}
            ref={popup}
          >
            <Content field={field} groups={groups} label={label} onClose={close} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
