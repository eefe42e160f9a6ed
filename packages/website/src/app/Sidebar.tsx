import { Link } from "@tanstack/react-router"
import { useRef } from "react"
import type { LiveState } from "../api/live.ts"
import { useMe, useRole } from "../api/session.ts"
import { IconButton } from "../ui/Button.tsx"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { shownKeys } from "../ui/keys.ts"
import { later } from "../ui/later.tsx"
import { MenuButton } from "../ui/Menu.tsx"
import { overlay } from "../ui/overlay.ts"
import { placesOf } from "./places.ts"
import { setLooks, useLooks } from "./theme.ts"

const DrawerKeys = later(() => import("./DrawerKeys.tsx"))
const InboxCount = later(() => import("../agents/InboxCount.tsx"))
const PersonMenuPopup = later(() => import("./PersonMenuPopup.tsx"))
const WorkspaceMenuPopup = later(() => import("./WorkspaceMenuPopup.tsx"))

interface Props {
  readonly slug: string
  readonly live: LiveState
  /** The place that is marked besides the one of the address. */
  readonly marked: string | undefined
  /** Of the drawer, which the sidebar is on narrow screens. */
  readonly isOpen: boolean
  readonly onClose: () => void
}

const row =
  "relative flex h-7 w-full min-w-0 items-center gap-2 rounded-md px-2 text-left text-muted hover:bg-hover hover:text-text aria-[current=page]:bg-selected aria-[current=page]:text-text aria-[current=page]:font-medium"

const WorkspaceMenu = ({ isCollapsed, slug }: { readonly isCollapsed: boolean; readonly slug: string }) => {
  const me = useMe()
  const name = me?.workspaces.find((one) => one.slug === slug)?.name ?? slug
  return (
    <MenuButton
      menu={(menu) => <WorkspaceMenuPopup {...menu} slug={slug} />}
      trigger={(props) => (
        <button
          {...props}
          aria-label={isCollapsed ? `Workspace ${name}` : undefined}
          className="hover:bg-hover flex h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-1.5 font-semibold"
          type="button"
        >
          <span
            aria-hidden="true"
            className="bg-accent-fill text-on-fill inline-flex size-5 shrink-0 items-center justify-center rounded-md text-xs"
          >
            {(Array.from(name)[0] ?? "·").toUpperCase()}
          </span>
          {!isCollapsed && (
            <>
              <span className="truncate">{name}</span>
              <span className="text-faint">
                <Icon name="chevronDown" size={12} />
              </span>
            </>
          )}
        </button>
      )}
    />
  )
}

const PersonMenu = ({ isCollapsed, slug }: Pick<Props, "slug"> & { readonly isCollapsed: boolean }) => {
  const name = useMe()?.name ?? "You"
  return (
    <MenuButton
      menu={(menu) => <PersonMenuPopup {...menu} slug={slug} />}
      side="top"
      trigger={(props) => (
        <button {...props} aria-label={isCollapsed ? name : undefined} className={row} type="button">
          <Icon name="person" />
          {!isCollapsed && <span className="truncate">{name}</span>}
        </button>
      )}
    />
  )
}

/** Of the sections; the first places have none. */
const headings: Readonly<Record<string, string>> = {
  products: "Products",
  work: "Workspace",
  settings: "Settings"
}

