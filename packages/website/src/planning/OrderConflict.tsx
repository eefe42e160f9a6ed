import { useQuery, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useEffect, useState } from "react"
import { failureOf } from "../api/failures.ts"
import { Loaded } from "../api/Loaded.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { type Moved, type Named, orderConflicts } from "./orderConflicts.ts"
import { neighbourOf } from "./pendingTickets.ts"
import { projectQuery, ticketQuery } from "./queries.ts"

/** Two people moved at the same time: what each has done, and a choice. */

interface BothProps {
  readonly title: string
  readonly yours: ReactNode
  readonly theirs: ReactNode
  /** What leaves theirs as it is. */
  readonly leave: string
  /** What does yours by what is true now. */
  readonly follow?: { readonly label: string; readonly run: () => void } | undefined
  readonly onClose: () => void
}

const sideClass = "border-border flex flex-col gap-1 rounded-md border px-3 py-2"

const Both = ({ follow, leave, onClose, theirs, title, yours }: BothProps) => (
  <Dialog
    actions={
      <>
        {follow !== undefined && (
          <Button
            onClick={() => {
              onClose()
              follow.run()
            }}
          >
            {follow.label}
          </Button>
        )}
        <Button autoFocus look="primary" onClick={onClose}>
          {leave}
        </Button>
      </>
    }
    description="Somebody else was there at the same time."
    onClose={onClose}
    title={title}
  >
    <div className="grid gap-3 sm:grid-cols-2">
      {(
        [
          ["Yours", yours],
          ["Theirs", theirs]
        ] as const
      ).map(([name, text]) => (
        <section aria-label={name} className={sideClass} key={name}>
          <h3 className="text-muted text-xs font-medium">{name}</h3>
          <p className="foreign">{text}</p>
        </section>
      ))}
    </div>
  </Dialog>
)

type Of<Kind extends Moved["kind"]> = Extract<Moved, { readonly kind: Kind }> & {
  readonly slug: string
  readonly onClose: () => void
}

const Ticket = ({ again, beside, moved, onClose, slug }: Of<"ticket">) => {
  const isAbove = "before" in beside
  const other = neighbourOf(beside)
  const side = isAbove ? "above" : "below"
  const read = useQuery(ticketQuery(slug, moved.id))
  const { data: there, error } = useQuery(ticketQuery(slug, other.id))
  return (
    <Loaded query={read} rows={0}>
      {(ticket) => {
        const theirs =
          there === undefined
            ? error === null
              ? "…"
              : `${other.identifier} is gone, or in a team that you do not see.`
            : there.team.id === ticket.team.id
              ? `${there.identifier} is in ${there.status.name} now.`
              : `${other.identifier} is ${there.identifier} now, in ${there.team.name}.`
        const canFollow =
          there !== undefined && there.team.id === ticket.team.id && there.status.id !== ticket.status.id
        return (
          <Both
            follow={
              canFollow
                ? {
                    label: `Move it to ${there.status.name}, ${side} ${there.identifier}`,
                    run: () => again(ticket, { status: there.status }, isAbove ? { before: there } : { after: there })
                  }
                : undefined
            }
            leave={`Leave it in ${ticket.status.name}`}
            onClose={onClose}
            theirs={theirs}
            title={`${moved.identifier} could not go ${side} ${other.identifier}`}
            yours={`${moved.identifier} ${side} ${other.identifier}. It is in ${ticket.status.name} now.`}
          />
        )
      }}
    </Loaded>
  )
}

interface NamedProps extends Pick<BothProps, "follow" | "onClose"> {
  readonly moved: Named
  readonly other: Named
  readonly side: "above" | "below"
  readonly theirs: string
}

/** Of what stands in one order. */
const NamedConflict = ({ moved, other, side, ...both }: NamedProps) => (
  <Both
    {...both}
    leave="Leave it where it was"
    title={`${moved.name} could not go ${side} ${other.name}`}
    yours={`${moved.name} ${side} ${other.name}.`}
  />
)

const Project = ({ instead, isAfter, moved, onClose, other, slug }: Of<"project">) => {
  const { data, error } = useQuery(projectQuery(slug, other.slug))
  const side = isAfter ? "below" : "above"
  return (
    <NamedConflict
      follow={instead && { label: `Put it ${side} ${instead.other.name}`, run: instead.run }}
      moved={moved}
      onClose={onClose}
      other={other}
      side={side}
      theirs={
        error !== null
          ? `${other.name} is gone, or of teams that you do not see.`
          : data === undefined
            ? "…"
            : `${data.name} was archived.`
      }
    />
  )
}

const Status = ({ isAfter, other, ...props }: Of<"status">) => (
  <NamedConflict {...props} other={other} side={isAfter ? "below" : "above"} theirs={`${other.name} was deleted.`} />
)

/** What is to be read anew: what was read before the move may be old. */
const readOf = (slug: string, moved: Moved): ReadonlyArray<ReadonlyArray<unknown>> => {
  switch (moved.kind) {
    case "ticket":
      return [moved.moved, neighbourOf(moved.beside)].map(({ id }) => ticketQuery(slug, id).queryKey)
    case "project":
      return [projectQuery(slug, moved.other.slug).queryKey]
    case "status":
      return []
  }
}

/** Asks where a move of this screen meets another one. */
const OrderConflict = ({ slug }: { readonly slug: string }) => {
  const [moved, setMoved] = useState<Moved>()
  const queries = useQueryClient()
  useEffect(() => {
    const tell: typeof orderConflicts.tell = (thrown, asked) => {
      const { _tag, message, reason } = failureOf(thrown)
      const isOther =
        reason === "other_status" ||
        (reason === "archived" && message.includes("other")) ||
        (_tag === "NotFound" && /^(before|after):/.test(message))
      if (!isOther) return false
      for (const queryKey of readOf(slug, asked)) queries.removeQueries({ queryKey })
      setMoved(asked)
      return true
    }
    orderConflicts.tell = tell
    return () => {
      if (orderConflicts.tell === tell) delete orderConflicts.tell
    }
  }, [queries, slug])
  if (moved === undefined) return null
  const props = { slug, onClose: () => setMoved(undefined) }
  switch (moved.kind) {
    case "ticket":
      return <Ticket {...moved} {...props} />
    case "project":
      return <Project {...moved} {...props} />
    case "status":
      return <Status {...moved} {...props} />
  }
}

export default OrderConflict
