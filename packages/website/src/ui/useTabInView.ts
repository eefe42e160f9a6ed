import { useEffect } from "react"

/** Scrolls tabs so far that the one of this page is whole, once it is there. */
export const useTabInView = (label: string, isThere: boolean): void => {
  useEffect(() => {
    const tab = document.querySelector(`nav[aria-label="${label}"] [aria-current=page]`)
    if (isThere) tab?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [isThere, label])
}
