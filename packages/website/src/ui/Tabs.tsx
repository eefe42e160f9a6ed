import { Tabs as Base } from "@base-ui/react/tabs"
import type { ReactNode } from "react"

interface Props {
  readonly label: string
  readonly tabs: ReadonlyArray<{ readonly name: string; readonly content: ReactNode }>
}

/** Parts of which one is seen: a tab each. Load it lazily: it brings Base UI. */
export const Tabs = ({ label, tabs }: Props) => (
  <Base.Root className="flex flex-col gap-3" defaultValue={tabs[0]?.name ?? ""}>
    <Base.List aria-label={label} className="border-border flex gap-1 overflow-x-auto overflow-y-hidden border-b">
      {tabs.map(({ name }) => (
        <Base.Tab
          className="text-muted hover:text-text aria-selected:text-text aria-selected:border-text -mb-px -outline-offset-2 h-8 shrink-0 border-b-2 border-transparent px-2 font-medium"
          key={name}
          value={name}
        >
          {name}
        </Base.Tab>
      ))}
    </Base.List>
    {tabs.map(({ content, name }) => (
      <Base.Panel className="flex flex-col gap-3" key={name} value={name}>
        {content}
      </Base.Panel>
    ))}
  </Base.Root>
)
