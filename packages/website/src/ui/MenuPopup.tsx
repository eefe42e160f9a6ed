import { Menu } from "@base-ui/react/menu"
import { Fragment } from "react"
import { Icon } from "./Icon.tsx"
import { Kbd } from "./Kbd.tsx"
import type { MenuGroup, MenuItem, OpenMenu } from "./Menu.tsx"

interface Props extends OpenMenu {
  readonly groups: ReadonlyArray<MenuGroup>
  readonly label: string
}

const row =
  "flex min-h-7 w-full items-center gap-2 rounded-sm px-2 py-1 outline-none data-highlighted:bg-hover select-none"

const Content = ({ item }: { readonly item: MenuItem }) => (
  <>
    {(item.isChosen ?? item.isChecked) !== undefined && (
      <span className="w-4">
        {(item.isChosen === true || item.isChecked === true) && <Icon name="check" size={14} />}
      </span>
    )}
    {item.icon !== undefined && (
      <span className="text-muted">
        <Icon name={item.icon} size={14} />
      </span>
    )}
    <span className="min-w-0 flex-1 truncate">{item.label}</span>
    {item.hint !== undefined && <span className="text-muted truncate text-xs">{item.hint}</span>}
    {item.shortcut !== undefined && <Kbd keys={item.shortcut} />}
  </>
)

const Items = ({ items }: { readonly items: ReadonlyArray<MenuItem> }) => {
  if (items.some((item) => item.isChosen !== undefined)) {
    return (
      <Menu.RadioGroup value={items.findIndex((item) => item.isChosen)}>
        {items.map((item, index) => (
          <Menu.RadioItem
            className={row}
            closeOnClick
            key={`${index} ${item.label}`}
            onClick={item.onSelect}
            value={index}
          >
            <Content item={item} />
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    )
  }
  return items.map((item, index) =>
    item.isChecked === undefined ? (
      <Menu.Item
        className={item.isDangerous === true ? `${row} text-danger` : row}
        key={`${index} ${item.label}`}
        onClick={item.onSelect}
      >
        <Content item={item} />
      </Menu.Item>
    ) : (
      <Menu.CheckboxItem
        checked={item.isChecked}
        className={row}
        key={`${index} ${item.label}`}
        onCheckedChange={item.onSelect}
      >
        <Content item={item} />
      </Menu.CheckboxItem>
    )
  )
}

/** Whether something else has the keyboard by now, such as a dialog that an item has opened. */
const hasMovedOn = (): boolean => {
  const { activeElement } = document
  return activeElement !== null && activeElement !== document.body && activeElement.closest("[role=menu]") === null
}

const MenuPopup = ({ anchor, groups, isOpen, label, onOpenChange, side }: Props) => (
  <Menu.Root onOpenChange={onOpenChange} open={isOpen}>
    {/* Beside its button, so that it stands in a landmark of the page, or in the dialog that has the keyboard. */}
    <Menu.Portal container={anchor.current?.closest<HTMLElement>("main, nav, [role=dialog]") ?? null}>
      <Menu.Positioner
        align="start"
        anchor={anchor}
        className="z-40 outline-none"
        positionMethod="fixed"
        side={side}
        sideOffset={4}
      >
        <Menu.Popup
          aria-label={label}
          className="bg-raised shadow-overlay animate-appear max-h-(--available-height) max-w-80 min-w-48 overflow-y-auto rounded-lg p-1 outline-none"
          finalFocus={() => !hasMovedOn() && anchor.current}
        >
          {groups.map((group, index) => (
            <Fragment key={group.label ?? group.items[0]?.label ?? "empty"}>
              {index > 0 && <Menu.Separator className="bg-border -mx-1 my-1 h-px" />}
              <Menu.Group>
                {group.label !== undefined && (
                  <Menu.GroupLabel className="text-muted px-2 py-1 text-xs">{group.label}</Menu.GroupLabel>
                )}
                <Items items={group.items} />
              </Menu.Group>
            </Fragment>
          ))}
        </Menu.Popup>
      </Menu.Positioner>
    </Menu.Portal>
  </Menu.Root>
)

export default MenuPopup
