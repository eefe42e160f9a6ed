import { copyText } from "../ui/copyText.ts"
import { everywhere, useKeys } from "../ui/keys.ts"
import { toast } from "../ui/toast.ts"
import { namedAt } from "./namedAt.ts"

/** The keys that copy what something is called, and its address: of the row that the keyboard is at, or else of the screen. */

/** The link of what has the keyboard: itself, that of its row in a table, or that of the current row of a list. */
const currentLink = (): HTMLAnchorElement | null => {
  const screen = document.querySelector("#screen")
  const { activeElement } = document
  const focused = screen?.contains(activeElement) === true ? activeElement : null
  return (
    focused?.closest<HTMLAnchorElement>("a[href]") ??
    focused?.closest("[role=row]")?.querySelector<HTMLAnchorElement>("a[href]") ??
    screen?.querySelector<HTMLAnchorElement>("[data-row]:has(.bg-selected) a[href]") ??
    null
  )
}

const copyName = (): void => {
  const link = currentLink()
  const name = (link === null ? undefined : namedAt(link.pathname)) ?? namedAt(location.pathname)
  if (name === undefined) toast({ title: "Nothing here has a name to copy. Go to a row first." })
  else copyText(name, "Name")
}

const CopyKeys = () => {
  useKeys([
    { keys: "y", label: "Copy the name or number", group: everywhere, run: copyName },
    {
      keys: "Y",
      label: "Copy the link",
      group: everywhere,
      run: () => copyText(currentLink()?.href ?? location.href, "Link")
    }
  ])
  return null
}

export default CopyKeys
