import type { Project } from "@delivery/domain/planning/Project"
import { useInfiniteQuery } from "@tanstack/react-query"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { undone } from "../ui/toast.ts"
import { documentHistoryQuery } from "./documentHistoryQuery.ts"
import { TextChanges } from "./TextChanges.tsx"

interface Props {
  readonly slug: string
  readonly project: Project
  readonly mayChange: boolean
  readonly onClose: () => void
}

interface Written {
  readonly text: string | null
  /** What stood there. */
  readonly from: string | null
}

/** Who changed the document of a project, when, and how. */
const ProjectHistory = ({ mayChange, onClose, project, slug }: Props) => {
  const { document, name } = project
  const query = useInfiniteQuery(documentHistoryQuery(slug, project.slug))
  const write = ({ from, text }: Written) =>
    client.projects.update({
      params: { slug, project: project.slug },
      payload: { document: text, expected: { document: from } }
    })
  const common = {
    changes: [workspaceKey(slug, "projects")],
    failed: () => `${name} could not be changed`
  }
  const takeBack = useAction({ ...common, act: write, done: () => ({ title: `The document of ${name} is as before` }) })
  const restore = useAction({
    ...common,
    act: write,
    done: (_, { from, text }) => ({
      title: `The earlier document of ${name} was restored`,
      undo: () => undone(takeBack.mutateAsync({ text: from, from: text }))
    })
  })
  return (
    <Dialog
      description="Who changed the document, and how. At most the last hundred changes are kept."
      isWide
      onClose={onClose}
      title={`History of ${name}`}
    >
      <TextChanges
        noun="document"
        now={document}
        onRestore={
          mayChange
            ? (text) =>
                restore.mutateAsync({ text, from: document }).then(
                  () => true,
                  () => false
                )
            : undefined
        }
        query={query}
      />
    </Dialog>
  )
}

export default ProjectHistory
