import type { ReactNode } from "react"

/** Around the words of a ticket or project, and what stands beside them. */
export const besideClass =
  "mx-auto grid w-full max-w-300 grow grid-cols-[minmax(0,1fr)] max-md:content-start md:grid-cols-[minmax(0,1fr)_18rem] min-[80rem]:grid-cols-[minmax(0,1fr)_22rem]"

/** Beside the words of a ticket or project, what else it is. On narrow screens each part of it has a place of its own among the words. */
export const Aside = ({ children }: { readonly children: ReactNode }) => (
  <aside
    aria-label="Properties"
    className="border-border max-md:contents md:col-start-2 md:row-span-2 md:row-start-1 md:border-l"
  >
    {/* In sight wherever one reads: its keys work there, too. */}
    <div className="max-md:contents md:sticky md:top-(--header) md:max-h-[calc(100dvh-var(--header))] md:overflow-y-auto md:px-4 md:py-3">
      {children}
    </div>
  </aside>
)
