/** What runs and tests came to: a shape, a colour and a word, the same everywhere. */

export type Status = "passed" | "failed" | "gateFailed" | "flaky" | "skipped" | "running" | "interrupted"

interface Look {
  readonly colour: string
  readonly word: string
  /** Drawn in 16 px: whether its disc is filled, and what stands in it. */
  readonly isFilled: boolean
  readonly sign: string
}

const failed = { colour: "text-danger", word: "Failed", isFilled: true, sign: "M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4" }

const looks: Readonly<Record<Status, Look>> = {
  passed: { colour: "text-success", word: "Passed", isFilled: true, sign: "M5 8.3l2.1 2.1L11.2 6" },
  failed,
  gateFailed: { ...failed, word: "Passed, failed for the gate" },
  flaky: { colour: "text-warning", word: "Flaky", isFilled: false, sign: "M4.6 8.7q1.7-2.6 3.4-.7t3.4-.7" },
  skipped: { colour: "text-faint", word: "Skipped", isFilled: false, sign: "M5.5 8h5" },
  running: { colour: "text-info", word: "Running", isFilled: false, sign: "" },
  interrupted: { colour: "text-muted", word: "Interrupted", isFilled: false, sign: "M4.2 11.8l7.6-7.6" }
}

interface Props {
  readonly status: Status
  readonly size?: number
  /** Whether the word stands beside the shape; else a screen reader says it. */
  readonly isWordShown?: boolean
}

export const StatusMark = ({ isWordShown = false, size = 16, status }: Props) => {
  const { colour, word } = looks[status]
  return (
    <span className={`inline-flex shrink-0 items-center gap-1.5 ${colour}`} title={isWordShown ? undefined : word}>
      <Shape size={size} status={status} />
      <span className={isWordShown ? "font-medium" : "sr-only"}>{word}</span>
    </span>
  )
}

const Shape = ({ size, status }: { readonly size: number; readonly status: Status }) => {
  const { isFilled, sign } = looks[status]
  return (
    <svg
      aria-hidden="true"
      className={status === "running" ? "animate-spin" : undefined}
      fill="none"
      height={size}
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.6"
      viewBox="0 0 16 16"
      width={size}
    >
      {isFilled ? (
        <circle cx="8" cy="8" fill="currentColor" r="6.5" />
      ) : (
        <circle
          cx="8"
          cy="8"
          r="5.8"
          stroke="currentColor"
          {...(status === "running" ? { strokeDasharray: "24 13" } : {})}
        />
      )}
      <path d={sign} stroke={isFilled ? "var(--surface)" : "currentColor"} />
    </svg>
  )
}
