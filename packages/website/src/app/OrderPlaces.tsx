import { useEffect, useRef, useState } from "react"
import { useRole } from "../api/session.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Icon } from "../ui/Icon.tsx"
import { type Place, placesOf } from "./places.ts"
import { movePlace, moveSection, sectionsIn } from "./placeOrder.ts"
import { setLooks, useLooks } from "./theme.ts"

/** The order of the sidebar, which is the person's in this browser. What is moved shows in the sidebar at once. */

const headings: Readonly<Record<Place["group"], string>> = {
  top: "First",
  products: "Products",
  work: "Workspace",
  settings: "Settings"
}

type Move = (step: -1 | 1) => ReadonlyArray<string> | undefined

interface MoversProps {
  readonly name: string
  readonly move: Move
  readonly onMoved: (order: ReadonlyArray<string>, said: string) => void
}

/** Two buttons, which keep the keyboard: what is moved is moved on by the same key. */
const Movers = ({ move, name, onMoved }: MoversProps) => {
  const pressed = useRef<HTMLButtonElement>(null)
  // A row that moved has lost the keyboard.
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.getAttribute("role") === "dialog") {
      pressed.current?.focus()
    }
    pressed.current = null
  })
  return (
    <span className="flex shrink-0">
      {([-1, 1] as const).map((step) => {
        const order = move(step)
        return (
          <button
            aria-disabled={order === undefined}
            aria-label={`Move ${name} ${step === -1 ? "up" : "down"}`}
            className="text-muted hover:bg-hover hover:text-text inline-flex size-7 items-center justify-center rounded-md aria-disabled:opacity-40"
            key={step}
            onClick={({ currentTarget }) => {
              if (order === undefined) return
              pressed.current = currentTarget
              onMoved(order, `${name} moved ${step === -1 ? "up" : "down"}`)
            }}
            type="button"
          >
            <span className={step === -1 ? "rotate-180" : ""}>
              <Icon name="chevronDown" size={14} />
            </span>
          </button>
        )
      })}
    </span>
  )
}

const OrderPlaces = ({ onClose, slug }: { readonly onClose: () => void; readonly slug: string }) => {
  const { order = [] } = useLooks()
  const role = useRole(slug)
  const [said, setSaid] = useState("")
  const onMoved = (next: ReadonlyArray<string>, what: string) => {
    setLooks({ order: next })
    setSaid(what)
  }
  return (
    <Dialog
      actions={
        <>
          <Button
            onClick={() => {
              setLooks({ order: [] })
              setSaid("The sidebar has its usual order")
            }}
          >
            Usual order
          </Button>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
      description="Kept in this browser."
      onClose={onClose}
      title="Order of the sidebar"
    >
      <ul className="flex flex-col gap-3">
        {sectionsIn(order, placesOf(role)).map(({ group, places }) => (
          <li aria-label={headings[group]} key={group}>
            <div className="flex h-7 items-center gap-2">
              <span className="text-muted flex-1 text-xs font-medium">{headings[group]}</span>
              {group !== "top" && (
                <Movers
                  move={(step) => moveSection(order, group, step)}
                  name={`the section ${headings[group]}`}
                  onMoved={onMoved}
                />
              )}
            </div>
            <ul>
              {places.map((place) => (
                <li className="flex h-8 items-center gap-2" key={place.to}>
                  <span className="text-muted">
                    <Icon name={place.icon} />
                  </span>
                  <span className="flex-1 truncate">{place.label}</span>
                  <Movers move={(step) => movePlace(order, places, place, step)} name={place.label} onMoved={onMoved} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <p className="sr-only" role="status">
        {said}
      </p>
    </Dialog>
  )
}

export default OrderPlaces
