import type { Comment } from "@delivery/domain/planning/Comment"
import { useState } from "react"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { Sure } from "../api/Sure.tsx"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { later } from "../ui/later.tsx"
import { Time } from "../ui/Time.tsx"
import { MarkdownField } from "./MarkdownField.tsx"
import { commentsKey } from "./activityQueries.ts"
import { ticketsKey } from "./queries.ts"

const Markdown = later(() => import("./TicketMarkdown.tsx"))

interface Props {
  readonly slug: string
  readonly ticket: string
  readonly comment: Comment
}

/** Whoever a comment belongs to, in their own name or that of their agent. */
const personOf = ({ author }: Comment): string | undefined =>
  author.kind === "user" ? author.id : author.kind === "agent" ? author.person.id : undefined

const Edited = ({ comment, onClose, slug, ticket }: Props & { readonly onClose: () => void }) => {
  const [text, setText] = useState(comment.body)
  const save = useAction({
    act: () => client.comments.update({ params: { slug, ticket, comment: comment.id }, payload: { body: text } }),
    changes: [commentsKey(slug, ticket)],
    failed: () => "The comment could not be changed",
    onDone: onClose
  })
  return (
    <div className="flex flex-col gap-2">
      <MarkdownField
        hasFocus
        label="Comment"
        onChange={setText}
        onEscape={text === comment.body ? onClose : () => undefined}
        onSubmit={() => save.mutate()}
        slug={slug}
        value={text}
      />
      <div className="flex gap-2">
        <Button disabled={text.trim() === ""} isBusy={save.isPending} look="primary" onClick={() => save.mutate()}>
          Save
        </Button>
        <Button onClick={onClose}>{text === comment.body ? "Cancel" : "Discard"}</Button>
      </div>
    </div>
  )
}

export const TicketComment = (props: Props) => {
  const { comment, slug, ticket } = props
  const [isEdited, setEdited] = useState(false)
  const me = useMe()?.id
  const role = useRole(slug)
  const isMine = personOf(comment) === me
  const remove = useAction({
    act: () => client.comments.delete({ params: { slug, ticket, comment: comment.id } }),
    changes: [commentsKey(slug, ticket), ticketsKey(slug)]
  })
  return (
    <li aria-label={`Comment of ${actorName(comment.author)}`} className="border-border border-b px-4 py-3">
      <div className="flex min-h-7 flex-wrap items-center gap-2">
        <span className="foreign truncate font-medium">{actorName(comment.author)}</span>
        <span className="text-muted flex-1 text-xs">
          <Time at={comment.createdAt} />
          {comment.editedAt !== null && " · edited"}
        </span>
        {isMine && !isEdited && mayAct(role, "member") && (
          <Button
            aria-label={`Edit the comment of ${actorName(comment.author)}`}
            look="quiet"
            onClick={() => setEdited(true)}
          >
            Edit
          </Button>
        )}
        {(isMine || mayAct(role, "admin")) && !isEdited && (
          <Sure
            doing={remove}
            subject={`the comment of ${actorName(comment.author)}`}
            title="Delete the comment?"
            verb="Delete"
          >
            <p>It cannot be brought back. Agents that it mentions keep the messages that they got.</p>
          </Sure>
        )}
      </div>
      {isEdited ? <Edited {...props} onClose={() => setEdited(false)} /> : <Markdown text={comment.body} />}
    </li>
  )
}
