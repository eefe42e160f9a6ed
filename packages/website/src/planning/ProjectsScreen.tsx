import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { ProjectSummary } from "@delivery/domain/planning/Project"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { mayAct, useRole } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu, type MenuItem } from "../ui/Menu.tsx"
import { Rows } from "../ui/Rows.tsx"
import { Empty } from "../ui/States.tsx"
import { ProgressBar, progressText } from "./Progress.tsx"
import { ProjectStatusMark } from "./ProjectStatusMark.tsx"
import { archivedProjectsQuery } from "./archivedQueries.ts"
import { projectsQuery } from "./queries.ts"
import { TargetDate } from "./TargetDate.tsx"
import { useRowDrag } from "./useRowDrag.ts"
import { useProjectOrder } from "./useProjectOrder.ts"

/** Bodies of work in the order of their priority: how far each has come, who leads it, and when it should be done. */

const ProjectDialog = later(() => import("./ProjectDialog.tsx"))
const OrderConflict = later(() => import("./OrderConflict.tsx"))
const ProjectPeek = later(() => import("./ProjectPeek.tsx"))

interface RowProps {
  readonly slug: string
  readonly project: ProjectSummary
  readonly place: number
  readonly isCurrent: boolean
  readonly moves: ReadonlyArray<MenuItem>
  /** Another project was dropped on this one. */
  readonly onDropped: ((id: string) => void) | undefined
}

const Row = ({ isCurrent, moves, onDropped, place, project, slug }: RowProps) => {
  const { element, isOver } = useRowDrag("project", project.id, onDropped)
  return (
    <div
      className={`border-border hover:bg-hover two-lines relative flex h-(--row) items-center gap-3 border-b pr-2 pl-4 ${isOver ? "bg-accent-soft" : isCurrent ? "bg-selected" : ""}`}
      ref={element}
    >
      <span className="text-faint tabular shrink-0 sm:w-5 sm:text-right">{place + 1}</span>
      <Link
        className="flex h-full min-w-0 flex-1 items-center gap-3 max-sm:after:absolute max-sm:after:inset-0"
        // The row is dragged, and not the address.
        draggable={false}
        params={{ slug, project: project.slug }}
        to="/w/$slug/projects/$project"
      >
        <span className="foreign max-w-full min-w-0 truncate font-medium sm:max-w-[60%]">{project.name}</span>
        <span className="text-muted foreign hidden min-w-0 flex-1 truncate sm:block">{project.summary ?? ""}</span>
      </Link>
      <span className="second-line">
        <span className="flex shrink-0 justify-end sm:max-md:hidden md:w-24">
          <ProjectStatusMark status={project.status} />
        </span>
        <span className="text-muted flex shrink-0 items-center gap-2 sm:max-md:hidden md:w-40">
          <span className="w-14 shrink-0 max-sm:hidden">
            <ProgressBar progress={project.progress} />
          </span>
          <span className="tabular truncate">{progressText(project.progress)}</span>
        </span>
        <span className="text-muted foreign min-w-0 truncate sm:max-lg:hidden lg:w-28 lg:shrink-0">
          {project.lead === null ? "" : project.lead.name}
        </span>
        <span className="text-muted tabular shrink-0 text-right sm:max-lg:hidden lg:w-24">
          {project.targetDate !== null && <TargetDate day={project.targetDate} />}
        </span>
      </span>
      {moves.length > 0 && (
        <Menu
          groups={[{ items: moves }]}
          label={`Move ${project.name}`}
          trigger={(props) => (
            <button
              {...props}
              aria-label={`Move ${project.name}`}
              className="text-muted hover:bg-hover relative inline-flex size-6 max-sm:col-start-3 max-sm:row-span-2 max-sm:row-start-1 max-sm:self-center items-center justify-center rounded-md"
              tabIndex={-1}
              type="button"
            >
              <Icon name="more" size={14} />
            </button>
          )}
        />
      )}
    </div>
  )
}

