import { useLayoutEffect, useRef } from "react"

/** What takes the keyboard after a part, the nearest first: what is beside it, its list, what is around that. */
const after = (part: HTMLElement): ReadonlyArray<Element | null> => {
  const scopes = [part.parentElement, part.closest("li, [role=listitem]")?.nextElementSibling, part.closest("section")]
  const beside = scopes.flatMap((scope) => [...(scope?.querySelectorAll("button") ?? [])])
  const list = part.closest("[role=list][tabindex]")
  // The keyboard walks such a list by itself.
  return list === null ? beside.filter((one) => one !== part) : [list]
}

/** Of a part that its own action removes: the keyboard goes on near it, and is not lost. */
export const useFocusNext = <E extends HTMLElement>() => {
  const part = useRef<E>(null)
  useLayoutEffect(
    () => () => {
      const it = part.current
      if (it === null || it !== document.activeElement) return
      const next = after(it)
      // Once all that goes with it is gone, too.
      setTimeout(() => {
        if (document.activeElement !== document.body) return
        const there = next.find((one) => one?.isConnected === true) ?? document.querySelector("#screen")
        if (there instanceof HTMLElement) there.focus()
      })
    },
    []
  )
  return part
}
