import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { EarlierText, TextField } from "@delivery/domain/planning/TicketText"
import { useInfiniteQuery } from "@tanstack/react-query"
import { useId, useState } from "react"
import { actorName } from "../api/actors.ts"
import { Loaded } from "../api/Loaded.tsx"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Older } from "../ui/Older.tsx"
import { Tabs } from "../ui/Tabs.tsx"
import { Time } from "../ui/Time.tsx"
import { WordDiff } from "../ui/WordDiff.tsx"
import { textHistoryQuery } from "./textHistoryQuery.ts"
import { useTicketChange } from "./useTicketChange.ts"
import { wordsBetween } from "./wordDiff.ts"

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
  readonly onClose: () => void
}

interface ChangeProps {
  readonly earlier: EarlierText
  /** What it was changed to. */
  readonly after: string | null
  readonly isOpen: boolean
  readonly isBusy: boolean
  /** Not for what stands there, or for no text. */
  readonly onRestore: (() => void) | undefined
}

const Change = ({ after, earlier, isBusy, isOpen: isOpenAtFirst, onRestore }: ChangeProps) => {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const shown = useId()
  const { field, replacedAt, replacedBy, text } = earlier
  const what = text === null ? "wrote it" : after === null ? "removed it" : "changed it"
  return (
    <li className="border-border flex flex-col gap-2 border-b py-2">
      <div className="flex flex-wrap items-center gap-2 max-sm:*:basis-full">
        <button
          aria-controls={shown}
          aria-expanded={isOpen}
          className="hover:bg-hover min-h-7 min-w-0 flex-1 rounded-md px-1 text-left"
          onClick={() => setOpen(!isOpen)}
          type="button"
        >
          <span className="text-muted mr-1 inline-block align-middle">
            <Icon name={isOpen ? "chevronDown" : "chevronRight"} />
          </span>
          <span className="foreign font-medium">{actorName(replacedBy)}</span> {what}{" "}
          <span className="text-muted">
            <Time at={replacedAt} />
          </span>
        </button>
        {onRestore !== undefined && (
          <Button isBusy={isBusy} onClick={onRestore}>
            Restore what was before
            <span className="sr-only">
              : the {field} of before {actorName(replacedBy)} {what} <Time at={replacedAt} />
            </span>
          </Button>
        )}
      </div>
      <div hidden={!isOpen} id={shown}>
        {isOpen && <WordDiff label="What was changed" parts={wordsBetween(text, after)} />}
      </div>
    </li>
  )
}

const TextHistory = ({ field, mayChange, slug, ticket }: Omit<Props, "onClose"> & { readonly field: TextField }) => {
  const query = useInfiniteQuery(textHistoryQuery(slug, ticket.identifier, field))
  const change = useTicketChange(slug)
  const [restored, setRestored] = useState<number>()
  const now = ticket[field]
  const restore = async ({ number, text }: EarlierText) => {
    setRestored(number)
    await change(
      ticket,
      { [field]: text },
      { done: `The earlier ${field} of ${ticket.identifier} was restored`, from: { [field]: now } }
    )
    setRestored(undefined)
  }
  return (
    <Loaded query={query} rows={4}>
      {({ pages }) => {
        const texts = pages.flatMap((page) => page.texts)
        if (texts.length === 0) return <p className="text-muted">No change of the {field} is kept.</p>
        return (
          <>
            <ul aria-label={`Changes of the ${field}`}>
              {texts.map((earlier, index) => (
                <Change
                  after={index === 0 ? now : texts[index - 1]!.text}
                  earlier={earlier}
                  isBusy={restored === earlier.number}
                  isOpen={index === 0}
                  key={earlier.number}
                  onRestore={
                    mayChange && earlier.text !== null && earlier.text !== now ? () => void restore(earlier) : undefined
                  }
                />
              ))}
            </ul>
            <Older noun="changes" query={query} />
          </>
        )
      }}
    </Loaded>
  )
}

/** Who changed the description and the plan of a ticket, when, and how. */
const TicketHistory = ({ onClose, ...props }: Props) => (
  <Dialog
    description="Who changed the description and the plan, and how. At most the last hundred changes are kept."
    isWide
    onClose={onClose}
    title={`History of ${props.ticket.identifier}`}
  >
    <Tabs
      label="Texts"
      tabs={[
        { name: "Description", content: <TextHistory field="description" {...props} /> },
        { name: "Plan", content: <TextHistory field="plan" {...props} /> }
      ]}
    />
  </Dialog>
)

export default TicketHistory
