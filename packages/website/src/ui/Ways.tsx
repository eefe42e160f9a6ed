import { Tabs } from "@base-ui/react/tabs"
import Command from "./Command.tsx"

export interface Lines {
  /** What the lines are, such as the name of their file. */
  readonly label: string
  readonly text: string
}

interface Props {
  readonly label: string
  readonly ways: ReadonlyArray<{ readonly name: string; readonly lines: ReadonlyArray<Lines> }>
}

/** Ways to do the same, one of which is read: a tab each, with its lines to paste. Load it lazily: it brings Base UI. */
export const Ways = ({ label, ways }: Props) => (
  <Tabs.Root className="flex flex-col gap-3" defaultValue={ways[0]?.name ?? ""}>
    <Tabs.List aria-label={label} className="border-border flex flex-wrap gap-1 border-b">
      {ways.map(({ name }) => (
        <Tabs.Tab
          className="text-muted hover:text-text aria-selected:text-text aria-selected:border-text -mb-px h-8 border-b-2 border-transparent px-2 font-medium"
          key={name}
          value={name}
        >
          {name}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {ways.map(({ lines, name }) => (
      <Tabs.Panel className="flex flex-col gap-3" key={name} value={name}>
        {lines.map((one) => (
          <div className="flex flex-col gap-1" key={one.label}>
            <p className="text-muted">{one.label}</p>
            <Command label={`Copy: ${one.label}`} text={one.text} />
          </div>
        ))}
      </Tabs.Panel>
    ))}
  </Tabs.Root>
)
