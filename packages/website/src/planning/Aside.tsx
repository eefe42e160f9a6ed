import type { ReactNode } from "react"

/** Beside the words of a ticket or project, on narrow screens below them: what else it is. */
export const Aside = ({ children }: { readonly children: ReactNode }) => (
  <aside
    aria-label="Properties"
    className="border-border px-4 py-3 max-md:border-y md:col-start-2 md:row-span-2 md:row-start-1 md:border-l"
  >
    {children}
  </aside>
)
