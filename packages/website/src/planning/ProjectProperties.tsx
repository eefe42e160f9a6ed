import type { Project, UpdateProject } from "@delivery/domain/planning/Project"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { membersQuery } from "../identity/queries.ts"
import { formatCount } from "../ui/format.ts"
import { categories, categoryNames } from "./categories.ts"
import { CategoryMark } from "./CategoryMark.tsx"
import { ProgressBar, progressText } from "./Progress.tsx"
import { projectStatuses, ProjectStatusMark } from "./ProjectStatusMark.tsx"
import { Property } from "./Property.tsx"
import { TargetDate } from "./TargetDate.tsx"

/** What a project is beside its words: status, lead, date and progress. */

interface Props {
  readonly slug: string
  readonly project: Project
}

const ProgressFacts = ({ project, slug }: Props) => (
  <div className="flex flex-col gap-2 py-1">
    <dt className="text-muted">Progress</dt>
    <dd className="flex flex-col gap-2">
      <ProgressBar progress={project.progress} />
      <span className="tabular">{progressText(project.progress)}</span>
      <ul>
        {categories.map((category) => (
          <li className="flex min-h-6 items-center gap-2" key={category}>
            <Link
              className="flex-1 hover:underline"
              params={{ slug }}
              search={{ projects: [project.slug], categories: [category] }}
              to="/w/$slug/tickets"
            >
              <CategoryMark isNameShown status={{ category, name: categoryNames[category] }} />
            </Link>
            <span className="tabular text-muted">{formatCount(project.progress[category])}</span>
          </li>
        ))}
      </ul>
    </dd>
  </div>
)

interface FactProps {
  readonly name: string
  /** Opens what changes it. */
  readonly onOpen: (() => void) | undefined
  readonly children: ReactNode
}

const Fact = ({ children, name, onOpen }: FactProps) => (
  <div className="flex min-h-(--row) items-center gap-2">
    <dt className="text-muted w-20 shrink-0">{name}</dt>
    <dd className="foreign min-w-0 flex-1">
      {onOpen === undefined ? (
        <span className="block px-2">{children}</span>
      ) : (
        <button
          className="hover:bg-hover min-h-7 w-full min-w-0 rounded-md px-2 text-left"
          onClick={onOpen}
          type="button"
        >
          <span className="sr-only">Change {name.toLowerCase()}: </span>
          {children}
        </button>
      )}
    </dd>
  </div>
)

interface ShownProps extends Props {
  readonly mayChange: boolean
  readonly onChange: (change: UpdateProject) => void
  /** Opens the dialog in which all of it is changed. */
  readonly onOpen: () => void
}

const ProjectProperties = ({ mayChange, onChange, onOpen, project, slug }: ShownProps) => {
  const open = mayChange ? onOpen : undefined
  const { data: members } = useQuery(membersQuery(slug))
  const people = (members?.members ?? []).filter(({ active }) => active)
  return (
    <>
      {/* On narrow screens these stand above the words, and the others below them. */}
      <dl className="flex flex-col max-md:order-1 max-md:px-4 max-md:pt-2">
        <Property
          group="Project"
          groups={[
            {
              items: projectStatuses.map((status) => ({
                label: status,
                isChosen: status === project.status,
                onSelect: () => onChange({ status })
              }))
            }
          ]}
          mayChange={mayChange}
          name="Status"
          shortcut="s"
        >
          <ProjectStatusMark status={project.status} />
        </Property>
        <Property
          group="Project"
          groups={[
            {
              items: [
                { label: "Nobody", isChosen: project.lead === null, onSelect: () => onChange({ lead: null }) },
                ...people.map(({ email, id, name }) => ({
                  label: name,
                  hint: email,
                  isChosen: project.lead?.id === id,
                  onSelect: () => onChange({ lead: id })
                }))
              ]
            }
          ]}
          mayChange={mayChange}
          name="Lead"
          shortcut="a"
        >
          <span className={`foreign truncate ${project.lead === null ? "text-muted" : ""}`}>
            {project.lead === null ? "Nobody" : project.lead.name}
          </span>
        </Property>
        <Fact name="Target" onOpen={open}>
          {project.targetDate === null ? (
            <span className="text-muted">No date</span>
          ) : (
            <TargetDate day={project.targetDate} />
          )}
        </Fact>
      </dl>
      <dl className="border-border flex flex-col max-md:order-3 max-md:border-y max-md:px-4 max-md:py-3">
        {(
          [
            ["Teams", project.teams.map(({ name }) => name).join(", ")],
            ["Products", project.products.map(({ name }) => name).join(", ") || "None"]
          ] as const
        ).map(([name, value]) => (
          <Fact key={name} name={name} onOpen={open}>
            {value}
          </Fact>
        ))}
        <div className="border-border my-2 border-t" />
        <ProgressFacts project={project} slug={slug} />
      </dl>
    </>
  )
}

export default ProjectProperties
