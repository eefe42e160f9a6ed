import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useEffect, useMemo, useRef, useState } from "react"
import { useMe } from "../api/session.ts"
import { counted } from "../ui/format.ts"
import { type Key, useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { SearchMenu } from "../ui/SearchMenu.tsx"
import { toast } from "../ui/toast.ts"
import { askedAgent } from "./askedAgent.ts"
import { BulkBar } from "./BulkBar.tsx"
import type { Column } from "./columns.ts"
import { useOwners } from "./owners.ts"
import { rangeOf } from "./range.ts"
import { useManyTickets } from "./useManyTickets.ts"
import type { Selection } from "./useSelection.ts"
import { type Field, useTicketChoices } from "./useTicketChoices.ts"
import { useTicketPointer } from "./useTicketPointer.ts"

/** What is done with the tickets that are selected, or else with the one that the keyboard is at. */

const EvidenceRefused = later(() => import("../flow/EvidenceRefused.tsx"))
// What was refused before it is there would be told by a toast, without the way on.
void EvidenceRefused.preload()
const AskAgent = later(() => import("./AskAgent.tsx"))

interface Props {
  readonly slug: string
  readonly columns: ReadonlyArray<Column>
  readonly mayChange: boolean
  readonly selection: Selection
}

interface Asked {
  readonly field: Field
  readonly anchor: HTMLElement
  /** Of which tickets; of what is selected where there is none. */
  readonly ticket: string | undefined
  readonly isOpen: boolean
  /** How often was asked: each time anew, also while the choices before are still closing. */
  readonly count: number
}

/** Selects from where that was begun to a ticket, beside what was selected before. */
const useExtending = ({ current, go, ids, select }: Selection, order: ReadonlyArray<string>) => {
  const begun = useRef<{
    readonly from: string
    readonly before: ReadonlySet<string>
    readonly at: string
    readonly ids: ReadonlySet<string>
  }>(undefined)
  return (to: string | undefined) => {
    if (to === undefined) return
    // Unless something else was selected, or gone to, meanwhile.
    const goesOn = begun.current?.ids === ids && begun.current.at === current
    const { before, from } = goesOn ? begun.current! : { before: ids, from: current ?? to }
    const next = new Set([...before, ...rangeOf(order, from, to)])
    begun.current = { from, before, at: to, ids: next }
    select(next)
    go(to)
    document.querySelector(`[data-ticket="${to}"], [data-card="${to}"]`)?.scrollIntoView({ block: "nearest" })
  }
}

/** The choices that are open, and what opens them. */
const useAsking = (slug: string, all: ReadonlyArray<TicketSummary>, targets: ReadonlyArray<TicketSummary>) => {
  const [asked, setAsked] = useState<Asked>()
  const tickets =
    asked?.ticket === undefined || targets.some(({ id }) => id === asked.ticket)
      ? targets
      : all.filter(({ id }) => id === asked.ticket)
  const choices = useTicketChoices(slug, tickets)
  const anchor = useMemo(() => ({ current: asked?.anchor ?? null }), [asked?.anchor])
  const menu = asked !== undefined && (
    <SearchMenu
      anchor={anchor}
      // A row is no place for the keyboard: its list is.
      back={asked.anchor.closest<HTMLElement>("[role=list], #board") ?? asked.anchor}
      groups={[{ items: choices[asked.field] }]}
      isOpen={asked.isOpen}
      key={asked.count}
      label={names[asked.field]}
      onOpenChange={(isOpen) => setAsked({ ...asked, isOpen })}
      side={asked.anchor.closest("[role=toolbar]") === null ? "bottom" : "top"}
    />
  )
  const ask = (field: Field, at: HTMLElement, ticket: string | undefined) =>
    setAsked((before) => ({
      field,
      anchor: at,
      ticket,
      isOpen: !(before?.isOpen === true && before.anchor === at),
      count: (before?.count ?? 0) + 1
    }))
  return { ask, hasMilestones: choices.milestone.length > 0, menu }
}

const names: Readonly<Record<Field, string>> = {
  status: "Status",
  owner: "Owner",
  project: "Project",
  milestone: "Milestone",
  tags: "Tags"
}

const keyOf: Readonly<Record<Field, string>> = { status: "s", owner: "a", project: "p", milestone: "m", tags: "l" }

/** The one of the owner, with Shift. */
const askAgentKey = "A"

/** Where the choices of a field open: at the button for it where that is seen, else at the row or the card. */
const anchorOf = (field: Field, ticket: string | undefined): HTMLElement | null => {
  const frame = document.querySelector<HTMLElement>(
    ticket === undefined ? "#selection" : `[data-ticket="${ticket}"], [data-card="${ticket}"]`
  )
  const button = frame?.querySelector<HTMLElement>(`[data-ask=${field}]`)
  return button?.checkVisibility() === true ? button : frame
}

interface KeysProps extends Props {
  readonly order: ReadonlyArray<string>
  readonly selected: ReadonlyArray<TicketSummary>
  readonly targets: ReadonlyArray<TicketSummary>
  readonly hasMilestones: boolean
  readonly onAsk: (field: Field, anchor: HTMLElement, ticket: string | undefined) => void
  readonly onExtend: (to: string | undefined) => void
}

const whyNoMilestones = (tickets: ReadonlyArray<TicketSummary>): string => {
  const projects = new Set(tickets.map(({ project }) => project?.id))
  if (projects.size > 1) return "A milestone is one of a project, and these tickets are not all of the same one."
  return projects.has(undefined) ? "A milestone is one of a project: choose that first." : "The project has none."
}

const useActionKeys = ({ hasMilestones, onAsk, onExtend, order, selected, selection, slug, targets }: KeysProps) => {
  const change = useManyTickets(slug)
  const me = useMe()?.id
  const mine = useOwners(slug).find(({ owner }) => owner.id === me)
  const { current, select } = selection
  const at = current === undefined ? -1 : order.indexOf(current)
  const [group, about] =
    selected.length > 0
      ? ["Selection", counted(selected.length, "ticket")]
      : ["Ticket in focus", targets[0]?.identifier ?? ""]
  const noMilestones: Key = {
    keys: keyOf.milestone,
    label: "Set the milestone",
    group,
    about,
    run: () => toast({ title: "There is no milestone to choose", detail: whyNoMilestones(targets) })
  }
  const askKeys = (Object.keys(names) as ReadonlyArray<Field>)
    .filter((field) => field !== "milestone" || hasMilestones)
    .map((field): Key => ({
      keys: keyOf[field],
      label: `Set the ${names[field].toLowerCase()}`,
      group,
      about,
      run: () => {
        const ticket = selected.length > 0 ? undefined : current
        const anchor = anchorOf(field, ticket)
        if (anchor !== null) onAsk(field, anchor, ticket)
      }
    }))
  const assign: Key = {
    keys: "i",
    label: "Assign to me",
    group,
    about,
    run: () => mine !== undefined && void change(targets, { owner: mine.owner }, "given to you")
  }
  const askAgent: Key = {
    keys: askAgentKey,
    label: "Ask an agent",
    group,
    about,
    run: () => askedAgent.ask(targets)
  }
  useKeys([
    { keys: "J", label: "Select the next one, too", group: "Tickets", run: () => onExtend(order[at + 1]) },
    { keys: "K", label: "Select the previous one, too", group: "Tickets", run: () => onExtend(order[at - 1]) },
    ...(targets.length > 0 ? [...askKeys, ...(hasMilestones ? [] : [noMilestones]), assign, askAgent] : []),
    ...(selected.length > 0
      ? [{ keys: "Escape", label: "Select nothing", group: "Selection", run: () => select(new Set()) }]
      : [])
  ])
}

const Actions = (props: Props) => {
  const { columns, selection, slug } = props
  const asked = askedAgent.useAsked()
  useEffect(() => askedAgent.close, [])
  const all = useMemo(() => columns.flatMap(({ tickets }) => tickets), [columns])
  const order = useMemo(() => all.map(({ id }) => id), [all])
  // Those that have left the list are no longer selected.
  const selected = useMemo(() => all.filter(({ id }) => selection.ids.has(id)), [all, selection.ids])
  const targets = selected.length > 0 ? selected : all.filter(({ id }) => id === selection.current)
  const extend = useExtending(selection, order)
  const { ask, hasMilestones, menu } = useAsking(slug, all, targets)
  useActionKeys({ ...props, hasMilestones, onAsk: ask, onExtend: extend, order, selected, targets })
  useTicketPointer({
    onAsk: (field, anchor, ticket) => {
      if (ticket !== undefined) selection.go(ticket)
      ask(field, anchor, ticket)
    },
    onExtend: extend,
    onVisit: selection.go
  })
  return (
    <>
      {selected.length > 0 && (
        <BulkBar
          count={selected.length}
          fields={hasMilestones ? names : { ...names, milestone: undefined }}
          keyOf={keyOf}
          askAgentKey={askAgentKey}
          onAskAgent={() => askedAgent.ask(selected)}
          onClear={() => selection.select(new Set())}
        />
      )}
      {menu}
      {asked !== undefined && <AskAgent {...asked} onClose={askedAgent.close} slug={slug} />}
    </>
  )
}

/** Whoever may change nothing comes back to the same row, too. */
const Visits = ({ selection }: Pick<Props, "selection">) => {
  useTicketPointer({ onAsk: () => undefined, onExtend: () => undefined, onVisit: selection.go })
  return null
}

const TicketActions = (props: Props) =>
  props.mayChange ? (
    <>
      <Actions {...props} />
      <EvidenceRefused slug={props.slug} />
    </>
  ) : (
    <Visits selection={props.selection} />
  )

export default TicketActions
