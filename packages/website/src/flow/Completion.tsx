import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../api/client.ts"
import { workspaceKey } from "../api/queries.ts"
import { useAction } from "../api/useAction.ts"
import { Property } from "../planning/Property.tsx"
import { counted } from "../ui/format.ts"
import { later } from "../ui/later.tsx"
import { undone } from "../ui/toast.ts"
import { passedAgain } from "./passedAgain.ts"
import { evidenceQuery } from "./queries.ts"

/** How many of the tests have passed again, above the fold, and the way to each of them. */
const EvidenceNote = ({ slug, ticket }: Omit<Props, "mayChange">) => {
  const { data } = useQuery(evidenceQuery(slug, ticket.identifier))
  if (data === undefined || data.cases.length === 0) return null
  return (
    <a
      className="text-muted block px-2 pb-1 text-xs hover:underline"
      href="#evidence"
      onClick={(event) => {
        // An address with another end would be another entry of the history.
        event.preventDefault()
        const evidence = document.querySelector<HTMLElement>("#evidence")
        evidence?.scrollIntoView({ block: "center" })
        evidence?.focus({ preventScroll: true })
      }}
    >
      {passedAgain(data)} of {counted(data.cases.length, "test")} passed again
    </a>
  )
}

const CompletionDialog = later(() => import("./CompletionDialog.tsx"))

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
}

/** How a ticket is completed: by whoever moves it, or only with evidence that its tests pass again. */
const Completion = ({ mayChange, slug, ticket }: Props) => {
  const [isOpen, setOpen] = useState(false)
  const { cases, completion, identifier, passes } = ticket
  const set = useAction({
    act: (next: "free" | "evidence") =>
      client.tickets.update({ params: { slug, ticket: identifier }, payload: { completion: next } }),
    changes: ["tickets", "evidence"].map((kind) => workspaceKey(slug, kind)),
    done: (_, next) => ({
      title: next === "free" ? `${identifier} needs no evidence` : `${identifier} needs evidence to be completed`,
      ...(next === "free" ? { detail: "The audit keeps who decided it." } : {}),
      undo: (): Promise<string | undefined> => undone(set.mutateAsync(next === "free" ? "evidence" : "free"))
    }),
    failed: () => `${identifier} is completed as before`
  })
  const open = () => setOpen(true)
  return (
    <>
      <Property
        group="Ticket"
        groups={[
          {
            items: [
              {
                label: "Needs no evidence",
                hint: "whoever moves it",
                isChosen: completion === "free",
                onSelect: () => completion === "free" || set.mutate("free")
              },
              {
                label: "Needs evidence",
                hint: "its tests pass again",
                isChosen: completion === "evidence",
                // It needs tests first.
                onSelect: () => (cases === null ? open() : completion === "evidence" || set.mutate("evidence"))
              }
            ]
          },
          { items: [{ label: "Tests and runs that are asked…", onSelect: open }] }
        ]}
        mayChange={mayChange}
        name="Completion"
        note={completion === "evidence" && <EvidenceNote slug={slug} ticket={ticket} />}
        shortcut="v"
      >
        {completion === "free" ? (
          <span className="text-muted">Needs no evidence</span>
        ) : (
          <span>
            Needs evidence
            <span className="text-muted">
              , {counted(cases?.caseIds.length ?? 0, "test")} in {counted(passes, "run")}
            </span>
          </span>
        )}
      </Property>
      {isOpen && <CompletionDialog onClose={() => setOpen(false)} slug={slug} ticket={ticket} />}
    </>
  )
}

export default Completion
