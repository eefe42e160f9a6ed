import type { Comment } from "@delivery/domain/planning/Comment"
import { actorName } from "../api/actors.ts"
import { client } from "../api/client.ts"
import { Sure } from "../api/Sure.tsx"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { useAction } from "../api/useAction.ts"
import { Button } from "../ui/Button.tsx"
import { later } from "../ui/later.tsx"
import { toast } from "../ui/toast.ts"
import { Time } from "../ui/Time.tsx"
import { MarkdownField } from "./MarkdownField.tsx"
import { commentsKey } from "./activityQueries.ts"
import { ticketsKey } from "./queries.ts"
import { SaidItem } from "./SaidItem.tsx"
import { changedComment } from "./drafts.ts"
import { useDraft } from "./useDraft.ts"

const Markdown = later(() => import("./TicketMarkdown.tsx"))

interface Props {
  readonly slug: string
  readonly ticket: string
  readonly comment: Comment
}

/** Whoever a comment belongs to, in their own name or that of their agent. */
const personOf = ({ author }: Comment): string | undefined =>
  author.kind === "user" ? author.id : author.kind === "agent" ? author.person.id : undefined

interface EditedProps extends Props {
  readonly text: string
  readonly onText: (text: string) => void
  readonly onClose: () => void
}

const Edited = ({ comment, onClose, onText, slug, text, ticket }: EditedProps) => {
  const discard = () => {
    onClose()
    if (text === comment.body) return
    toast({
      title: "What you typed was discarded",
      undo: async () => {
        onText(text)
        return "What you typed is back"
      }
    })
  }
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
        onChange={onText}
        onEscape={text === comment.body ? onClose : () => undefined}
        onSubmit={() => save.mutate()}
        slug={slug}
        value={text}
      />
      <div className="flex gap-2">
        <Button disabled={text.trim() === ""} isBusy={save.isPending} look="primary" onClick={() => save.mutate()}>
          Save
        </Button>
        <Button onClick={discard}>{text === comment.body ? "Cancel" : "Discard"}</Button>
      </div>
    </div>
  )
}

export const TicketComment = (props: Props) => {
  const { comment, slug, ticket } = props
  const { draft, setDraft } = useDraft(`${comment.id}-${changedComment}`, ticket)
  const isEdited = draft !== undefined
  const me = useMe()?.id
  const role = useRole(slug)
  const isMine = personOf(comment) === me
  const remove = useAction({
    act: () => client.comments.delete({ params: { slug, ticket, comment: comment.id } }),
    changes: [commentsKey(slug, ticket), ticketsKey(slug)]
  })
  return (
    <SaidItem id={comment.id} label={`Comment of ${actorName(comment.author)}`}>
      <div className="quiet-end flex min-h-7 flex-wrap items-center gap-2">
        <span className="foreign truncate font-medium">{actorName(comment.author)}</span>
        <span className="text-muted flex-1 text-xs">
          <Time at={comment.createdAt} />
          {comment.editedAt !== null && " · edited"}
        </span>
        {isMine && !isEdited && mayAct(role, "member") && (
          <Button
            aria-label={`Edit the comment of ${actorName(comment.author)}`}
            look="quiet"
            onClick={() => setDraft({ base: comment.body, text: comment.body })}
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
      {draft !== undefined ? (
        <Edited
          {...props}
          onClose={() => setDraft(undefined)}
          onText={(text) => setDraft({ base: comment.body, text })}
          text={draft.text}
        />
      ) : (
        <Markdown text={comment.body} />
      )}
    </SaidItem>
  )
}
