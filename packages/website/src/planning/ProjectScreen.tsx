import type { Project, UpdateProject } from "@delivery/domain/planning/Project"
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { Suspense, useState } from "react"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { membersQuery } from "../identity/queries.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { formatCount, visible } from "../ui/format.ts"
import { Header, tabClass, Tabs } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { categories, categoryNames } from "./categories.ts"
import { CategoryMark } from "./CategoryMark.tsx"
import { MarkdownSection } from "./MarkdownSection.tsx"
import { Milestones } from "./Milestones.tsx"
import { ProgressBar, progressText } from "./Progress.tsx"
import { projectStatuses, ProjectStatusMark } from "./ProjectStatusMark.tsx"
import { Property } from "./Property.tsx"
import { projectQuery, viewsQuery } from "./queries.ts"

/** A project: its goal, how far it has come, its steps, and what is written about it. */

const ProjectDialog = later(() => import("./ProjectDialog.tsx"))

interface Props {
  readonly slug: string
  readonly project: Project
}

const useProjectChange = (slug: string, project: Project) =>
  useAction({
    act: (payload: UpdateProject) => client.projects.update({ params: { slug, project: project.slug }, payload }),
    changes: [workspaceKey(slug, "projects")],
    failed: () => `${project.name} could not be changed`
  })

type Change = ReturnType<typeof useProjectChange>

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

const Properties = ({
  change,
  mayChange,
  project,
  slug
}: Props & { readonly change: Change; readonly mayChange: boolean }) => {
  const { data: members } = useQuery(membersQuery(slug))
  const people = (members?.members ?? []).filter(({ active }) => active)
  return (
    <dl className="flex flex-col">
      <Property
        group="Project"
        groups={[
          {
            items: projectStatuses.map((status) => ({
              label: status,
              isChosen: status === project.status,
              onSelect: () => change.mutate({ status })
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
              { label: "Nobody", isChosen: project.lead === null, onSelect: () => change.mutate({ lead: null }) },
              ...people.map(({ email, id, name }) => ({
                label: visible(name),
                hint: email,
                isChosen: project.lead?.id === id,
                onSelect: () => change.mutate({ lead: id })
              }))
            ]
          }
        ]}
        mayChange={mayChange}
        name="Lead"
        shortcut="a"
      >
        <span className={`foreign truncate ${project.lead === null ? "text-muted" : ""}`}>
          {project.lead === null ? "Nobody" : visible(project.lead.name)}
        </span>
      </Property>
      {(
        [
          ["Target", project.targetDate ?? "No date"],
          ["Teams", project.teams.map(({ name }) => visible(name)).join(", ")],
          ["Products", project.products.map(({ name }) => visible(name)).join(", ") || "None"]
        ] as const
      ).map(([name, value]) => (
        <div className="flex min-h-(--row) items-center gap-2" key={name}>
          <dt className="text-muted w-20 shrink-0">{name}</dt>
          <dd className="foreign min-w-0 px-2">{value}</dd>
        </div>
      ))}
      <div className="border-border my-2 border-t" />
      <ProgressFacts project={project} slug={slug} />
    </dl>
  )
}

const ProjectMenu = ({ project, slug }: Props) => {
  const { archivedAt, name } = project
  const keys = [workspaceKey(slug, "projects")]
  const params = { slug, project: project.slug }
  const restore = useAction({
    act: () => client.projects.restore({ params }),
    changes: keys,
    done: () => ({ title: `${name} is back` }),
    failed: () => `${name} stays archived`
  })
  const archive = useAction({
    act: () => client.projects.archive({ params }),
    changes: keys,
    done: () => ({
      title: `${name} was archived`,
      detail: "Its tickets stay. It takes no changes until it is restored.",
      undo: () => restore.mutate()
    }),
    failed: () => `${name} was not archived`
  })
  return (
    <Menu
      groups={[
        {
          items: [
            archivedAt === null
              ? { label: "Archive", isDangerous: true, onSelect: () => archive.mutate() }
              : { label: "Restore", onSelect: () => restore.mutate() }
          ]
        }
      ]}
      label={visible(name)}
      trigger={(props) => <IconButton {...props} icon="more" label="More" />}
    />
  )
}

const ProjectTabs = ({ project, slug }: Props) => {
  const { data } = useQuery(viewsQuery(slug, { project: project.slug }))
  return (
    <Tabs label="Views of the project">
      <Link className={tabClass} params={{ slug, project: project.slug }} to="/w/$slug/projects/$project">
        Overview
      </Link>
      {(data?.views ?? []).map(({ id, name }) => (
        <Link className={tabClass} key={id} params={{ slug, view: id }} to="/w/$slug/views/$view">
          {visible(name)}
        </Link>
      ))}
    </Tabs>
  )
}

const Shown = ({ project, slug }: Props) => {
  const navigate = useNavigate()
  const change = useProjectChange(slug, project)
  const isArchived = project.archivedAt !== null
  const isMember = mayAct(useRole(slug), "member")
  const mayChange = isMember && !isArchived
  const [isChanging, setChanging] = useState(false)
  useKeys(mayChange ? [{ keys: "r", label: "Change the project", group: "Project", run: () => setChanging(true) }] : [])
  const save = (document: string | null) =>
    change.mutateAsync({ document }).then(
      () => true,
      () => false
    )
  return (
    <>
      <Header
        actions={
          isMember && (
            <>
              {mayChange && (
                <Button onClick={() => setChanging(true)} shortcut="r">
                  Change
                </Button>
              )}
              <ProjectMenu project={project} slug={slug} />
            </>
          )
        }
        crumbs={[{ label: "Projects", link: { to: "/w/$slug/projects", params: { slug } } }]}
        state={isArchived && <Badge tone="warning">archived</Badge>}
        title={visible(project.name)}
      />
      <ProjectTabs project={project} slug={slug} />
      <div className="mx-auto grid max-w-280 grid-cols-[minmax(0,1fr)] md:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="min-w-0 pb-8">
          {project.summary !== null && <p className="text-md foreign px-4 pt-4">{visible(project.summary)}</p>}
          <Milestones mayChange={mayChange} project={project} slug={slug} />
          <MarkdownSection
            empty="Write what the project is for"
            group="Project"
            mayChange={mayChange}
            name={`${project.id}-document`}
            onSave={save}
            shortcut="e"
            slug={slug}
            text={project.document}
            title="Document"
          />
        </div>
        <aside
          aria-label="Properties"
          className="border-border px-4 py-3 max-md:order-first max-md:border-b md:min-h-[calc(100dvh-5.5rem)] md:border-l"
        >
          <Properties change={change} mayChange={mayChange} project={project} slug={slug} />
        </aside>
      </div>
      {isChanging && (
        <Suspense fallback={null}>
          <ProjectDialog
            onClose={() => setChanging(false)}
            onDone={(next) =>
              next !== project.slug &&
              void navigate({ to: "/w/$slug/projects/$project", params: { slug, project: next }, replace: true })
            }
            project={project}
            slug={slug}
          />
        </Suspense>
      )}
    </>
  )
}

const ProjectScreen = () => {
  const { project, slug } = useParams({ from: "/w/$slug/projects/$project" })
  const query = useQuery(projectQuery(slug, project))
  return (
    <>
      {query.data === undefined && (
        <Header
          crumbs={[{ label: "Projects", link: { to: "/w/$slug/projects", params: { slug } } }]}
          title={visible(project)}
        />
      )}
      <Loaded query={query} rows={10}>
        {(data) => <Shown key={data.id} project={data} slug={slug} />}
      </Loaded>
    </>
  )
}

export default ProjectScreen
