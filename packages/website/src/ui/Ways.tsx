import Command from "./Command.tsx"
import { Tabs } from "./Tabs.tsx"

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
  <Tabs
    label={label}
    tabs={ways.map(({ lines, name }) => ({
      name,
      content: lines.map((one) => (
        <div className="flex flex-col gap-1" key={one.label}>
          <p className="text-muted">{one.label}</p>
          <Command label={`Copy: ${one.label}`} text={one.text} />
        </div>
      ))
    }))}
  />
)
