import type { TicketSummary } from "@delivery/domain/planning/Ticket"
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { client } from "../api/client.ts"
import { failureOf, issueAt } from "../api/failures.ts"
import { FormDialog } from "../api/FormDialog.tsx"
import { Loaded } from "../api/Loaded.tsx"
import { useAction } from "../api/useAction.ts"
import type { TicketChange } from "../planning/changes.ts"
import { statusesQuery } from "../planning/queries.ts"
import { readTicketsAgain } from "../planning/readTicketsAgain.ts"
import { refusals } from "../planning/refusals.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { TextArea } from "../ui/Field.tsx"
import { counted } from "../ui/format.ts"
import { EvidenceOfCase } from "./EvidenceOfCase.tsx"
import { evidenceQuery } from "./queries.ts"
import { WhichRuns } from "./WhichRuns.tsx"

/** Says what is missing where tickets were not completed for want of evidence, and completes them all the same for a reason. */

interface Refused {
  readonly tickets: ReadonlyArray<Pick<TicketSummary, "id" | "identifier" | "title" | "team" | "status" | "mute">>
  readonly change: Pick<TicketChange, "status" | "category">
}

interface Props extends Refused {
  readonly slug: string
  readonly onClose: () => void
}

/** As many tickets, and tests of each, as are told. */
const [mostTickets, mostCases] = [5, 10]

const named = (tickets: Refused["tickets"]): string =>
  tickets.length === 1 ? tickets[0]!.identifier : counted(tickets.length, "ticket")

interface MissingProps extends Pick<Props, "slug"> {
  readonly ticket: Refused["tickets"][number]
  readonly isOnly: boolean
}