const List = ({
  isOrdered,
  projects: read,
  slug
}: {
  readonly slug: string
  readonly projects: ReadonlyArray<ProjectSummary>
  readonly isOrdered: boolean
}) => {
  const navigate = useNavigate()
  const { move, projects } = useProjectOrder(slug, read)
  const [current, setCurrent] = useState<string>()
  const at = projects.findIndex(({ id }) => id === current)
  const shove = (step: 1 | -1) => () => {
    if (at >= 0) move(at, at + step)
  }
  useKeys(
    isOrdered
      ? [
          { keys: "J", label: "Lower the priority", group: "Projects", run: shove(1) },
          { keys: "K", label: "Raise the priority", group: "Projects", run: shove(-1) }
        ]
      : []
  )
  const movesOf = (index: number): ReadonlyArray<MenuItem> =>
    isOrdered
      ? [
          { label: "To the top", onSelect: () => move(index, 0) },
          { label: "Up", shortcut: "K", onSelect: () => move(index, index - 1) },
          { label: "Down", shortcut: "J", onSelect: () => move(index, index + 1) },
          { label: "To the bottom", onSelect: () => move(index, projects.length - 1) }
        ]
      : []
  return (
    <Rows
      count={projects.length}
      isTall
      at={at}
      keyOf={(index) => projects[index]!.id}
      label="Projects"
      noun="project"
      onCurrent={(index) => setCurrent(projects[index]?.id)}
      onOpen={(index) =>
        void navigate({ to: "/w/$slug/projects/$project", params: { slug, project: projects[index]!.slug } })
      }
      peek={(index) => <ProjectPeek project={projects[index]!} slug={slug} />}
      row={(index, isCurrent) => (
        <Row
          isCurrent={isCurrent}
          moves={movesOf(index)}
          onDropped={
            isOrdered
              ? (id) =>
                  void move(
                    projects.findIndex((one) => one.id === id),
                    index
                  )
              : undefined
          }
          place={index}
          project={projects[index]!}
          slug={slug}
        />
      )}
    />
  )
}

const ProjectsScreen = () => {
  const { slug } = useParams({ from: "/w/$slug/projects" })
  const { view } = useSearch({ from: "/w/$slug/projects" })
  const navigate = useNavigate()
  const isArchived = view === "archived"
  const query = useQuery(isArchived ? archivedProjectsQuery(slug) : projectsQuery(slug))
  const mayChange = mayAct(useRole(slug), "member")
  const [isNew, setNew] = useState(false)
  useKeys(mayChange ? [{ keys: "n", label: "Add a project", group: "Projects", run: () => setNew(true) }] : [])
  return (
    <>
      <Header
        actions={
          mayChange && (
            <Button icon="plus" look="primary" onClick={() => setNew(true)} shortcut="n">
              Add project
            </Button>
          )
        }
        crumbs={[]}
        title="Projects"
      />
      <Tabs label="Views of projects">
        <Link activeOptions={{ exact: true }} className={tabClass} params={{ slug }} search={{}} to="/w/$slug/projects">
          By priority
        </Link>
        <Link
          activeOptions={{ exact: true }}
          className={tabClass}
          params={{ slug }}
          search={{ view: "archived" }}
          to="/w/$slug/projects"
        >
          Archived
        </Link>
      </Tabs>
      {mayChange && <OrderConflict slug={slug} />}
      <Loaded isTall query={query} rows={8}>
        {({ projects }) =>
          projects.length === 0 ? (
            <Empty
              action={
                mayChange &&
                !isArchived && (
                  <Button look="primary" onClick={() => setNew(true)}>
                    Add project
                  </Button>
                )
              }
              icon="project"
              title={
                isArchived
                  ? "Nothing is archived"
                  : "A project is a body of work with a goal: tickets, milestones and a date"
              }
            />
          ) : (
            <List isOrdered={mayChange && !isArchived} projects={projects} slug={slug} />
          )
        }
      </Loaded>
      {isNew && (
        <ProjectDialog
          onClose={() => setNew(false)}
          onDone={(project) => void navigate({ to: "/w/$slug/projects/$project", params: { slug, project } })}
          slug={slug}
        />
      )}
    </>
  )
}

export default ProjectsScreen
