import { Dialog } from "@base-ui/react/dialog"
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from "react"
import { useIsFetching, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { mayAct, useMe, useRole } from "../api/session.ts"
import { teamsQuery } from "../planning/queries.ts"
import { Icon } from "../ui/Icon.tsx"
import { Kbd } from "../ui/Kbd.tsx"
import { useFocusBack } from "../ui/Dialog.tsx"
import { currentKeys, everywhere, type Key, takeHeldKeys } from "../ui/keys.ts"
import { overlay } from "../ui/overlay.ts"
import { matches } from "../ui/match.ts"
import { creators, pressWhenThere } from "../api/creators.ts"
import { type Command, meant, ranked } from "./palette.ts"
import { placesOf } from "./places.ts"
import { setLooks, useLooks } from "./theme.ts"
import { usePaletteFinds } from "./usePaletteFinds.ts"
import { usePaletteThings } from "./usePaletteThings.ts"

/** The command palette: goes anywhere, does everything that has no object, over what is in the cache. */

interface Props {
  readonly slug: string
  readonly onClose: () => void
}

/** What is done with the ticket or the project that is shown, with what is selected, or with the row in focus. */
const objects = new Set(["Ticket", "Project"])

const isOfObject = ({ about, group }: Key): boolean => about !== undefined || objects.has(group)

/** Keys that go somewhere, which the palette offers itself, and those that mean a row or a part which it hides. */
const elsewhere = new Set([everywhere, "Go", "List"])

const isOfScreen = (key: Key): boolean => !isOfObject(key) && !elsewhere.has(key.group) && key.keys !== "Escape"

/** The keys that work when the palette opens: first those of what is shown, then those of the screen; under the other words for them, too. */
const useActions = (isAsked: (key: Key) => boolean): ReadonlyArray<Command> => {
  const [keys] = useState(() => currentKeys().filter(isAsked))
  return keys.map(({ about, group, keys: shortcut, label, run }): Command => ({
    id: `key ${shortcut} ${label}`,
    label,
    hint: about ?? group.toLowerCase(),
    icon: "check",
    keys: shortcut,
    words: label.endsWith("owner") ? "assign" : label.endsWith("project") ? "add to" : "",
    // The palette has given the keyboard back by then: it does so once what is waited for now is over.
    run: () => void setTimeout(() => setTimeout(run))
  }))
}

/** What is made on other screens. What is made on this one, its own keys make. */
const useCreators = (slug: string, shown: ReadonlyArray<Command>): ReadonlyArray<Command> => {
  const navigate = useNavigate()
  const role = useRole(slug)
  return creators
    .filter(({ label, least }) => mayAct(role, least) && !shown.some((one) => one.label === label))
    .map(({ at, icon, label, words = "" }): Command => ({
      id: label,
      label,
      icon,
      words,
      run: () => {
        const path = `/w/${slug}/${at}`
        void navigate({ to: path }).then(() => pressWhenThere(path, label))
      }
    }))
}

const useCommands = ({ slug }: Props): ReadonlyArray<Command> => {
  const navigate = useNavigate()
  const me = useMe()
  const role = useRole(slug)
  const { isSidebarCollapsed } = useLooks()
  const ofScreen = useActions(isOfScreen)
  return [
    ...useActions(isOfObject),
    ...placesOf(role).map(({ icon, key, label, to }): Command => ({
      id: to,
      label: `Go to ${label}`,
      icon,
      ...(key === undefined ? {} : { keys: `g ${key}` }),
      run: () => void navigate({ to, params: { slug } })
    })),
    {
      id: "failed",
      label: "Show failed runs",
      icon: "runs",
      run: () => void navigate({ to: "/w/$slug/test-runs", params: { slug }, search: { result: "failed" } })
    },
    {
      id: "mine",
      label: "Show my tickets",
      icon: "ticket",
      run: () => void navigate({ to: "/w/$slug/tickets", params: { slug }, search: { owners: ["me"] } })
    },
    ...(
      [
        ["Go to Delivery metrics", "delivery"],
        ["Go to Muted tests", "muted-tests"],
        ["Go to Test rules", "test-rules"]
      ] as const
    ).map(([label, _splat]): Command => ({
      id: _splat,
      label,
      icon: "tests",
      run: () => void navigate({ to: "/w/$slug/$", params: { slug, _splat } })
    })),
    ...(me?.workspaces ?? [])
      .filter((one) => one.slug !== slug)
      .map((one): Command => ({
        id: `workspace ${one.id}`,
        label: `Switch to ${one.name}`,
        hint: "workspace",
        icon: "home",
        run: () => void navigate({ to: "/w/$slug", params: { slug: one.slug } })
      })),
    ...(["light", "dark", "system"] as const).map((theme): Command => ({
      id: `theme ${theme}`,
      label: theme === "system" ? "Theme as the system" : `Theme: ${theme}`,
      icon: "settings",
      run: () => setLooks({ theme })
    })),
    ...(mayAct(role, "member")
      ? [{ id: "ticket", label: "New ticket", icon: "plus", keys: "n", run: () => overlay.show("ticket") } as const]
      : []),
    ...ofScreen,
    ...useCreators(slug, ofScreen),
    { id: "keys", label: "Show the keys", icon: "key", keys: "?", run: () => overlay.show("keys") },
    { id: "order", label: "Order of the sidebar", icon: "sidebar", run: () => overlay.show("order") },
    {
      id: "sidebar",
      label: isSidebarCollapsed ? "Widen the sidebar" : "Collapse the sidebar",
      icon: "sidebar",
      keys: "[",
      run: () => setLooks({ isSidebarCollapsed: !isSidebarCollapsed })
    },
    ...usePaletteThings(slug)
  ]
}

const maxShown = 50

interface FoundProps {
  readonly commands: ReadonlyArray<Command>
  readonly current: number
  readonly id: string
  readonly list: RefObject<HTMLDivElement | null>
  readonly onPlace: (place: number) => void
  readonly onRun: (command: Command) => void
}

const Found = ({ commands, current, id, list, onPlace, onRun }: FoundProps) => (
  <div aria-label="Found" className="min-h-0 overflow-y-auto p-1" id={id} ref={list} role="listbox" tabIndex={-1}>
    {commands.map((command, index) => (
      <div
        aria-selected={index === current}
        className="aria-selected:bg-selected flex h-8 items-center gap-2.5 rounded-md px-3"
        id={`${id}-${index}`}
        key={command.id}
        onClick={() => onRun(command)}
        onPointerMove={() => onPlace(index)}
        role="option"
        tabIndex={-1}
      >
        <span className="text-muted">
          <Icon name={command.icon} />
        </span>
        <span className="max-w-[60%] shrink-0 truncate">{command.label}</span>
        <span className="text-muted min-w-0 flex-1 truncate">{command.hint}</span>
        {command.keys !== undefined && <Kbd keys={command.keys} />}
      </div>
    ))}
  </div>
)

const Palette = (props: Props) => {
  const { onClose } = props
  const [text, setText] = useState("")
  const field = useRef<HTMLInputElement>(null)
  // What was typed before there was a field.
  useEffect(() => {
    field.current?.focus()
    const typed = takeHeldKeys()
    if (typed !== "") setText(typed)
  }, [])
  const [place, setPlace] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  const finalFocus = useFocusBack(popup)
  const commands = useCommands(props)
  const { data: teams } = useQuery(teamsQuery(props.slug))
  const typed = meant(text, teams?.teams.map(({ key }) => key) ?? [])
  const asked = usePaletteFinds(props.slug, typed)
  const named = commands.filter(({ hint, label, words }) => matches(typed, `${label} ${hint ?? ""} ${words ?? ""}`))
  const found = ranked(typed, [...named, ...asked]).slice(0, maxShown)
  const isSearching = useIsFetching() > 0
  const current = Math.min(place, found.length - 1)
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const move = (to: number) => {
    const next = (to + found.length) % Math.max(1, found.length)
    setPlace(next)
    list.current?.children[next]?.scrollIntoView({ block: "nearest" })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") move(current + 1)
    else if (event.key === "ArrowUp") move(current - 1)
    else if (event.key === "Enter") run(found[current])
    else return
    event.preventDefault()
  }
  return (
    <Dialog.Root onOpenChange={(isOpen) => isOpen || onClose()} open>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-[oklch(0_0_0/0.35)]" />
        <Dialog.Popup
          aria-label="Search and do"
          className="bg-raised shadow-overlay fixed top-[12vh] left-1/2 z-30 flex max-h-[70vh] w-[calc(100vw-1.5rem)] max-w-150 -translate-x-1/2 flex-col overflow-hidden rounded-lg outline-none"
          finalFocus={finalFocus}
          ref={popup}
        >
          <input
            aria-activedescendant={found.length === 0 ? undefined : `${id}-${current}`}
            aria-controls={id}
            aria-expanded="true"
            aria-label="Search and do"
            autoComplete="off"
            autoFocus
            className="border-border text-md h-11 shrink-0 border-b bg-transparent px-4 outline-none"
            onChange={(event) => {
              setText(event.target.value)
              setPlace(0)
            }}
            onKeyDown={onKeyDown}
            placeholder="Go to, find, do…"
            ref={field}
            role="combobox"
            spellCheck={false}
            value={text}
          />
          <Found commands={found} current={current} id={id} list={list} onPlace={setPlace} onRun={run} />
          {found.length === 0 && (
            <p className="text-muted px-4 py-3">{isSearching ? "Searching…" : "Nothing here has this name."}</p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

export default Palette
