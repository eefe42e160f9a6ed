import type { ElementType } from "react"
import { visible } from "./format.ts"

type Props = Record<string, unknown>

/** What an element tells in words: in it, in a tooltip, or to screen readers. */
const told = ["children", "title", "alt", "placeholder", "aria-label"]

/** A component of ours may edit its title: what it shows of it is an element's in turn. */
const toldByOurs = ["children"]

const shown = (child: unknown): unknown =>
  typeof child === "string" ? visible(child) : Array.isArray(child) ? child.map(shown) : child

/**
 * What others have written is not trusted with how a line is read: in all text that an element shows, marks which hide or turn
 * what follows are shown as what they are. Values of fields, addresses and what is copied stay as they are.
 *
 * Changes the props: JSX has just made them.
 */
export const visibleProps = (type: ElementType, props: Props): Props => {
  for (const name of typeof type === "function" ? toldByOurs : told) if (name in props) props[name] = shown(props[name])
  return props
}
