import type { AgentMessage } from "@delivery/domain/agents/Message"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useQuery } from "@tanstack/react-query"
import { useRef, useState } from "react"
import { useReadWhileShown } from "../agents/useReadWhileShown.ts"
import { client } from "../api/client.ts"
import { Loaded } from "../api/Loaded.tsx"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { saidOf } from "./activity.ts"
import { AttachmentList } from "./AttachmentList.tsx"
import { MarkdownField } from "./MarkdownField.tsx"
import { commentsKey, commentsQuery, historyQuery, traceQuery } from "./activityQueries.ts"
import { ticketsKey } from "./queries.ts"
import { TicketChange } from "./TicketChange.tsx"
import { TicketComment } from "./TicketComment.tsx"
import { TicketDelivery } from "./TicketDelivery.tsx"
import { TicketMessage, TicketReply } from "./TicketMessage.tsx"
import { UnmentionedOwner } from "./UnmentionedOwner.tsx"
import { useDraft } from "./useDraft.ts"

/** The files of a ticket, what came of it, what people and agents said about it, where one says more, and what changed. */

const AskAgent = later(() => import("./AskAgent.tsx"))
const EvidenceRefused = later(() => import("../flow/EvidenceRefused.tsx"))
const TicketHistory = later(() => import("./TicketHistory.tsx"))
const TicketTests = later(() => import("../flow/TicketTests.tsx"))

interface Props {
  readonly slug: string
  readonly ticket: Ticket
  readonly mayChange: boolean
}

const Composer = ({ slug, ticket: { id, identifier, owner } }: Pick<Props, "slug" | "ticket">) => {
  const { draft, setDraft } = useDraft(`${id}-comment`, identifier)
  const frame = useRef<HTMLDivElement>(null)
  const text = draft?.text ?? ""
  const send = useAction({
    act: () => client.comments.create({ params: { slug, ticket: identifier }, payload: { body: text } }),
    changes: [commentsKey(slug, identifier), ticketsKey(slug)],
    failed: () => "The comment could not be added",
    onDone: () => setDraft(undefined)
  })
  const submit = () => text.trim() !== "" && !send.isPending && send.mutate()
  useKeys([
    {
      keys: "c",
      label: "Comment",
      group: "Ticket",
      run: () => frame.current?.querySelector("textarea")?.focus()
    }
  ])
  return (
    <div className="flex flex-col gap-2 px-4 py-3" ref={frame}>
      <MarkdownField
        label="New comment"
        onChange={(next) => setDraft(next === "" ? undefined : { base: "", text: next })}
        onEscape={() => document.querySelector<HTMLElement>("#screen")?.focus()}
        onSubmit={submit}
        placeholder="Comment in Markdown. @ mentions people and agents."
        rows={3}
        slug={slug}
        value={text}
      />
      <UnmentionedOwner
        onMention={(next) => {
          setDraft({ base: "", text: next })
          frame.current?.querySelector("textarea")?.focus()
        }}
        owner={owner}
        slug={slug}
        text={text}
      />
      <div>
        <Button disabled={text.trim() === ""} isBusy={send.isPending} onClick={submit}>
          Comment
        </Button>
      </div>
    </div>
  )
}

const Activity = ({ mayChange, slug, ticket }: Props) => {
  const comments = useQuery(commentsQuery(slug, ticket.identifier))
  const { data: trace } = useQuery(traceQuery(slug, ticket.identifier))
  const { data: history } = useQuery(historyQuery(slug, ticket.id))
  const [answered, setAnswered] = useState<AgentMessage>()
  const [hasHistory, setHistory] = useState(false)
  return (
    <section aria-label="Activity" className="pt-4">
      <h2 className="text-muted border-border border-b px-4 pb-2 text-xs font-medium">Activity</h2>
      <Loaded query={comments} rows={3}>
        {(data) => (
          <ol>
            {saidOf(data.comments, trace?.messages ?? [], history?.events ?? []).map((said) =>
              said.kind === "event" ? (
                <TicketChange event={said.event} key={said.id} onHistory={() => setHistory(true)} />
              ) : said.kind === "comment" ? (
                <TicketComment comment={said.comment} key={said.id} slug={slug} ticket={ticket.identifier} />
              ) : said.kind === "message" ? (
                <TicketMessage key={said.id} message={said.message} slug={slug} />
              ) : (
                <TicketReply
                  key={said.id}
                  message={said.message}
                  onAnswer={mayChange ? () => setAnswered(said.message) : undefined}
                />
              )
            )}
          </ol>
        )}
      </Loaded>
      {mayChange && <Composer slug={slug} ticket={ticket} />}
      {hasHistory && (
        <TicketHistory mayChange={mayChange} onClose={() => setHistory(false)} slug={slug} ticket={ticket} />
      )}
      {answered !== undefined && (
        <AskAgent
          answered={answered}
          onClose={() => setAnswered(undefined)}
          slug={slug}
          tickets={[ticket.identifier]}
        />
      )}
    </section>
  )
}

const TicketActivity = (props: Props) => {
  useReadWhileShown(props.slug, props.ticket.id)
  return (
    <>
      <TicketTests {...props} />
      {props.mayChange && <EvidenceRefused slug={props.slug} />}
      <AttachmentList {...props} />
      <TicketDelivery slug={props.slug} ticket={props.ticket.identifier} />
      <Activity {...props} />
    </>
  )
}

export default TicketActivity
