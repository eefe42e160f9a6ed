import { Link, type LinkProps } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef } from "react"
import { Icon } from "./Icon.tsx"

/** The top of a screen, which stays there: where it is, its name and state, and what can be done there. */

export interface Crumb {
  readonly label: string
  readonly link?: Pick<LinkProps, "to" | "params" | "search">
}

interface Props {
  readonly crumbs: ReadonlyArray<Crumb>
  readonly title: ReactNode
  readonly state?: ReactNode
  readonly actions?: ReactNode
}

/** The name of the screen is that of the window, too. */
const useWindowTitle = () => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${heading.current?.textContent ?? ""} · Workspace Delivery Service`
  })
  return heading
}

export const Header = ({ actions, crumbs, state, title }: Props) => {
  const heading = useWindowTitle()
  return (
    <header className="border-border screen-header flex min-h-11 flex-wrap items-center gap-x-2 gap-y-1 border-b px-4 py-1.5">
      {crumbs.length > 0 && (
        <nav aria-label="Breadcrumbs">
          <ol className="text-muted flex items-center gap-1">
            {crumbs.map(({ label, link }) => (
              // On narrow screens the way back is the nearest alone.
              <li className="flex items-center gap-1 not-last:max-sm:hidden" key={label}>
                <span className="text-faint sm:hidden">
                  <Icon name="chevronLeft" size={12} />
                </span>
                {link === undefined ? (
                  label
                ) : (
                  <Link {...link} className="hover:bg-hover hover:text-text -mx-1 max-w-50 truncate rounded-sm px-1">
                    {label}
                  </Link>
                )}
                <span className="text-faint max-sm:hidden">
                  <Icon name="chevronRight" size={12} />
                </span>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <h1 className="foreign min-w-0 truncate font-semibold" ref={heading}>
        {title}
      </h1>
      {state}
      {actions !== undefined && (
        <div className="ml-auto flex flex-wrap items-center justify-end gap-1.5">{actions}</div>
      )}
    </header>
  )
}

/** Views of the same thing. */
export const Tabs = ({ children, label }: { readonly children: ReactNode; readonly label: string }) => (
  <nav aria-label={label} className="border-border flex shrink-0 gap-1 overflow-x-auto border-b px-3">
    {children}
  </nav>
)

export const tabClass =
  "text-muted hover:text-text -outline-offset-2 aria-[current=page]:text-text aria-[current=page]:border-text -mb-px inline-flex h-9 items-center gap-1.5 whitespace-nowrap border-b-2 border-transparent px-2 font-medium"