const Places = ({ isCollapsed, marked, slug }: Pick<Props, "marked" | "slug"> & { readonly isCollapsed: boolean }) => {
  const { order = [] } = useLooks()
  const places = placesOf(useRole(slug)).toSorted((one, other) => ~order.indexOf(one.to) - ~order.indexOf(other.to))
  return Object.entries(Object.groupBy(places, ({ group }) => group)).map(([group, some]) => (
    <div className="flex flex-col gap-px" key={group}>
      {group !== "top" && (
        <h2 className={isCollapsed ? "sr-only" : "text-faint px-2 pt-3 pb-1 text-xs font-medium"}>{headings[group]}</h2>
      )}
      {some.map(({ icon, key, label, to }) => (
        <Link
          activeOptions={{ exact: to === "/w/$slug" || to === "/w/$slug/settings", includeSearch: false }}
          aria-current={to === marked ? "page" : undefined}
          aria-label={isCollapsed ? label : undefined}
          className={row}
          data-tip={isCollapsed ? (key === undefined ? label : `${label}|g ${key}`) : undefined}
          key={to}
          params={{ slug }}
          to={to}
        >
          <Icon name={icon} />
          {!isCollapsed && label}
          {key === "i" && <InboxCount look={isCollapsed ? "dot" : undefined} slug={slug} />}
        </Link>
      ))}
    </div>
  ))
}

const states: Readonly<Record<LiveState, readonly [icon: IconName, word: string, text?: string]>> = {
  live: ["events", "Live"],
  connecting: ["clock", "Connecting"],
  polling: ["clock", "Every 15 s", "Read again every 15 s"],
  lost: ["warning", "No answer", "Tried again until it answers"],
  over: ["warning", "Signed out"]
}

export const Sidebar = ({ isOpen, live, marked, onClose, slug }: Props) => {
  const { isSidebarCollapsed } = useLooks()
  const isCollapsed = isSidebarCollapsed && !isOpen
  const drawer = useRef<HTMLElement>(null)
  const [icon, word, text] = states[live]
  return (
    <>
      {isOpen && <DrawerKeys drawer={drawer} onClose={onClose} />}
      <nav
        aria-label="Workspace"
        className={`border-border bg-sunken z-20 shrink-0 flex-col border-r p-2 max-md:fixed max-md:inset-y-0 max-md:left-0 max-md:w-70 ${isOpen ? "flex" : "hidden md:flex"} ${isCollapsed ? "md:w-12" : "md:w-(--sidebar)"}`}
        onClick={(event) =>
          isOpen && event.target instanceof Element && event.target.closest("a") !== null && onClose()
        }
        ref={drawer}
      >
        <div className="mb-1 flex items-center gap-1">
          <WorkspaceMenu isCollapsed={isCollapsed} slug={slug} />
          {isOpen && <IconButton icon="cross" isSmall label="Close the menu" onClick={onClose} />}
        </div>
        <button
          aria-label={isCollapsed ? "Search" : undefined}
          className={`${row} mb-1`}
          onClick={() => overlay.show("palette")}
          type="button"
        >
          <Icon name="search" />
          {!isCollapsed && (
            <>
              <span className="flex-1">Search</span>
              <Kbd keys={shownKeys("Mod+k")} />
            </>
          )}
        </button>
        <div className="more-below flex min-h-0 flex-1 flex-col overflow-y-auto">
          <Places isCollapsed={isCollapsed} marked={marked} slug={slug} />
        </div>
        <div className="border-border max-md:-mx-2 max-md:border-t max-md:px-2 max-md:pt-1">
          <PersonMenu isCollapsed={isCollapsed} slug={slug} />
        </div>
        <div className={`flex items-center gap-1 pt-1 ${isCollapsed ? "flex-col" : ""}`}>
          <span
            className={`inline-flex flex-1 items-center gap-2 px-2 text-xs ${live === "live" ? "text-success" : live === "lost" ? "text-warning" : "text-muted"}`}
            role="status"
            title={text}
          >
            <Icon name={icon} size={14} />
            <span className={isCollapsed ? "sr-only" : ""}>{word}</span>
          </span>
          <span className="max-md:hidden">
            <IconButton
              icon="sidebar"
              isSmall
              label={isCollapsed ? "Widen the sidebar" : "Collapse the sidebar"}
              onClick={() => setLooks({ isSidebarCollapsed: !isSidebarCollapsed })}
              shortcut="["
            />
          </span>
        </div>
      </nav>
    </>
  )
}
