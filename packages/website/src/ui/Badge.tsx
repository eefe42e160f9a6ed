import type { ReactNode } from "react"

const tones = {
  plain: "border-border text-muted",
  accent: "border-transparent bg-accent-soft text-accent",
  danger: "border-transparent bg-danger-soft text-danger",
  warning: "border-transparent bg-warning-soft text-warning",
  success: "border-transparent bg-success-soft text-success",
  info: "border-transparent bg-info-soft text-info"
}

export type Tone = keyof typeof tones

/** A word about something: `new`, `production`. */
export const Badge = ({
  children,
  title,
  tone = "plain"
}: {
  readonly children: ReactNode
  readonly title?: string
  readonly tone?: Tone
}) => (
  <span
    className={`inline-flex h-5 shrink-0 items-center rounded-sm border px-1.5 text-xs font-medium whitespace-nowrap ${tones[tone]}`}
    title={title}
  >
    {children}
  </span>
)
