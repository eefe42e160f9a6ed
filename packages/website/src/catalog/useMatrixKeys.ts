import { type RefObject, useRef } from "react"
import { useKeys } from "../ui/keys.ts"

/** The keyboard walks the matrix of deployments: the first key goes to its first cell, the others from cell to cell. */

type Control = HTMLElement | null

/** A cell begins with the name of its environment, which phones show: the control comes after that. */
const controls = ":scope > span ~ :is(a, button), :scope > span ~ * :is(a, button)"

const cellsOf = (table: HTMLTableElement | null): ReadonlyArray<ReadonlyArray<Control>> =>
  [...(table?.tBodies[0]?.rows ?? [])].map((row) =>
    [...row.cells].slice(1).map((cell): Control => cell.querySelector(controls))
  )

/** The next one in that direction where something can be done. */
const next = (cells: ReadonlyArray<ReadonlyArray<Control>>, down: number, right: number): Control | undefined => {
  const from = cells.findIndex((row) => row.some((one) => one === document.activeElement))
  if (from === -1) return cells.flat().find((one) => one !== null)
  let row = from + down
  let column = cells[from]!.indexOf(document.activeElement as HTMLElement) + right
  for (; ; row += down, column += right) {
    const one = cells[row]?.[column]
    if (one !== null) return one
  }
}

export const useMatrixKeys = (mayAdd: boolean): RefObject<HTMLTableElement | null> => {
  const table = useRef<HTMLTableElement>(null)
  const key = (keys: string, label: string, down: number, right: number) => ({
    keys,
    label,
    group: "List",
    run: () => {
      const control = next(cellsOf(table.current), down, right)
      control?.focus()
      control?.scrollIntoView({ block: "nearest", inline: "nearest" })
    }
  })
  /** Where the keyboard is, or else in the first place that is free: those are the buttons. */
  const add = () => {
    const free = cellsOf(table.current)
      .flat()
      .filter((one) => one instanceof HTMLButtonElement)
    const place = free.find((one) => one === document.activeElement) ?? free[0]
    place?.focus()
    place?.click()
  }
  useKeys([
    ...(mayAdd ? [{ keys: "a", label: "Add a deployment", group: "Deployments", run: add }] : []),
    key("j", "Next product", 1, 0),
    key("k", "Previous product", -1, 0),
    key("ArrowDown", "Cell below", 1, 0),
    key("ArrowUp", "Cell above", -1, 0),
    key("ArrowRight", "Cell on the right", 0, 1),
    key("ArrowLeft", "Cell on the left", 0, -1)
  ])
  return table
}
