import { Menu } from "@base-ui/react/menu"
import { Fragment } from "react"
import { MenuContent, menuRow } from "./MenuContent.tsx"
import { SearchMenu } from "./SearchMenu.tsx"
import type { MenuGroup, MenuItem, OpenMenu } from "./Menu.tsx"

interface Props extends OpenMenu {
  readonly groups: ReadonlyArray<MenuGroup>
  readonly label: string
}

const Items = ({ items }: { readonly items: ReadonlyArray<MenuItem> }) => {
  if (items.some((item) => item.isChosen !== undefined)) {
    return (
      <Menu.RadioGroup value={items.findIndex((item) => item.isChosen)}>
        {items.map((item, index) => (
          <Menu.RadioItem
            className={menuRow}
            closeOnClick
            key={`${index} ${item.label}`}
            onClick={item.onSelect}
            value={index}
          >
            <MenuContent item={item} />
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    )
  }
  return items.map((item, index) =>
    item.isChecked === undefined ? (
      <Menu.Item
        className={item.isDangerous === true ? `${menuRow} text-danger` : menuRow}
        key={`${index} ${item.label}`}
        onClick={item.onSelect}
      >
        <MenuContent item={item} />
      </Menu.Item>
    ) : (
      <Menu.CheckboxItem
        checked={item.isChecked}
        className={menuRow}
        key={`${index} ${item.label}`}
        onCheckedChange={item.onSelect}
      >
        <MenuContent item={item} />
      </Menu.CheckboxItem>
    )
  )
}

/** Whether something else has the keyboard by now, such as a dialog that an item has opened. */
const hasMovedOn = (): boolean => {
  const { activeElement } = document
  return activeElement !== null && activeElement !== document.body && activeElement.closest("[role=menu]") === null
}

const PlainMenu = ({ anchor, groups, isOpen, label, onOpenChange, side }: Props) => (
  <Menu.Root
    onOpenChange={(next, { reason }) => {
      // The next key is the page's, also while the menu is still going.
      if (reason === "escape-key") anchor.current?.focus()
      onOpenChange(next)
    }}
    open={isOpen}
  >
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
          className="bg-raised shadow-overlay animate-appear max-h-(--available-height) max-w-[min(20rem,var(--available-width))] min-w-48 overflow-y-auto rounded-lg p-1 outline-none"
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

const MenuPopup = (props: Props) =>
  props.groups.some(({ isSearched }) => isSearched) ? <SearchMenu {...props} /> : <PlainMenu {...props} />

export default MenuPopup
