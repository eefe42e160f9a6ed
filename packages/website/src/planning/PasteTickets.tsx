import type { CreateTicket } from "@delivery/domain/planning/Ticket"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { failureOf } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { useAction } from "../api/useAction.ts"
import { TextArea } from "../ui/Field.tsx"
import { counted, visible } from "../ui/format.ts"
import { Select } from "../ui/Select.tsx"
import { projectQuery, projectsQuery, teamsQuery, ticketsKey } from "./queries.ts"
import { mostPasted, titlesOf } from "./pasted.ts"
import type { TicketsSearch } from "./search.ts"

interface Props {
  readonly slug: string
  /** What they are likely to be of. */
  readonly search: TicketsSearch
  readonly onClose: () => void
}

const none = ""

/** Makes them one after the other, in their order. Tells which are left where one is refused. */
const makeEach = async (
  titles: ReadonlyArray<string>,
  fields: Omit<CreateTicket, "title">,
  slug: string,
  onRefused: (rest: ReadonlyArray<string>) => void
): Promise<void> => {
  for (const [index, title] of titles.entries()) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- their numbers follow the list
      await client.tickets.create({ params: { slug }, payload: { ...fields, title } })
    } catch (error) {
      onRefused(titles.slice(index))
      const failure = failureOf(error)
      throw index === 0 ? error : { ...failure, message: `${counted(index, "ticket")} made. ${failure.message}` }
    }
  }
}

/** Of which team, project and milestone they are. */
const useWhere = (slug: string, search: TicketsSearch) => {
  const { data: teams } = useQuery(teamsQuery(slug))
  const [chosen, setTeam] = useState(search.teams?.length === 1 ? search.teams[0]! : none)
  const [project, setProject] = useState(search.projects?.length === 1 ? search.projects[0]! : none)
  const [milestone, setMilestone] = useState(none)
  const team = chosen === none && teams?.teams.length === 1 ? teams.teams[0]!.key : chosen
  return { team, setTeam, project, setProject, milestone, setMilestone, teams: teams?.teams ?? [] }
}

interface WhereProps {
  readonly slug: string
  readonly where: ReturnType<typeof useWhere>
}

const Where = ({ slug, where }: WhereProps) => {
  const { milestone, project, setMilestone, setProject, setTeam, team, teams } = where
  const { data: projects } = useQuery(projectsQuery(slug))
  const { data: one } = useQuery({ ...projectQuery(slug, project), enabled: project !== none })
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Select
        label="Team"
        onChange={setTeam}
        options={[
          ...(team === none ? [{ value: none, label: "Choose a team" }] : []),
          ...teams.map(({ key, name }) => ({ value: key, label: visible(name), hint: key }))
        ]}
        value={team}
      />
      <Select
        label="Project"
        onChange={(next) => {
          setProject(next)
          setMilestone(none)
        }}
        options={[
          { value: none, label: "No project" },
          ...(projects?.projects ?? [])
            .filter(({ teams: some }) => some.some(({ key }) => key === team))
            .map(({ name, slug: value }) => ({ value, label: visible(name) }))
        ]}
        value={project}
      />
      {one !== undefined && project !== none && one.milestones.length > 0 && (
        <Select
          label="Milestone"
          onChange={setMilestone}
          options={[
            { value: none, label: "No milestone" },
            ...one.milestones.map(({ name, number }) => ({ value: String(number), label: visible(name) }))
          ]}
          value={milestone}
        />
      )}
    </div>
  )
}

/** A ticket for each line of a list. Those that were refused stay in the field. */
const PasteTickets = ({ onClose, search, slug }: Props) => {
  const queries = useQueryClient()
  const where = useWhere(slug, search)
  const { milestone, project, team } = where
  const [text, setText] = useState("")
  const titles = titlesOf(text)
  const fields = {
    team,
    ...(project === none ? {} : { project }),
    ...(milestone === none ? {} : { milestone: Number(milestone) })
  }
  const make = useAction({
    act: () =>
      makeEach(titles, fields, slug, (rest) => {
        // What is done is not done again.
        setText(rest.join("\n"))
        void queries.invalidateQueries({ queryKey: ticketsKey(slug) })
      }),
    changes: [ticketsKey(slug)],
    done: () => ({ title: `${counted(titles.length, "ticket")} created`, tone: "success" }),
    onDone: onClose
  })
  return (
    <FormDialog
      action={titles.length === 0 ? "Create tickets" : `Create ${counted(titles.length, "ticket")}`}
      doing={make}
      isReady={titles.length > 0 && titles.length <= mostPasted && team !== none}
      onClose={onClose}
      title="Tickets from a list"
    >
      <TextArea
        autoFocus
        hint="A line is a ticket. Bullets, numbers and boxes at the start of a line are left out."
        issue={titles.length > mostPasted ? `At most ${mostPasted} at once.` : undefined}
        label="Titles"
        onChange={(event) => setText(event.target.value)}
        rows={10}
        value={text}
      />
      <Where slug={slug} where={where} />
    </FormDialog>
  )
}

export default PasteTickets
