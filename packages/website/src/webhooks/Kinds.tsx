import { eventKinds } from "../events/kinds.ts"
import { Button } from "../ui/Button.tsx"
import { Menu, type MenuItem } from "../ui/Menu.tsx"
import { kindText } from "./words.ts"

/** Which kinds of events are sent, chosen from all that there are; none chosen is all of them. */

/** Kinds that are often wanted. */
const common = ["run_finished", "deployment_updated", "ticket_created", "ticket_updated", "secret_changed"]

/** Kinds by what they are about, such as `ticket`: a choice among a hundred would be read to its end. */
const subjects = [...Map.groupBy(eventKinds, (kind) => kind.slice(0, kind.lastIndexOf("_")))]

/** As many of a subject that all of them are offered at once. */
const several = 3

const itemsOf = (
  [subject, kinds]: (typeof subjects)[number],
  { chosen, onChange }: Pick<Props, "chosen" | "onChange">
): ReadonlyArray<MenuItem> => {
  const others = chosen.filter((one) => !kinds.some((kind) => kind === one))
  const areAll = kinds.every((kind) => chosen.includes(kind))
  const all: MenuItem = {
    label: `${kindText(subject)}: all ${kinds.length} kinds`,
    isChecked: areAll,
    onSelect: () => onChange(areAll ? others : [...others, ...kinds])
  }
  const each = kinds.map((kind): MenuItem => ({
    label: kindText(kind),
    isChecked: chosen.includes(kind),
    onSelect: () => onChange(chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind])
  }))
  return kinds.length < several ? each : [all, ...each]
}

interface Props {
  readonly chosen: ReadonlyArray<string>
  readonly issue: string | undefined
  readonly onChange: (kinds: ReadonlyArray<string>) => void
}

export const Kinds = ({ chosen, issue, onChange }: Props) => {
  const without = (kind: string) => chosen.filter((one) => one !== kind)
  const suggested = common.filter((kind) => !chosen.includes(kind))
  return (
    <div aria-label="Kinds of events" className="flex flex-col gap-2" role="group">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">Kinds of events</span>
        <span className="text-muted flex-1">{chosen.length === 0 && "All are sent, unless you choose some."}</span>
        <Menu
          groups={subjects.map((subject) => ({ isSearched: true, items: itemsOf(subject, { chosen, onChange }) }))}
          label="Kinds of events"
          trigger={(props) => (
            <Button {...props} icon="search">
              Choose kinds
            </Button>
          )}
        />
      </div>
      {chosen.length > 0 && (
        <ul aria-label="Chosen kinds" className="flex flex-wrap gap-1">
          {chosen.map((kind) => (
            <li key={kind}>
              <Button
                aria-label={`Leave out ${kindText(kind)}`}
                icon="cross"
                onClick={() => onChange(without(kind))}
                title={kind}
              >
                {kindText(kind)}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {suggested.length > 0 && (
        <div aria-label="Often wanted" className="flex flex-wrap items-center gap-1" role="group">
          <span className="text-muted pr-1 text-xs">Often wanted</span>
          {suggested.map((kind) => (
            <Button icon="plus" key={kind} look="quiet" onClick={() => onChange([...chosen, kind])} title={kind}>
              {kindText(kind)}
            </Button>
          ))}
        </div>
      )}
      {issue !== undefined && <p className="text-danger">{issue}</p>}
    </div>
  )
}
