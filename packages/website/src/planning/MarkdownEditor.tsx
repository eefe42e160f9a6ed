import { useQuery } from "@tanstack/react-query"
import { type FocusEvent, type Ref, useMemo, useRef, useState } from "react"
import { actorName } from "../api/actors.ts"
import { Button } from "../ui/Button.tsx"
import { Diff } from "../ui/Diff.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { shownKeys } from "../ui/keys.ts"
import { Time } from "../ui/Time.tsx"
import { toast } from "../ui/toast.ts"
import { historyQuery } from "./activityQueries.ts"
import { MarkdownField } from "./MarkdownField.tsx"
import { shownOf } from "./mentionText.ts"
import { changesBetween } from "./textDiff.ts"
import { mergedText } from "./textMerge.ts"
import type { Draft } from "./useDraft.ts"

interface Props {
  readonly slug: string
  readonly title: string
  readonly text: string | null
  readonly draft: Draft
  readonly subject: string
  readonly field: string
  /** It was begun just now, and takes the keyboard. */
  readonly hasFocus: boolean
  /** Without one, nothing is edited any more. */
  readonly onDraft: (draft: Draft | undefined) => void
  /** Whether it was saved. */
  readonly onSave: (text: string | null, from: string | null) => Promise<boolean>
}

interface ChangedProps extends Omit<Props, "hasFocus" | "onDraft" | "onSave"> {
  /** Whether they changed lines that the person changed, too. */
  readonly isConflict: boolean
  readonly ref: Ref<HTMLDivElement>
}

/** Who changed the text last, and how. */
const ChangedMeanwhile = ({ draft, field, isConflict, ref, slug, subject, text }: ChangedProps) => {
  // What was read before may not have it, where events did not come.
  const { data, isFetchedAfterMount } = useQuery({ ...historyQuery(slug, subject), refetchOnMount: "always" })
  const last = isFetchedAfterMount
    ? data?.events.find(({ changes }) => changes.some((change) => change.field === field))
    : undefined
  return (
    <div
      className={`flex flex-col gap-2 rounded-md px-3 py-2 ${isConflict ? "bg-warning-soft" : "bg-info-soft"}`}
      ref={ref}
      role={isConflict ? "alert" : "status"}
      tabIndex={-1}
    >
      <p className={isConflict ? "text-warning" : "text-info"}>
        <span className="foreign">{last === undefined ? "Somebody" : actorName(last.actor)}</span> changed{" "}
        {isConflict ? "this" : "other lines"}
        {last !== undefined && (
          <>
            {" "}
            <Time at={last.createdAt} />
          </>
        )}
        , after you began. {isConflict ? "They changed these lines:" : "Saving keeps what both of you wrote:"}
      </p>
      <Diff
        label="What was changed meanwhile"
        lines={changesBetween(draft.base, text ?? "").map((line) => ({ ...line, text: shownOf(line.text) }))}
      />
      {isConflict && (
        <p className="text-muted text-xs">
          Take over what you want to keep. Replacing it writes your text over theirs; nothing is saved before you
          decide.
        </p>
      )}
    </div>
  )
}

/** A text that is being written, and what somebody else made of it meanwhile. */
const MarkdownEditor = (props: Props) => {
  const { draft, hasFocus, onDraft, onSave, slug, text, title } = props
  const [isBusy, setBusy] = useState(false)
  const changed = useRef<HTMLDivElement>(null)
  const isGoneOnWith = useRef(hasFocus)
  const isChangedMeanwhile = (text ?? "") !== draft.base
  const merged = useMemo(
    () => (isChangedMeanwhile ? mergedText(draft.base, draft.text, text ?? "") : draft.text),
    [draft.base, draft.text, isChangedMeanwhile, text]
  )
  const isConflict = merged === undefined
  const onClose = () => onDraft(undefined)
  const discard = () => {
    onClose()
    toast({
      title: `What you typed as the ${title.toLowerCase()} was discarded`,
      undo: async () => {
        onDraft(draft)
        return "What you typed is back"
      }
    })
  }
  const save = async () => {
    if (isBusy) return
    setBusy(true)
    const whole = merged ?? draft.text
    const isDone = await onSave(whole.trim() === "" ? null : whole, text)
    setBusy(false)
    if (isDone) onClose()
  }
  // What somebody else wrote is read first: the button that replaces it comes after it.
  const submit = () => {
    if (isConflict) changed.current?.focus()
    else void save()
  }
  // Where it was left is not known any more: what was kept is gone on with at its end.
  const goOn = ({ target }: FocusEvent) => {
    if (isGoneOnWith.current || !(target instanceof HTMLTextAreaElement)) return
    isGoneOnWith.current = true
    target.setSelectionRange(target.value.length, target.value.length)
  }
  return (
    <div className="flex flex-col gap-2" onFocus={goOn}>
      <MarkdownField
        hasFocus={hasFocus}
        label={title}
        onChange={(next) => onDraft({ ...draft, text: next })}
        onEscape={draft.text === draft.base ? onClose : () => document.querySelector<HTMLElement>("#screen")?.focus()}
        onSubmit={submit}
        slug={slug}
        value={draft.text}
      />
      {isChangedMeanwhile && <ChangedMeanwhile {...props} isConflict={isConflict} ref={changed} />}
      <div className="flex flex-wrap items-center gap-2">
        <Button isBusy={isBusy} look={isConflict ? "danger" : "primary"} onClick={() => void save()}>
          {isConflict ? "Replace theirs with mine" : "Save"}
        </Button>
        {draft.text === draft.base ? (
          <Button onClick={onClose}>Cancel</Button>
        ) : (
          <Button onClick={discard}>Discard</Button>
        )}
        {!isConflict && <Kbd keys={shownKeys("Mod+Enter")} />}
      </div>
    </div>
  )
}

export default MarkdownEditor
