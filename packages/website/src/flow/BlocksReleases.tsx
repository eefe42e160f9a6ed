import type { Ticket } from "@delivery/domain/planning/Ticket"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Property } from "../planning/Property.tsx"

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
}

/** Whether the ticket, while it is open, keeps versions of its project's products from going out. */
const BlocksReleases = ({ mayChange, slug, ticket: { blocks, identifier, project, status } }: Props) => {
  const set = useAction({
    act: (next: boolean) => client.tickets.update({ params: { slug, ticket: identifier }, payload: { blocks: next } }),
    changes: ["tickets", "readiness"].map((kind) => workspaceKey(slug, kind)),
    done: (_, next) => ({
      title: next ? `${identifier} blocks releases` : `${identifier} blocks no release`,
      ...(next && project === null
        ? { detail: "It has no project yet, and a project says which products it blocks." }
        : {})
    }),
    failed: () => `${identifier} blocks releases as before`
  })
  const isClosed = status.category === "completed" || status.category === "canceled"
  const choice = (next: boolean, label: string, hint: string) => ({
    label,
    hint,
    isChosen: blocks === next,
    onSelect: () => blocks === next || set.mutate(next)
  })
  return (
    <Property
      group="Ticket"
      groups={[
        {
          items: [choice(false, "No release", "versions may go out"), choice(true, "Releases", "until it is closed")]
        }
      ]}
      mayChange={mayChange}
      name="Blocks"
      shortcut="d"
    >
      {blocks ? (
        isClosed ? (
          <span className="text-muted">Releases, while it was open</span>
        ) : (
          <span className="text-danger">
            Releases{project === null && <span className="text-muted">, of no project yet</span>}
          </span>
        )
      ) : (
        <span className="text-muted">No release</span>
      )}
    </Property>
  )
}

export default BlocksReleases
