import type { TicketEvidence } from "@delivery/domain/flow/Evidence"
import type { ListedMute } from "@delivery/domain/flow/Mute"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { Loaded } from "../api/Loaded.tsx"
import { Button } from "../ui/Button.tsx"
import { counted } from "../ui/format.ts"
import { Icon } from "../ui/Icon.tsx"
import { later } from "../ui/later.tsx"
import { Section } from "../ui/Section.tsx"
import { EvidenceOfCase } from "./EvidenceOfCase.tsx"
import { momentOf, mutedTests } from "./mute.ts"
import { passedAgain } from "./passedAgain.ts"
import { evidenceQuery, mutesQuery } from "./queries.ts"
import { UnmuteButton } from "./UnmuteButton.tsx"
import { useUnmute } from "./useUnmute.ts"
import { WhichRuns } from "./WhichRuns.tsx"

/** The tests of a ticket: which it mutes and until when, and what proves that they pass again. */

const ExtendDialog = later(() => import("./ExtendDialog.tsx"))

const lineClass =
  "border-border flex min-h-(--row) flex-wrap items-center gap-x-3 border-b px-4 py-1 has-[>.quiet:last-child]:pr-1.5"

/** As many as are shown before one asks for all. */
const few = 10

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
}

interface MutedProps extends Props {
  readonly mute: ListedMute
  readonly onExtend: () => void
}

const MutedTests = ({ mute, onExtend, ...props }: MutedProps) => {
  const { mayChange, slug } = props
  const [areAll, setAll] = useState(false)
  const unmute = useUnmute(slug)
  const { cases, overdue, product, until } = mute
  const tests = mutedTests([mute])
  return (
    <Section
      actions={
        mayChange && (
          <>
            <Button look="quiet" onClick={onExtend}>
              {overdue ? "Mute again…" : "Extend…"}
            </Button>
            {!overdue && (
              <UnmuteButton
                isBusy={unmute.isPending}
                look="quiet"
                onClick={() => unmute.mutate({ was: mute, gone: cases })}
                text={cases.length === 1 ? "Unmute" : "Unmute all"}
              />
            )}
          </>
        )
      }
      isFlush
      title="Muted tests"
    >
      <p className={`${lineClass} ${overdue ? "text-warning" : "font-medium"}`}>
        {overdue ? (
          <span>
            {counted(cases.length, "test")} {cases.length === 1 ? "was" : "were"} muted until{" "}
            <time dateTime={until}>{momentOf(until)}</time>: since then{" "}
            {cases.length === 1 ? "it counts" : "they count"}, and the ticket is still open.
          </span>
        ) : (
          <span>
            {counted(cases.length, "test")} muted until <time dateTime={until}>{momentOf(until)}</time>.
          </span>
        )}
      </p>
      <ul aria-label="Muted tests">
        {(areAll ? tests : tests.slice(0, few)).map(({ caseId, title }) => (
          <li className={lineClass} key={caseId}>
            <Link
              className="foreign min-w-0 flex-1 truncate hover:underline"
              params={{ slug, product, case: caseId }}
              title={caseId}
              to="/w/$slug/products/$product/cases/$case"
            >
              {title}
            </Link>
            {mayChange && !overdue && cases.length > 1 && (
              <UnmuteButton
                isBusy={unmute.isPending}
                label={`Unmute ${title}`}
                look="quiet"
                onClick={() => unmute.mutate({ was: mute, gone: [caseId] })}
              />
            )}
          </li>
        ))}
      </ul>
      {!areAll && cases.length > few && (
        <div className="px-4 py-2">
          <Button look="quiet" onClick={() => setAll(true)}>
            Show all {counted(cases.length, "test")}
          </Button>
        </div>
      )}
    </Section>
  )
}

/** Why a ticket is completed whose tests lack evidence, as far as that shows. */
const whyCompleted = (lacking: TicketEvidence["cases"]): string => {
  if (lacking.length === 0) return ""
  return lacking.some(({ failed }) => failed !== null)
    ? " Unless its activity says that this was overridden, its tests have failed since."
    : " Its activity says whether this was overridden. Runs that showed it before may be deleted by now."
}

/** What there is, in a sentence. */
const summaryOf = (evidence: TicketEvidence, { completion, passes, status }: Ticket): string => {
  const { cases } = evidence
  const done = passedAgain(evidence)
  const runs = passes === 1 ? "a run" : `${passes} runs`
  const what = `${done} of ${counted(cases.length, "test")} passed again. Each needs ${runs} that ${passes === 1 ? "counts" : "count"}.`
  if (status.category === "canceled") return `${what} The ticket is canceled.`
  if (status.category === "completed") {
    const lacking = completion === "evidence" ? cases.filter(({ needed, passed }) => passed < needed) : []
    return `${what} The ticket is completed.${whyCompleted(lacking)}`
  }
  if (completion === "free") return `${what} The ticket may be completed without.`
  return done === cases.length
    ? `${what} The ticket may be completed.`
    : `${what} The ticket may be completed once all have.`
}

const Evidence = ({ slug, ticket }: Pick<Props, "slug" | "ticket">) => {
  const query = useQuery(evidenceQuery(slug, ticket.identifier))
  const [areAll, setAll] = useState(false)
  const isOpen = !["completed", "canceled"].includes(ticket.status.category)
  const isAsked = ticket.completion === "evidence" && isOpen
  return (
    <Section isFlush title={ticket.completion === "evidence" ? "Evidence" : "Tests"}>
      <Loaded query={query} rows={3}>
        {(evidence) => (
          <>
            <p className={`${lineClass} font-medium outline-none`} id="evidence" tabIndex={-1}>
              <span className={evidence.complete ? "text-success" : "text-muted"}>
                <Icon name={evidence.complete ? "check" : "clock"} />
              </span>
              <span className="min-w-0 flex-1">{summaryOf(evidence, ticket)}</span>
            </p>
            <ul aria-label="Evidence of each test">
              {(areAll ? evidence.cases : evidence.cases.slice(0, few)).map((one) => (
                <EvidenceOfCase
                  isAsked={isAsked}
                  key={one.caseId}
                  one={one}
                  product={evidence.product ?? ""}
                  slug={slug}
                />
              ))}
            </ul>
            {!areAll && evidence.cases.length > few && (
              <div className="px-4 py-2">
                <Button look="quiet" onClick={() => setAll(true)}>
                  Show all {counted(evidence.cases.length, "test")}
                </Button>
              </div>
            )}
            {!evidence.complete && (
              <div className="px-4 py-2">
                <WhichRuns />
              </div>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

const Mutes = (props: Props) => {
  const { data } = useQuery(mutesQuery(props.slug))
  const mute = data?.mutes.find(({ ticket }) => ticket?.id === props.ticket.id)
  // Outside of what is muted: it says so where somebody ends that meanwhile.
  const [extended, setExtended] = useState<ListedMute>()
  return (
    <>
      {mute !== undefined && <MutedTests {...props} mute={mute} onExtend={() => setExtended(mute)} />}
      {extended !== undefined && (
        <ExtendDialog
          mute={extended}
          onClose={() => setExtended(undefined)}
          slug={props.slug}
          ticket={props.ticket.identifier}
        />
      )}
    </>
  )
}

const TicketTests = (props: Props) =>
  props.ticket.cases === null ? null : (
    <>
      <Mutes {...props} />
      <Evidence {...props} />
    </>
  )

export default TicketTests
