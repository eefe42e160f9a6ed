import { useQueryClient } from "@tanstack/react-query"
import { Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router"
import { useEffect, useLayoutEffect, useRef, useState } from "react"
import type { LiveState } from "../api/live.ts"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { IconButton } from "../ui/Button.tsx"
import { holdKeys, type Key, useKeys } from "../ui/keys.ts"
import { placesOf } from "./places.ts"
import { Sidebar } from "./Sidebar.tsx"
import { setLooks, useLooks } from "./theme.ts"
import { keepWorkspace } from "./workspace.ts"
import { later } from "../ui/later.tsx"
import { overlay, type Overlay, sidebar } from "../ui/overlay.ts"

/** The frame of every screen of a workspace: the sidebar, the palette, the keys, and live updates. */

const NoAccess = later(() => import("./NoAccess.tsx"))
const Overlays = later(() => import("./Overlays.tsx"))
const CopyKeys = later(() => import("./CopyKeys.tsx"))
const OfflineNote = later(() => import("./OfflineNote.tsx"))
const InboxCount = later(() => import("../agents/InboxCount.tsx"))

const useLive = (slug: string): LiveState => {
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>("connecting")
  useEffect(() => {
    const gone = new AbortController()
    void import("../api/live.ts").then(
      ({ followWorkspace }) => followWorkspace({ slug, queries, onState: setState, until: gone.signal }),
      () => setState("lost")
    )
    return () => gone.abort()
  }, [queries, slug])
  return state
}

const useShellKeys = (slug: string, setOverlay: (next: Overlay) => void): void => {
  const navigate = useNavigate()
  const { isSidebarCollapsed } = useLooks()
  const role = useRole(slug)
  const going = placesOf(role).flatMap(({ key, label, to }): ReadonlyArray<Key> =>
    key === undefined
      ? []
      : [{ keys: `g ${key}`, label: `Go to ${label}`, group: "Go", run: () => void navigate({ to, params: { slug } }) }]
  )
  const openPalette = () => {
    holdKeys()
    setOverlay("palette")
  }
  useKeys([
    ...going,
    { keys: "Mod+k", label: "Search and do", group: "Everywhere", run: openPalette },
    ...(mayAct(role, "member")
      ? [
          { keys: "n", label: "New ticket", group: "Everywhere", run: () => setOverlay("ticket") },
          { keys: "N", label: "Tickets from a list", group: "Everywhere", run: () => setOverlay("tickets") }
        ]
      : []),
    { keys: "?", label: "Show the keys", group: "Everywhere", run: () => setOverlay("keys") },
    {
      keys: "[",
      label: "Collapse the sidebar",
      group: "Everywhere",
      run: () => setLooks({ isSidebarCollapsed: !isSidebarCollapsed })
    }
  ])
}

/** The keyboard begins at the screen when another one is shown. */
const useScreenFocus = () => {
  const screen = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const shown = useRef(path)
  useEffect(() => {
    if (shown.current === path) return
    shown.current = path
    screen.current?.focus({ preventScroll: true })
  }, [path])
  return screen
}

export const Shell = () => {
  const { slug } = useParams({ from: "/w/$slug" })
  const live = useLive(slug)
  const me = useMe()
  const mayEnter = me === undefined || me.workspaces.some((one) => one.slug === slug)
  const [shown, setOverlay] = useState<Overlay>()
  const [marked, setMarked] = useState<string>()
  const close = () => setOverlay(undefined)
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const screen = useScreenFocus()
  useShellKeys(slug, setOverlay)
  // Before what is shown in it, whose effects come first.
  useLayoutEffect(() => {
    keepWorkspace(slug)
    overlay.show = setOverlay
    sidebar.mark = setMarked
  }, [slug])
  return (
    <div className="flex h-dvh overflow-hidden">
      <a
        className="bg-accent-fill text-on-fill absolute top-2 left-2 z-50 -translate-y-20 rounded-md px-3 py-1 focus:translate-y-0"
        href="#screen"
      >
        Skip to the content
      </a>
      <Sidebar isOpen={isDrawerOpen} live={live} marked={marked} onClose={() => setDrawerOpen(false)} slug={slug} />
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="border-border flex h-11 items-center gap-1 border-b px-2 md:hidden">
          <IconButton icon="menu" label="Open the menu" onClick={() => setDrawerOpen(true)} />
          <InboxCount look="link" slug={slug} />
          <span className="flex-1" />
          <IconButton icon="search" label="Search and do" onClick={() => setOverlay("palette")} />
        </header>
        <OfflineNote />
        <CopyKeys />
        <main className="relative min-h-0 flex-1 overflow-y-auto outline-none" id="screen" ref={screen} tabIndex={-1}>
          {mayEnter ? <Outlet /> : <NoAccess slug={slug} />}
        </main>
      </div>
      <Overlays onClose={close} shown={shown} slug={slug} />
    </div>
  )
}
