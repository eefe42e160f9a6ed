import { Toast } from "@base-ui/react/toast"
import { useRouter } from "@tanstack/react-router"
import { type RefObject, useEffect, useRef } from "react"
import { Button, buttonClass, IconButton } from "./Button.tsx"
import { visible } from "./format.ts"
import { Icon } from "./Icon.tsx"
import { everywhere, useKeys } from "./keys.ts"
import { showToastsBy, toast, type Toast as Told } from "./toast.ts"

/** How long is shown what asks for nothing. */
const readMillis = 6_000

/** As many changes as are kept to be undone. */
const mostUndos = 50

type Undo = NonNullable<Told["undo"]>

type Shown = RefObject<ReadonlyArray<{ readonly id: string; readonly data?: Told | undefined }>>

/** What could not be done on one screen is gone from the next as soon as it can be read. */
const useGoneAfter = (shown: Shown) => {
  const { update } = Toast.useToastManager<Told>()
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe("onResolved", ({ pathChanged }) => {
        if (!pathChanged) return
        for (const { data, id } of shown.current) if (data?.tone === "danger") update(id, { timeout: readMillis })
      }),
    [router, shown, update]
  )
}

const List = () => {
  const { add, close, toasts } = Toast.useToastManager<Told>()
  const shown = useRef(toasts)
  shown.current = toasts
  // What can be undone, the last one last: also when its toast is gone.
  const undos = useRef<ReadonlyArray<{ readonly id: string; readonly title: string; readonly undo: Undo }>>([])
  const undo = async (id: string | undefined, isNamed = true) => {
    const one = undos.current.find((some) => some.id === id)
    if (one === undefined) return toast({ title: "There is nothing to undo" })
    undos.current = undos.current.filter((some) => some !== one)
    close(one.id)
    const said = await one.undo().catch(() => "Taken back")
    // The key names nothing: its toast may be long gone.
    const detail = isNamed ? undefined : `Taken back: ${one.title}`
    if (said !== undefined) toast({ title: said, detail })
  }
  useKeys([
    {
      keys: "Mod+z",
      label: "Undo the last change",
      group: everywhere,
      run: () => void undo(undos.current.at(-1)?.id, false)
    }
  ])
  useEffect(
    () =>
      showToastsBy((one) => {
        // The same is not said twice at once.
        if (
          one.tone === "danger" &&
          shown.current.some(({ data }) => data?.title === one.title && data.detail === one.detail)
        ) {
          return
        }
        if (one.isMended === true) {
          for (const { data, id } of shown.current) if (data?.tone === "danger" && data.title === one.title) close(id)
          return
        }
        const id = add({
          title: visible(one.title),
          ...(one.detail === undefined ? {} : { description: visible(one.detail) }),
          data: one,
          timeout: one.tone === "danger" ? 0 : readMillis,
          // An urgent one is only announced: its link could not be reached until the keyboard is in it.
          priority: one.tone === "danger" && one.link === undefined ? "high" : "low"
        })
        if (one.undo !== undefined)
          undos.current = [...undos.current, { id, title: one.title, undo: one.undo }].slice(-mostUndos)
      }),
    [add, close]
  )
  useGoneAfter(shown)
  return toasts.map((one) => (
    <Toast.Root
      className="bg-raised shadow-overlay animate-appear flex w-full items-start gap-2 rounded-lg py-2 pr-2 pl-3"
      key={one.id}
      toast={one}
    >
      <span className={one.data?.tone === "danger" ? "text-danger pt-0.5" : "text-success pt-0.5"}>
        <Icon name={one.data?.tone === "danger" ? "warning" : "check"} />
      </span>
      <div className="min-w-0 flex-1 py-0.5">
        <Toast.Title className="foreign font-medium" />
        <Toast.Description className="text-muted foreign" />
        {one.data?.requestId !== undefined && (
          <p className="text-faint text-xs">
            Request <span className="font-mono">{one.data.requestId}</span>
          </p>
        )}
      </div>
      {one.data?.undo !== undefined && (
        <Button look="quiet" onClick={() => void undo(one.id)}>
          Undo
        </Button>
      )}
      {one.data?.link !== undefined && (
        <a className={buttonClass("plain")} href={one.data.link.href}>
          {one.data.link.text}
        </a>
      )}
      <IconButton icon="cross" isSmall label="Dismiss" onClick={() => close(one.id)} />
    </Toast.Root>
  ))
}

/** What may move what is worked with below the toasts. */
const moves = ["scroll", "click", "keyup", "resize", "transitionend"] as const

/** How far above the lower edge they stand, so that they cover nothing that is marked with `data-toasts-above`. */
const clearOf = (toasts: HTMLElement): number | undefined => {
  const { height, left } = toasts.getBoundingClientRect()
  const tops = [...document.querySelectorAll("[data-toasts-above]")]
    .map((one) => one.getBoundingClientRect())
    .filter(({ bottom, right, top }) => right > left && top < innerHeight && bottom > innerHeight - height)
    .map(({ top }) => top)
  const top = Math.min(innerHeight, ...tops)
  // Where there is no room above it, they stay where they are.
  return top === innerHeight || top < height ? undefined : innerHeight - top
}

const Place = ({ viewport }: { readonly viewport: RefObject<HTMLElement | null> }) => {
  const { toasts } = Toast.useToastManager()
  const isShown = toasts.length > 0
  useEffect(() => {
    const { current } = viewport
    if (!isShown || current === null) return undefined
    const place = () => {
      const above = clearOf(current)
      current.style.bottom = above === undefined ? "" : `calc(${above}px + var(--spacing) * 2)`
    }
    // Once what has just been asked for is drawn.
    let frame = requestAnimationFrame(place)
    const placeSoon = () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(place)
    }
    for (const move of moves) addEventListener(move, placeSoon, true)
    return () => {
      cancelAnimationFrame(frame)
      for (const move of moves) removeEventListener(move, placeSoon, true)
    }
  }, [isShown, toasts.length, viewport])
  return null
}

/** Where toasts appear. */
const Toasts = () => {
  const viewport = useRef<HTMLDivElement>(null)
  return (
    <Toast.Provider limit={3}>
      <Toast.Portal>
        <Toast.Viewport
          className="fixed right-3 bottom-3 z-50 flex w-90 max-w-[calc(100vw-1.5rem)] flex-col gap-2"
          ref={viewport}
        >
          <List />
          <Place viewport={viewport} />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

export default Toasts
