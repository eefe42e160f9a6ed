import type { Ticket } from "@delivery/domain/planning/Ticket"
import { useRef } from "react"
import { client } from "../api/client.ts"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { useKeys } from "../ui/keys.ts"
import { commentsKey } from "./activityQueries.ts"
import { holdInView } from "./holdInView.ts"
import { MarkdownField } from "./MarkdownField.tsx"
import { ticketsKey } from "./queries.ts"
import { UnmentionedOwner } from "./UnmentionedOwner.tsx"
import { useDraft } from "./useDraft.ts"

interface Props {
  readonly slug: string
  readonly ticket: Pick<Ticket, "id" | "identifier" | "owner">
  /** The comment is there. */
  readonly onSent?: () => void
}

/** Where one says more about a ticket. What is typed is the same wherever it is written. */
export const Composer = ({ onSent, slug, ticket: { id, identifier, owner } }: Props) => {
  const { draft, setDraft } = useDraft(`${id}-comment`, identifier)
  const frame = useRef<HTMLDivElement>(null)
  const text = draft?.text ?? ""
  const send = useAction({
    act: () => client.comments.create({ params: { slug, ticket: identifier }, payload: { body: text } }),
    changes: [commentsKey(slug, identifier), ticketsKey(slug)],
    failed: () => "The comment could not be added",
    onDone: () => {
      setDraft(undefined)
      onSent?.()
      // Below what was said just now, once that is drawn: the next sentence is seen while it is written.
      if (frame.current !== null) holdInView(frame.current, "nearest")
    }
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
    <div className="flex flex-col gap-2 px-4 py-3" data-toasts-above ref={frame}>
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
