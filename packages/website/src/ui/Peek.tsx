import type { ReactNode } from "react"
import { IconButton } from "./Button.tsx"
import { useKeys } from "./keys.ts"

interface Props {
  readonly label: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** What the current row of a list stands for, beside the list, which keeps the keyboard. */
const Peek = ({ children, label, onClose }: Props) => {
  useKeys([{ keys: "Escape", label: "Close the peek", group: "List", run: onClose }])
  return (
    <aside
      aria-label={label}
      className="bg-raised shadow-overlay border-border animate-appear fixed right-0 bottom-0 z-20 flex max-h-[55vh] w-full flex-col overflow-y-auto border-t md:top-(--header) md:max-h-none md:w-120 md:border-t-0 md:border-l"
    >
      <div className="sticky top-0 flex h-0 justify-end">
        <span className="p-2">
          <IconButton icon="cross" isSmall label="Close the peek" onClick={onClose} shortcut="Escape" />
        </span>
      </div>
      {children}
    </aside>
  )
}

export default Peek