const Missing = ({ isOnly, slug, ticket }: MissingProps) => {
  const query = useQuery(evidenceQuery(slug, ticket.identifier))
  return (
    <section aria-label={`What ${ticket.identifier} is missing`}>
      {!isOnly && (
        <h3 className="foreign truncate font-medium">
          {ticket.identifier} {ticket.title}
        </h3>
      )}
      <Loaded query={query} rows={2}>
        {({ cases, product }) => {
          const missing = cases.filter(({ needed, passed }) => passed < needed)
          return (
            <>
              <p className="text-muted">
                {missing.length} of {counted(cases.length, "test")} {missing.length === 1 ? "has" : "have"} not passed
                again often enough.
              </p>
              <ul className="-mx-4">
                {missing.slice(0, mostCases).map((one) => (
                  <EvidenceOfCase isAsked key={one.caseId} one={one} product={product ?? ""} slug={slug} />
                ))}
              </ul>
              {missing.length > mostCases && (
                <p className="text-muted pt-1">And {counted(missing.length - mostCases, "more test", "more tests")}.</p>
              )}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

/** Completes them, for a reason where they have no evidence. */
const useCompletion = ({ change, onClose, slug, tickets }: Props, override: string | undefined) => {
  const queries = useQueryClient()
  const read = readTicketsAgain(queries, slug)
  const statusOf = async (team: string): Promise<string> => {
    if (change.status !== undefined) return change.status.id
    const { statuses } = await queries.fetchQuery(statusesQuery(slug, team))
    return statuses.find(({ category }) => category === change.category)!.id
  }
  const reopen = useAction({
    act: async (): Promise<string> => {
      for (const { id, status, team } of tickets) {
        // oxlint-disable-next-line no-await-in-loop -- one that is refused keeps the others as they are
        const expected = { status: await statusOf(team.key) }
        // oxlint-disable-next-line no-await-in-loop
        await client.tickets.update({ params: { slug, ticket: id }, payload: { status: status.id, expected } })
      }
      const open = tickets.length === 1 ? `is ${tickets[0]!.status.name} again` : "are open again"
      const said = `${named(tickets)} ${open}`
      await read()
      const { default: words } = await import("../planning/takenBackWords.ts")
      return words(queries, slug, tickets, said)
    },
    changes: [],
    failed: () => `${named(tickets)} ${tickets.length === 1 ? "stays" : "stay"} completed`
  })
  return useAction({
    act: async () => {
      for (const { identifier, team } of tickets) {
        // oxlint-disable-next-line no-await-in-loop -- one that is refused keeps the others from being completed in silence
        const status = await statusOf(team.key)
        // oxlint-disable-next-line no-await-in-loop
        await client.tickets.update({
          params: { slug, ticket: identifier },
          payload: { status, ...(override === undefined ? {} : { override }) }
        })
      }
      await read()
    },
    changes: [],
    done: () => ({
      ...(override === undefined
        ? { title: `${named(tickets)} completed` }
        : {
            title: `${named(tickets)} completed without evidence`,
            detail: "Its activity says by whom and why."
          }),
      undo: () => reopen.mutateAsync().catch(() => undefined)
    }),
    onDone: onClose
  })
}

const Override = (props: Props) => {
  const { onClose, tickets } = props
  const [reason, setReason] = useState("")
  const complete = useCompletion(props, reason.trim())
  return (
    <FormDialog
      action="Complete anyway"
      description="The audit keeps who completed it, and this reason."
      doing={complete}
      fields={["override"]}
      isDangerous
      missing={reason.trim() === "" ? ["a reason"] : []}
      onClose={onClose}
      title={`Complete ${named(tickets)} without evidence`}
    >
      <TextArea
        autoFocus
        issue={issueAt(complete.error, "override")}
        label="Why"
        maxLength={2_000}
        onChange={(event) => setReason(event.target.value)}
        rows={4}
        value={reason}
      />
    </FormDialog>
  )
}

/** Asks again, where runs have given the evidence while the dialog was open. */
const Given = (props: Props) => {
  const { onClose, tickets } = props
  return (
    <FormDialog
      action="Complete"
      doing={useCompletion(props, undefined)}
      fields={[]}
      onClose={onClose}
      title={`${named(tickets)} may be completed now`}
    >
      <p>Since this was refused, the tests have passed again often enough. No reason is needed.</p>
    </FormDialog>
  )
}

/** Whether runs that have finished meanwhile have given the evidence. What was read before it was refused may be old. */
const useIsGiven = ({ slug, tickets }: Props): boolean => {
  const found = useQueries({ queries: tickets.slice(0, mostTickets).map((one) => evidenceQuery(slug, one.identifier)) })
  // It is read anew as this opens: it may be given as soon as that is there.
  const isAnew = found.every(({ data, isFetching }) => !isFetching && data !== undefined)
  const [wasReadAnew, setReadAnew] = useState(false)
  if (isAnew && !wasReadAnew) setReadAnew(true)
  return wasReadAnew && tickets.length <= mostTickets && found.every(({ data }) => data?.complete === true)
}

const RefusedDialog = (props: Props) => {
  const { onClose, slug, tickets } = props
  const [isOverridden, setOverridden] = useState(false)
  // The statuses are needed where a category was asked for.
  useQuery({ ...statusesQuery(slug, tickets[0]!.team.key), enabled: isOverridden })
  if (useIsGiven(props)) return <Given {...props} />
  if (isOverridden) return <Override {...props} />
  const { title } = tickets[0]!
  return (
    <Dialog
      actions={
        <>
          <Button look="quiet" onClick={() => setOverridden(true)}>
            Complete anyway…
          </Button>
          <Button autoFocus look="primary" onClick={onClose}>
            {tickets.length === 1 ? "Leave it open" : "Leave them open"}
          </Button>
        </>
      }
      description={tickets.length === 1 ? title : "They stay where they were."}
      isWide
      onClose={onClose}
      title={`${named(tickets)} ${tickets.length === 1 ? "needs" : "need"} evidence to be completed`}
    >
      <div className="flex flex-col gap-4">
        {tickets.slice(0, mostTickets).map((ticket) => (
          <Missing isOnly={tickets.length === 1} key={ticket.id} slug={slug} ticket={ticket} />
        ))}
        {tickets.length > mostTickets && <p className="text-muted">And {tickets.length - mostTickets} more.</p>}
        <WhichRuns />
      </div>
    </Dialog>
  )
}

/** Asks where tickets of this screen are refused. */
const EvidenceRefused = ({ slug }: { readonly slug: string }) => {
  const [refused, setRefused] = useState<Refused>()
  const queries = useQueryClient()
  useEffect(() => {
    const tell: typeof refusals.tell = (thrown, tickets, change) => {
      if (failureOf(thrown).reason !== "evidence_missing") return false
      for (const { identifier } of tickets) void queries.invalidateQueries(evidenceQuery(slug, identifier))
      setRefused({ tickets, change })
      return true
    }
    refusals.tell = tell
    return () => {
      if (refusals.tell === tell) delete refusals.tell
    }
  }, [queries, slug])
  return refused === undefined ? null : <RefusedDialog {...refused} onClose={() => setRefused(undefined)} slug={slug} />
}

export default EvidenceRefused
