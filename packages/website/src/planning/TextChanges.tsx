import type { EarlierDocument } from "@delivery/domain/planning/ProjectText"
import type { UseInfiniteQueryResult } from "@tanstack/react-query"
import { useId, useState } from "react"
import { actorName } from "../api/actors.ts"
import { Loaded } from "../api/Loaded.tsx"
import { Button } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Older } from "../ui/Older.tsx"
import { Time } from "../ui/Time.tsx"
import { WordDiff } from "../ui/WordDiff.tsx"
import { wordsBetween } from "./wordDiff.ts"

/** Who changed a text of a ticket or project, when and how, with a way back to what was before. */

type Earlier = Pick<EarlierDocument, "number" | "replacedAt" | "replacedBy" | "text">

interface ChangeProps {
  readonly earlier: Earlier
  /** What the text is called. */
  readonly noun: string
  /** What it was changed to. */
  readonly after: string | null
  readonly isOpen: boolean
  readonly isBusy: boolean
  /** Not for what stands there, or for no text. */
  readonly onRestore: (() => void) | undefined
}

const Change = ({ after, earlier, isBusy, isOpen: isOpenAtFirst, noun, onRestore }: ChangeProps) => {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const shown = useId()
  const { replacedAt, replacedBy, text } = earlier
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
              : the {noun} of before {actorName(replacedBy)} {what} <Time at={replacedAt} />
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

interface Props {
  /** What the text is called. */
  readonly noun: string
  /** The text that stands there. */
  readonly now: string | null
  readonly query: UseInfiniteQueryResult<{ readonly pages: ReadonlyArray<{ readonly texts: ReadonlyArray<Earlier> }> }>
  /** Writes an earlier text in place of the one that stands there; not where the person may not. */
  readonly onRestore: ((text: string | null) => Promise<unknown>) | undefined
}

export const TextChanges = ({ noun, now, onRestore, query }: Props) => {
  const [restored, setRestored] = useState<number>()
  const restore = async ({ number, text }: Earlier) => {
    setRestored(number)
    await onRestore?.(text)
    setRestored(undefined)
  }
  return (
    <Loaded query={query} rows={4}>
      {({ pages }) => {
        const texts = pages.flatMap((page) => page.texts)
        if (texts.length === 0) return <p className="text-muted">No change of the {noun} is kept.</p>
        return (
          <>
            <ul aria-label={`Changes of the ${noun}`}>
              {texts.map((earlier, index) => (
                <Change
                  after={index === 0 ? now : texts[index - 1]!.text}
                  earlier={earlier}
                  isBusy={restored === earlier.number}
                  isOpen={index === 0}
                  key={earlier.number}
                  noun={noun}
                  onRestore={
                    onRestore !== undefined && earlier.text !== null && earlier.text !== now
                      ? () => void restore(earlier)
                      : undefined
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
