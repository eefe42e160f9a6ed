import { CSPProvider } from "@base-ui/react/csp-provider"
import { Select as Base } from "@base-ui/react/select"
import { useId } from "react"
import { Icon } from "./Icon.tsx"

interface Props<Value extends string> {
  readonly label: string
  readonly options: ReadonlyArray<{ readonly value: Value; readonly label: string; readonly hint?: string }>
  readonly value: Value
  readonly onChange: (value: Value) => void
  /** What it says as long as none of them is chosen: "Choose a product". It is missing then. */
  readonly unchosen?: string
}

/** One of several, in a form. Load it lazily: it brings Base UI. */
export const Select = <Value extends string>({ label, onChange, options, unchosen, value }: Props<Value>) => {
  const id = useId()
  const chosen = options.find((option) => option.value === value)?.label
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="font-medium" id={id}>
        {label}
      </span>
      {/* It would add a style element, which the policy of the pages forbids. */}
      <CSPProvider disableStyleElements>
        <Base.Root items={options} onValueChange={(next) => next !== null && onChange(next as Value)} value={value}>
          <Base.Trigger
            aria-labelledby={id}
            data-missing={chosen === undefined || undefined}
            className="border-border bg-surface hover:border-strong flex h-7 w-full items-center gap-2 rounded-md border px-2 text-left select-none"
          >
            <Base.Value className="min-w-0 flex-1 truncate">
              {chosen ?? <span className="text-muted">{unchosen}</span>}
            </Base.Value>
            <Icon name="chevronDown" size={14} />
          </Base.Trigger>
          <Base.Portal>
            <Base.Positioner alignItemWithTrigger={false} className="z-50 outline-none" sideOffset={4}>
              <Base.Popup className="bg-raised shadow-overlay animate-appear max-h-(--available-height) min-w-(--anchor-width) overflow-y-auto rounded-lg p-1">
                {options.map((option) => (
                  <Base.Item
                    className="data-highlighted:bg-hover flex min-h-7 items-center gap-2 rounded-sm px-2 py-1 outline-none select-none"
                    key={option.value}
                    value={option.value}
                  >
                    <span className="w-4">
                      <Base.ItemIndicator>
                        <Icon name="check" size={14} />
                      </Base.ItemIndicator>
                    </span>
                    <Base.ItemText className="flex-1">{option.label}</Base.ItemText>
                    {option.hint !== undefined && <span className="text-muted text-xs">{option.hint}</span>}
                  </Base.Item>
                ))}
              </Base.Popup>
            </Base.Positioner>
          </Base.Portal>
        </Base.Root>
      </CSPProvider>
    </div>
  )
}
