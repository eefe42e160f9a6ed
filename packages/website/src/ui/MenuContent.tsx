import { Icon } from "./Icon.tsx"
import { Kbd } from "./Kbd.tsx"
import type { MenuItem } from "./Menu.tsx"

/** An item of a menu as it is drawn. */

export const menuRow =
  "flex min-h-7 w-full items-center gap-2 rounded-sm px-2 py-1 outline-none data-highlighted:bg-hover select-none"

export const MenuContent = ({ item }: { readonly item: MenuItem }) => (
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
    <span className="min-w-0 flex-auto truncate">{item.label}</span>
    {item.hint !== undefined && <span className="text-muted shrink-999 truncate text-xs">{item.hint}</span>}
    {item.shortcut !== undefined && <Kbd keys={item.shortcut} />}
  </>
)
