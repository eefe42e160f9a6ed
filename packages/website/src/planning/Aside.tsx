import type { ReactNode } from "react"

/** Beside the words of a ticket or project, what else it is. On narrow screens each part of it has a place of its own among the words. */
export const Aside = ({ children }: { readonly children: ReactNode }) => (
  <aside
    aria-label="Properties"
    className="border-border px-4 py-3 max-md:contents md:col-start-2 md:row-span-2 md:row-start-1 md:border-l"
  >
    {children}
  </aside>
)
