import { useId } from "react"
import { Icon } from "../ui/Icon.tsx"
import { holdKeys } from "../ui/keys.ts"
import { Menu, type MenuItem } from "../ui/Menu.tsx"
import { useOwners } from "./owners.ts"
import { none, type TicketFields } from "./useTicketFields.ts"

/** What a new ticket is beside its words, to choose. */

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly items: ReadonlyArray<MenuItem>
  /** Whether something has to be chosen still. */
  readonly isMissing?: boolean | undefined
}

/** A field with the look of others, whose value is chosen in a menu that is searched. */
const Choice = ({ isMissing = false, items, label, value }: ChoiceProps) => {
  const id = useId()
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="font-medium" id={id}>
        {label}
      </span>
      <Menu
        groups={[{ isSearched: true, items }]}
        label={label}
        trigger={(props) => (
          <button
            {...props}
            aria-labelledby={`${id} ${id}value`}
            data-missing={isMissing || undefined}
            onKeyDown={({ altKey, ctrlKey, currentTarget, key, metaKey }) => {
              if (key.length > 1 || key === " " || altKey || ctrlKey || metaKey) return
              // The menu finds by what is typed here, this key among it.
              holdKeys()
              currentTarget.click()
            }}
            className="border-border bg-surface hover:border-strong flex h-7 w-full items-center gap-2 rounded-md border px-2 text-left select-none"
            type="button"
          >
            <span className="foreign min-w-0 flex-1 truncate" id={`${id}value`}>
              {value}
            </span>
            <Icon name="chevronDown" size={14} />
          </button>
        )}
      />
    </div>
  )
}

interface OneProps extends Pick<ChoiceProps, "isMissing"> {
  readonly label: string
  readonly value: string
  readonly options: ReadonlyArray<{
    readonly value: string
    readonly label: string
    readonly hint?: string | undefined
  }>
  readonly onChange: (value: string) => void
}

const One = ({ isMissing, label, onChange, options, value }: OneProps) => (
  <Choice
    isMissing={isMissing}
    items={options.map((option) => ({
      label: option.label,
      hint: option.hint,
      isChosen: option.value === value,
      onSelect: () => onChange(option.value)
    }))}
    label={label}
    value={options.find((option) => option.value === value)?.label ?? `Choose a ${label.toLowerCase()}`}
  />
)

const Tags = ({ fields: { set, shown, tags } }: { readonly fields: TicketFields }) => {
  const chosen = tags.filter((tag) => shown.tags.includes(tag.id))
  return (
    <Choice
      items={tags.map(({ id, name }) => ({
        label: name,
        isChecked: shown.tags.includes(id),
        onSelect: () =>
          set({ tags: shown.tags.includes(id) ? shown.tags.filter((one) => one !== id) : [...shown.tags, id] })
      }))}
      label="Tags"
      value={chosen.length === 0 ? "No tags" : chosen.map(({ name }) => name).join(", ")}
    />
  )
}

interface Props {
  readonly slug: string
  readonly fields: TicketFields
}

export const TicketFieldsView = ({ fields, slug }: Props) => {
  const { milestones, projects, set, setTeam, shown, statuses, tags, teams } = fields
  const owners = useOwners(slug, "member", { teams: (teams ?? []).filter(({ key }) => key === shown.team) })
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2">
      <One
        isMissing={shown.team === none}
        label="Team"
        onChange={setTeam}
        options={(teams ?? []).map(({ key, name }) => ({ value: key, label: name, hint: key }))}
        value={shown.team}
      />
      {statuses.length > 0 && (
        <One
          label="Status"
          onChange={(status) => set({ status })}
          options={statuses.map(({ category, id, name }) => ({ value: id, label: name, hint: category }))}
          value={shown.status}
        />
      )}
      <One
        label="Owner"
        onChange={(owner) => set({ owner })}
        options={[
          { value: none, label: "Nobody" },
          ...owners.map(({ hint, label, owner: { id } }) => ({ value: id, label, hint }))
        ]}
        value={shown.owner}
      />
      {projects.length > 0 && (
        <One
          label="Project"
          onChange={(project) => set({ project, milestone: undefined })}
          options={[
            { value: none, label: "No project" },
            ...projects.map(({ name, slug: value }) => ({ value, label: name }))
          ]}
          value={shown.project}
        />
      )}
      {milestones.length > 0 && (
        <One
          label="Milestone"
          onChange={(milestone) => set({ milestone })}
          options={[
            { value: none, label: "No milestone" },
            ...milestones.map(({ name, number }) => ({ value: String(number), label: name }))
          ]}
          value={shown.milestone}
        />
      )}
      {tags.length > 0 && <Tags fields={fields} />}
    </div>
  )
}
