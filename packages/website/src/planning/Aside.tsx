import type { ReactNode } from "react"

/** Beside the words of a ticket or project, on narrow screens below them: what else it is. */
interface Props {
  readonly children: ReactNode
  /** On narrow screens each part of it has a place of its own among the words. */
  readonly isSpread?: boolean
}

export const Aside = ({ children, isSpread = false }: Props) => (
  <aside
    aria-label="Properties"
    className={`border-border px-4 py-3 ${isSpread ? "max-md:contents" : "max-md:border-y"} md:col-start-2 md:row-span-2 md:row-start-1 md:border-l`}
  >
    {children}
  </aside>
)
