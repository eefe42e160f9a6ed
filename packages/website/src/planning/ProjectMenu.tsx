import type { Project } from "@delivery/domain/planning/Project"
import { useState } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { IconButton } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { Menu } from "../ui/Menu.tsx"
import { undone } from "../ui/toast.ts"

const ProjectHistory = later(() => import("./ProjectHistory.tsx"))

interface Props {
  readonly slug: string
  readonly project: Project
  /** Archives and restores it. */
  readonly isMember: boolean
  readonly onChange: (() => void) | undefined
}

/** What else is done with a project. */
const ProjectMenu = ({ isMember, onChange, project, slug }: Props) => {
  const [hasHistory, setHistory] = useState(false)
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
      undo: () => undone(restore.mutateAsync())
    }),
    failed: () => `${name} was not archived`
  })
  useKeys([{ keys: "h", label: "History of the document", group: "Project", run: () => setHistory(true) }])
  return (
    <>
      <Menu
        groups={[
          ...(onChange === undefined ? [] : [{ items: [{ label: "Change", shortcut: "r", onSelect: onChange }] }]),
          { items: [{ label: "History", shortcut: "h", onSelect: () => setHistory(true) }] },
          ...(isMember
            ? [
                {
                  items: [
                    archivedAt === null
                      ? { label: "Archive", isDangerous: true, onSelect: () => archive.mutate() }
                      : { label: "Restore", onSelect: () => restore.mutate() }
                  ]
                }
              ]
            : [])
        ]}
        label={name}
        trigger={(props) => <IconButton {...props} icon="more" label="More" />}
      />
      {hasHistory && (
        <ProjectHistory
          mayChange={isMember && archivedAt === null}
          onClose={() => setHistory(false)}
          project={project}
          slug={slug}
        />
      )}
    </>
  )
}

export default ProjectMenu
