import type { Project, UpdateProject } from "@delivery/domain/planning/Project"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { mayAct, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Header } from "../ui/Header.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { overlay } from "../ui/overlay.ts"
import { SkeletonRows } from "../ui/States.tsx"
import { Aside, besideClass } from "./Aside.tsx"
import { AudienceContext } from "./audience.ts"
import { MarkdownSection } from "./MarkdownSection.tsx"
import ProjectTabs from "./ProjectTabs.tsx"
import { projectQuery } from "./queries.ts"

/** A project: its goal, how far it has come, its steps, and what is written about it. */

const Milestones = later(
  () => import("./Milestones.tsx"),
  () => <SkeletonRows rows={4} />
)
const ProjectDialog = later(() => import("./ProjectDialog.tsx"))
const ProjectMenu = later(() => import("./ProjectMenu.tsx"))
const ProjectProperties = later(
  () => import("./ProjectProperties.tsx"),
  () => <SkeletonRows rows={8} />
)

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

interface ActionsProps extends Props {
  readonly isMember: boolean
  readonly mayChange: boolean
  readonly onChange: () => void
}

const Actions = ({ isMember, mayChange, onChange, project, slug }: ActionsProps) => (
  <>
    {mayChange && (
      <Button icon="plus" look="primary" onClick={() => overlay.show("ticket")} shortcut="n">
        New ticket
      </Button>
    )}
    <ProjectMenu isMember={isMember} onChange={mayChange ? onChange : undefined} project={project} slug={slug} />
  </>
)

const Shown = ({ project, slug }: Props) => {
  const navigate = useNavigate()
  const change = useProjectChange(slug, project)
  const isArchived = project.archivedAt !== null
  const isMember = mayAct(useRole(slug), "member")
  const mayChange = isMember && !isArchived
  const [isChanging, setChanging] = useState(false)
  useKeys(mayChange ? [{ keys: "r", label: "Change the project", group: "Project", run: () => setChanging(true) }] : [])
  const save = (document: string | null, from: string | null) =>
    change.mutateAsync({ document, expected: { document: from } }).then(
      () => true,
      () => false
    )
  return (
    <div className="flex min-h-full flex-col">
      <Header
        actions={
          <Actions
            isMember={isMember}
            mayChange={mayChange}
            onChange={() => setChanging(true)}
            project={project}
            slug={slug}
          />
        }
        crumbs={[{ label: "Projects", link: { to: "/w/$slug/projects", params: { slug } } }]}
        state={isArchived && <Badge tone="warning">archived</Badge>}
        title={project.name}
      />
      <ProjectTabs project={project.slug} slug={slug} />
      <div className={besideClass}>
        <div className="min-w-0 pb-8 max-md:contents">
          {project.summary !== null && <p className="text-md foreign px-4 pt-4">{project.summary}</p>}
          <div className="max-md:order-2 max-md:min-w-0 max-md:pb-4">
            <Milestones mayChange={mayChange} project={project} slug={slug} />
            <AudienceContext value={{ teams: project.teams, isAny: true }}>
              <MarkdownSection
                empty="Write what the project is for"
                field="document"
                group="Project"
                mayChange={mayChange}
                name={`${project.id}-document`}
                onSave={save}
                shortcut="e"
                slug={slug}
                subject={project.id}
                text={project.document}
                title="Document"
              />
            </AudienceContext>
          </div>
        </div>
        <Aside>
          <ProjectProperties
            mayChange={mayChange}
            onChange={(asked) => change.mutate(asked)}
            onOpen={() => setChanging(true)}
            project={project}
            slug={slug}
          />
        </Aside>
      </div>
      {isChanging && (
        <ProjectDialog
          onClose={() => setChanging(false)}
          onDone={(next) =>
            next !== project.slug &&
            void navigate({ to: "/w/$slug/projects/$project", params: { slug, project: next }, replace: true })
          }
          project={project}
          slug={slug}
        />
      )}
    </div>
  )
}

const ProjectScreen = () => {
  const { project, slug } = useParams({ from: "/w/$slug/projects/$project" })
  const query = useQuery(projectQuery(slug, project))
  return (
    <>
      {query.data === undefined && (
        <Header crumbs={[{ label: "Projects", link: { to: "/w/$slug/projects", params: { slug } } }]} title={project} />
      )}
      <Loaded query={query} rows={10}>
        {(data) => <Shown key={data.id} project={data} slug={slug} />}
      </Loaded>
    </>
  )
}

export default ProjectScreen
