import type { Milestone, Project, ProjectProgress } from "@delivery/domain/planning/Project"
import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { Sure } from "../api/Sure.tsx"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { Cell, Item } from "../ui/Item.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { ProgressBar, progressText } from "./Progress.tsx"
import { ticketListQuery } from "./queries.ts"

/** The steps of a project, and how far each has come. */

const MilestoneDialog = later(() => import("./MilestoneDialog.tsx"))

interface Props {
  readonly slug: string
  readonly project: Project
  readonly mayChange: boolean
}

const progressOf = (tickets: ReadonlyArray<TicketSummary>, number: number): ProjectProgress => {
  const progress = { backlog: 0, unstarted: 0, started: 0, completed: 0, canceled: 0 }
  for (const { milestone, status } of tickets) if (milestone?.number === number) progress[status.category]++
  return progress
}

interface OneProps extends Props {
  readonly milestone: Milestone
  readonly progress: ProjectProgress | undefined
  readonly onChange: () => void
}

const One = ({ mayChange, milestone, onChange, progress, project, slug }: OneProps) => {
  const name = milestone.name
  const remove = useAction({
    act: () => client.projects.deleteMilestone({ params: { slug, project: project.slug, number: milestone.number } }),
    changes: [workspaceKey(slug, "projects"), workspaceKey(slug, "tickets")]
  })
  return (
    <Item
      actions={
        mayChange && (
          <>
            <Button aria-label={`Change ${name}`} look="quiet" onClick={onChange}>
              Change
            </Button>
            <Sure doing={remove} subject={name} title={`Delete ${name}?`} verb="Delete">
              <p>Its tickets stay in the project, without a milestone. It cannot be brought back.</p>
            </Sure>
          </>
        )
      }
      detail={milestone.summary ?? undefined}
      name={
        <Link
          className="hover:underline"
          params={{ slug }}
          search={{ projects: [project.slug], milestones: [`${project.slug}/${milestone.number}`] }}
          to="/w/$slug/tickets"
        >
          <span className="text-muted tabular font-normal">{milestone.number}.</span> {name}
        </Link>
      }
    >
      {progress !== undefined && (
        <Cell width="wide">
          <span className="flex items-center gap-2">
            <span className="w-16 shrink-0">
              <ProgressBar progress={progress} />
            </span>
            <span className="tabular">{progressText(progress)}</span>
          </span>
        </Cell>
      )}
    </Item>
  )
}

const Milestones = (props: Props) => {
  const { mayChange, project, slug } = props
  const { data } = useQuery(ticketListQuery(slug, { project: project.slug }))
  const [changed, setChanged] = useState<Milestone | "new">()
  useKeys(mayChange ? [{ keys: "m", label: "Add a milestone", group: "Project", run: () => setChanged("new") }] : [])
  return (
    <Section
      actions={
        mayChange && (
          <Button icon="plus" look="quiet" onClick={() => setChanged("new")} shortcut="m">
            Milestone
          </Button>
        )
      }
      isFlush
      title="Milestones"
    >
      {project.milestones.length === 0 ? (
        <p className="text-muted px-4 py-3">No milestones yet. They are the steps in which the project is done.</p>
      ) : (
        <ul>
          {project.milestones.map((milestone) => (
            <One
              key={milestone.id}
              {...props}
              milestone={milestone}
              onChange={() => setChanged(milestone)}
              progress={data === undefined ? undefined : progressOf(data.tickets, milestone.number)}
            />
          ))}
        </ul>
      )}
      {changed !== undefined && (
        <MilestoneDialog
          milestone={changed === "new" ? undefined : changed}
          onClose={() => setChanged(undefined)}
          project={project.slug}
          slug={slug}
        />
      )}
    </Section>
  )
}

export default Milestones
