import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { later } from "../ui/later.tsx"
import { Menu, type MenuItem } from "../ui/Menu.tsx"
import { Section } from "../ui/Section.tsx"
import { CategoryMark } from "./CategoryMark.tsx"
import { orderConflicts } from "./orderConflicts.ts"
import { statusesQuery } from "./queries.ts"
import { useRowDrag } from "./useRowDrag.ts"

/** The steps of work of a team, or of the template that new teams get, in the order of a board. */

const StatusDialog = later(() => import("./StatusDialog.tsx"))
const OrderConflict = later(() => import("./OrderConflict.tsx"))
const DeleteStatus = later(() => import("./DeleteStatus.tsx"))

interface Props {
  readonly slug: string
  /** The key of the team; undefined for the template. */
  readonly team: string | undefined
  readonly mayChange: boolean
}

type Changed = { readonly kind: "add" } | { readonly kind: "rename" | "delete"; readonly status: TicketStatus }

interface RowProps {
  readonly status: TicketStatus
  readonly items: ReadonlyArray<MenuItem>
  readonly onDropped: ((id: string) => void) | undefined
}

const Row = ({ items, onDropped, status }: RowProps) => {
  const { element, isOver } = useRowDrag(`status ${status.category}`, status.id, onDropped)
  return (
    <li>
      <div
        className={`border-border flex min-h-(--row) items-center gap-2 border-b px-4 ${isOver ? "bg-accent-soft" : ""}`}
        ref={element}
      >
        <CategoryMark isNameShown status={status} />
        {status.isDefault && <Badge title="New tickets get it">default</Badge>}
        <span className="text-muted flex-1 text-right text-xs">{status.category}</span>
        {items.length > 0 && (
          <span className="-mr-2">
            <Menu
              groups={[{ items }]}
              label={status.name}
              trigger={(props) => <IconButton {...props} icon="more" isSmall label={`Change ${status.name}`} />}
            />
          </span>
        )}
      </div>
    </li>
  )
}

interface StatusMove {
  readonly moved: TicketStatus
  readonly other: TicketStatus
  readonly isAfter: boolean
}

const useStatusActions = (slug: string) => {
  const changes = [workspaceKey(slug, "statuses"), workspaceKey(slug, "tickets")]
  const reorder = useAction({
    act: async ({ isAfter, moved, other }: StatusMove) => {
      const payload = isAfter ? { after: other.id } : { before: other.id }
      try {
        await client.ticketStatuses.reorder({ params: { slug, status: moved.id }, payload })
      } catch (error) {
        if (orderConflicts.tell?.(error, { kind: "status", moved, other, isAfter }) !== true) throw error
      }
    },
    changes,
    failed: () => "The status stays where it was"
  })
  const makeDefault = useAction({
    act: (id: string) => client.ticketStatuses.update({ params: { slug, status: id }, payload: { isDefault: true } }),
    changes,
    done: ({ name }) => ({ title: `New tickets are ${name}` }),
    failed: () => "The default stays as it was"
  })
  return { makeDefault, reorder }
}

const List = ({
  mayChange,
  onChange,
  slug,
  statuses
}: Omit<Props, "team"> & {
  readonly statuses: ReadonlyArray<TicketStatus>
  readonly onChange: (changed: Changed) => void
}) => {
  const { makeDefault, reorder } = useStatusActions(slug)
  const itemsOf = (status: TicketStatus): ReadonlyArray<MenuItem> => {
    const { category, id, isDefault } = status
    const same = statuses.filter((one) => one.category === category)
    const at = same.indexOf(status)
    return [
      { label: "Rename", onSelect: () => onChange({ kind: "rename", status }) },
      ...(at > 0
        ? [{ label: "Up", onSelect: () => reorder.mutate({ moved: status, other: same[at - 1]!, isAfter: false }) }]
        : []),
      ...(at < same.length - 1
        ? [{ label: "Down", onSelect: () => reorder.mutate({ moved: status, other: same[at + 1]!, isAfter: true }) }]
        : []),
      ...((category === "backlog" || category === "unstarted") && !isDefault
        ? [{ label: "Give it to new tickets", onSelect: () => makeDefault.mutate(id) }]
        : []),
      { label: "Delete", isDangerous: true, onSelect: () => onChange({ kind: "delete", status }) }
    ]
  }
  const droppedOn = (status: TicketStatus) => (id: string) => {
    const from = statuses.findIndex((one) => one.id === id)
    const moved = statuses[from]
    if (moved !== undefined) reorder.mutate({ moved, other: status, isAfter: from < statuses.indexOf(status) })
  }
  return (
    <ul>
      {statuses.map((status) => (
        <Row
          items={mayChange ? itemsOf(status) : []}
          key={status.id}
          onDropped={mayChange ? droppedOn(status) : undefined}
          status={status}
        />
      ))}
    </ul>
  )
}

const Statuses = ({ mayChange, slug, team }: Props) => {
  const query = useQuery(statusesQuery(slug, team))
  const [changed, setChanged] = useState<Changed>()
  const close = () => setChanged(undefined)
  return (
    <Section
      actions={
        mayChange && (
          <Button icon="plus" look="quiet" onClick={() => setChanged({ kind: "add" })}>
            Status
          </Button>
        )
      }
      isFlush
      title={team === undefined ? "Statuses of new teams" : "Statuses"}
    >
      <Loaded query={query} rows={5}>
        {({ statuses }) => (
          <>
            {mayChange && <OrderConflict slug={slug} />}
            <List mayChange={mayChange} onChange={setChanged} slug={slug} statuses={statuses} />
            {changed?.kind === "add" && <StatusDialog onClose={close} slug={slug} team={team} />}
            {changed?.kind === "rename" && (
              <StatusDialog onClose={close} slug={slug} status={changed.status} team={team} />
            )}
            {changed?.kind === "delete" && (
              <DeleteStatus
                onClose={close}
                others={statuses.filter(({ id }) => id !== changed.status.id)}
                slug={slug}
                status={changed.status}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

export default Statuses
