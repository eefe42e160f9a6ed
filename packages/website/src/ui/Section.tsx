import type { ReactNode } from "react"

/** A part of a screen with a heading of its own. */
export const Section = ({
  actions,
  children,
  isFlush = false,
  title
}: {
  readonly title: string
  readonly actions?: ReactNode
  /** Its content, such as a list, reaches the edges. */
  readonly isFlush?: boolean
  readonly children: ReactNode
}) => (
  <section aria-label={title} className="pt-4">
    <div className="flex min-h-7 flex-wrap items-center gap-2 px-4 pb-1">
      <h2 className="text-muted foreign flex-1 text-xs font-medium">{title}</h2>
      <div className="quiet-end ml-auto flex items-center gap-2">{actions}</div>
    </div>
    {isFlush ? <div className="border-border border-t">{children}</div> : <div className="px-4">{children}</div>}
  </section>
)
