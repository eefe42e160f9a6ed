import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { useQuery } from "@tanstack/react-query"
import { useRef } from "react"
import { Button, buttonClass } from "../ui/Button.tsx"
import { counted, visible } from "../ui/format.ts"
import { Kbd } from "../ui/Kbd.tsx"
import { useKeys } from "../ui/keys.ts"
import { Menu, type MenuItem } from "../ui/Menu.tsx"
import { categories, categoryNames } from "./categories.ts"
import type { TicketChange } from "./changes.ts"
import { useOwners } from "./owners.ts"
import { projectsQuery, tagsQuery } from "./queries.ts"
import { useManyTickets } from "./useManyTickets.ts"

/** What is done with the tickets that are selected. */

interface ChoiceProps {
  readonly label: string
  readonly shortcut: string
  readonly items: ReadonlyArray<MenuItem>
}

const Choice = ({ items, label, shortcut }: ChoiceProps) => {
  const button = useRef<HTMLElement>(null)
  useKeys([
    {
      keys: shortcut,
      label: `${label} of what is selected`,
      group: "Selection",
      run: () => {
        button.current?.focus()
        button.current?.click()
      }
    }
  ])
  return (
    <Menu
      groups={[{ items }]}
      label={label}
      side="top"
      trigger={({ ref, ...props }) => (
        <button
          {...props}
          className={buttonClass("quiet")}
          ref={(element) => {
            button.current = element
            ref(element)
          }}
          type="button"
        >
          {label}
          <Kbd keys={shortcut} />
        </button>
      )}
    />
  )
}

interface Props {
  readonly slug: string
  readonly tickets: ReadonlyArray<TicketSummary>
  /** Of the one team that they are of; undefined where they are of several. */
  readonly statuses: ReadonlyArray<TicketStatus> | undefined
  readonly onClear: () => void
}

/** What there is to choose from, for all of them. */
const useChoices = ({ slug, statuses, tickets }: Omit<Props, "onClear">) => {
  const change = useManyTickets(slug)
  const owners = useOwners(slug)
  const { data: projects } = useQuery(projectsQuery(slug))
  const { data: tags } = useQuery(tagsQuery(slug, undefined))
  const teams = new Set(tickets.map(({ team }) => team.id))
  const fitting = (tags?.tags ?? []).filter(({ team }) => team === null || (teams.size === 1 && teams.has(team.id)))
  const ofAll = (projects?.projects ?? []).filter((project) =>
    [...teams].every((id) => project.teams.some((team) => team.id === id))
  )
  const item = (label: string, asked: TicketChange, said: string, hint?: string): MenuItem => ({
    label,
    ...(hint === undefined ? {} : { hint }),
    onSelect: () => void change(tickets, asked, said)
  })
  return {
    status:
      statuses === undefined
        ? categories.map((category) => {
            const name = categoryNames[category]
            return item(name, { category }, `moved to ${name}`)
          })
        : statuses.map(({ category, id, name }) =>
            item(visible(name), { status: { id, name, category } }, `moved to ${visible(name)}`)
          ),
    owner: [
      item("Nobody", { owner: null }, "given to nobody"),
      ...owners.map(({ hint, label, owner }) => item(label, { owner }, `given to ${label}`, hint))
    ],
    project: [
      item("No project", { project: null }, "taken out of projects"),
      ...ofAll.map(({ id, name, slug: project }) =>
        item(visible(name), { project: { id, slug: project, name } }, `put into ${visible(name)}`)
      )
    ],
    addTag: fitting.map((tag) => item(visible(tag.name), { addTag: tag }, `tagged ${visible(tag.name)}`)),
    removeTag: fitting
      .filter(({ id }) => tickets.some((ticket) => ticket.tags.some((tag) => tag.id === id)))
      .map((tag) => item(visible(tag.name), { removeTag: tag }, `no longer tagged ${visible(tag.name)}`))
  }
}

const BulkBar = ({ onClear, ...props }: Props) => {
  const choices = useChoices(props)
  useKeys([{ keys: "Escape", label: "Select nothing", group: "Selection", run: onClear }])
  return (
    <div
      aria-label="Selection"
      className="bg-raised shadow-overlay animate-appear sticky bottom-3 z-10 mx-3 flex flex-wrap items-center gap-1 rounded-lg px-3 py-1.5"
      role="toolbar"
    >
      <span className="tabular pr-2 font-medium" role="status">
        {counted(props.tickets.length, "ticket")} selected
      </span>
      <Choice items={choices.status} label="Status" shortcut="s" />
      <Choice items={choices.owner} label="Owner" shortcut="a" />
      <Choice items={choices.project} label="Project" shortcut="p" />
      {choices.addTag.length > 0 && <Choice items={choices.addTag} label="Add tag" shortcut="l" />}
      {choices.removeTag.length > 0 && <Choice items={choices.removeTag} label="Remove tag" shortcut="L" />}
      <span className="flex-1" />
      <Button icon="cross" look="quiet" onClick={onClear} shortcut="Escape">
        Clear
      </Button>
    </div>
  )
}

export default BulkBar
