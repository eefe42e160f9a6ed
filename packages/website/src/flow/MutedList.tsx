import { Link, useNavigate } from "@tanstack/react-router"
import { useSyncExternalStore } from "react"
import { actorName } from "../api/actors.ts"
import { mayAct, useRole } from "../api/session.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { later } from "../ui/later.tsx"
import { Rows } from "../ui/Rows.tsx"
import { Truncated } from "../ui/Truncated.tsx"
import type { MutedTest } from "./mute.ts"
import { MuteEnd } from "./MuteEnd.tsx"
import { UnmuteButton } from "./UnmuteButton.tsx"
import { useUnmute } from "./useUnmute.ts"

/** The tests that are muted, row by row. */

const MutedPeek = later(() => import("./MutedPeek.tsx"))

const columns =
  "grid grid-cols-[minmax(0,1fr)_minmax(0,16rem)_9rem_9rem] lg:grid-cols-[minmax(0,1fr)_minmax(0,16rem)_minmax(0,8rem)_9rem_9rem] items-center gap-x-3 px-4"

interface RowProps {
  readonly isCurrent: boolean
  readonly one: MutedTest
  readonly slug: string
  /** What a member may do with it. */
  readonly acts: { readonly onExtend: () => void; readonly onUnmute: () => void } | undefined
}

const Ticket = ({ mute: { ticket }, slug }: { readonly mute: MutedTest["mute"]; readonly slug: string }) =>
  ticket === null ? (
    "A ticket of a private team"
  ) : (
    <Link className="hover:underline" params={{ slug, ticket: ticket.identifier }} to="/w/$slug/tickets/$ticket">
      <span className="text-text tabular">{ticket.identifier}</span> <span className="foreign">{ticket.title}</span>
    </Link>
  )

/** Who has it to mend; a ticket whose mute is over may be nobody's. */
const Owner = ({ mute: { ticket } }: { readonly mute: MutedTest["mute"] }) =>
  ticket !== null && (
    <span className="foreign" title="Who is responsible for the ticket">
      {ticket.owner === null ? "nobody" : actorName(ticket.owner)}
    </span>
  )

const Acts = ({ acts, one: { mute, title } }: Pick<RowProps, "acts" | "one">) =>
  acts !== undefined &&
  mute.ticket !== null && (
    <>
      {!mute.overdue && <UnmuteButton label={`Unmute ${title}`} look="quiet" onClick={acts.onUnmute} />}
      <Button aria-label={`${mute.overdue ? "Mute again" : "Extend"} ${title}`} look="quiet" onClick={acts.onExtend}>
        {mute.overdue ? "Mute again…" : "Extend…"}
      </Button>
    </>
  )

const Overdue = () => (
  <Badge
    title="Its time has passed, and its ticket is still open: complete the ticket, or mute the test again"
    tone="warning"
  >
    overdue
  </Badge>
)

const Left = ({ mute }: { readonly mute: MutedTest["mute"] }) => (
  <span className={`tabular whitespace-nowrap ${mute.overdue ? "text-warning" : "text-muted"}`}>
    <MuteEnd until={mute.until} />
  </span>
)

/** How many lines a row has where there is no room for columns: two for the name and its file, and two for the rest. */
const narrowLines = 4

const NarrowRow = ({ acts, isCurrent, one, slug }: RowProps) => (
  <div
    className={`border-border hover:bg-hover flex h-[calc(var(--row)*4)] flex-col justify-center gap-1 border-b px-4 ${isCurrent ? "bg-selected" : ""}`}
  >
    <Link
      className="foreign line-clamp-2 break-words hover:underline"
      params={{ slug, product: one.mute.product, case: one.caseId }}
      title={one.caseId}
      to="/w/$slug/products/$product/cases/$case"
    >
      {one.title}
    </Link>
    <span className="text-muted flex min-w-0">
      <Truncated text={one.file} />
    </span>
    <span className="text-muted min-w-0 truncate">
      <Ticket mute={one.mute} slug={slug} />
      {one.mute.ticket !== null && ", "}
      <Owner mute={one.mute} />
    </span>
    <span className="flex items-center gap-2">
      {one.mute.overdue && <Overdue />}
      <Left mute={one.mute} />
      <span className="-mr-2.5 ml-auto flex gap-1">
        <Acts acts={acts} one={one} />
      </span>
    </span>
  </div>
)

const narrow = matchMedia("(max-width: 47.99rem)")

const subscribe = (listener: () => void) => {
  narrow.addEventListener("change", listener)
  return () => narrow.removeEventListener("change", listener)
}

const Row = ({ acts, isCurrent, one, slug }: RowProps) => (
  <div className={`${columns} border-border hover:bg-hover h-(--row) border-b ${isCurrent ? "bg-selected" : ""}`}>
    <span className="flex min-w-0 items-center gap-2">
      {one.mute.overdue && <Overdue />}
      <Link
        className="foreign min-w-0 flex-1 truncate hover:underline"
        params={{ slug, product: one.mute.product, case: one.caseId }}
        title={one.caseId}
        to="/w/$slug/products/$product/cases/$case"
      >
        {one.title}
      </Link>
      <span className="text-muted hidden w-[44%] 2xl:flex">
        <Truncated text={one.file} />
      </span>
    </span>
    <span className="text-muted min-w-0 truncate">
      <Ticket mute={one.mute} slug={slug} />
    </span>
    <span className="text-muted hidden min-w-0 truncate lg:block">
      <Owner mute={one.mute} />
    </span>
    <Left mute={one.mute} />
    <span className="-mr-2.5 flex justify-end gap-1">
      <Acts acts={acts} one={one} />
    </span>
  </div>
)

interface ListProps {
  readonly slug: string
  readonly tests: ReadonlyArray<MutedTest>
  readonly onExtend: (mute: MutedTest["mute"]) => void
}

const MutedList = ({ onExtend, slug, tests }: ListProps) => {
  const navigate = useNavigate()
  const mayMute = mayAct(useRole(slug), "member")
  const isNarrow = useSyncExternalStore(subscribe, () => narrow.matches)
  const Shown = isNarrow ? NarrowRow : Row
  const unmute = useUnmute(slug)
  const actsOf = ({ caseId, mute }: MutedTest) => ({
    onExtend: () => onExtend(mute),
    onUnmute: () => unmute.mutate({ was: mute, gone: [caseId] })
  })
  return (
    <Rows
      count={tests.length}
      keyOf={(index) =>
        `${tests[index]!.mute.ticket?.identifier ?? ""} ${tests[index]!.mute.until} ${tests[index]!.caseId}`
      }
      label="Muted tests"
      lines={isNarrow ? narrowLines : 1}
      noun="test"
      onOpen={(index) => {
        const { caseId, mute } = tests[index]!
        void navigate({
          to: "/w/$slug/products/$product/cases/$case",
          params: { slug, product: mute.product, case: caseId }
        })
      }}
      peek={(index) => <MutedPeek one={tests[index]!} slug={slug} />}
      row={(index, isCurrent) => (
        <Shown
          acts={mayMute ? actsOf(tests[index]!) : undefined}
          isCurrent={isCurrent}
          one={tests[index]!}
          slug={slug}
        />
      )}
    />
  )
}

export default MutedList
