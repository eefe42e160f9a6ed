import { useEffect, useState } from "react"
import { Icon } from "./Icon.tsx"

/** Copies a text, and says so for two seconds. */
const useCopy = (text: string) => {
  const [outcome, setOutcome] = useState<"copied" | "failed">()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), 2_000)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setOutcome("copied"),
      () => setOutcome("failed")
    )
  const icon = outcome === "copied" ? "check" : outcome === "failed" ? "cross" : "copy"
  const said = outcome === "copied" ? "Copied" : outcome === "failed" ? "The browser did not allow it" : ""
  return { copy, icon, said } as const
}

export const CopyButton = ({ label, text }: { readonly label: string; readonly text: string }) => {
  const { copy, icon, said } = useCopy(text)
  return (
    <button
      aria-label={label}
      className="text-muted hover:bg-hover hover:text-text inline-flex size-6 shrink-0 items-center justify-center rounded-md"
      data-tip={label}
      onClick={() => void copy()}
      type="button"
    >
      <Icon name={icon} size={14} />
      <span className="sr-only" role="status">
        {said}
      </span>
    </button>
  )
}

interface CopyableProps {
  readonly label: string
  /** What stands for the text, such as the start of a SHA. */
  readonly shown?: string
  readonly text: string
}

/** A text in the machine's letters that is copied by pressing it. The sign of that shows on hover and focus, and moves nothing. */
export const Copyable = ({ label, shown, text }: CopyableProps) => {
  const { copy, icon, said } = useCopy(text)
  return (
    <button
      aria-label={`${shown ?? text}: ${label.toLowerCase()}`}
      className="group/copy hover:bg-hover relative -mx-1 inline-flex max-w-[calc(100%+0.5rem)] min-w-0 items-center rounded-sm px-1"
      data-tip={shown === undefined || shown === text ? label : `${label}: ${text}`}
      onClick={() => void copy()}
      type="button"
    >
      <span className="foreign min-w-0 truncate font-mono text-xs">{shown ?? text}</span>
      <span
        className={`bg-hover absolute left-full z-10 rounded-sm p-0.5 group-hover/copy:block group-focus-visible/copy:block ${icon === "copy" ? "hidden" : ""}`}
      >
        <Icon name={icon} size={14} />
      </span>
      <span className="sr-only" role="status">
        {said}
      </span>
    </button>
  )
}
