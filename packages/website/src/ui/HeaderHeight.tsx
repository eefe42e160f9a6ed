import { useEffect } from "react"

/** Tells styles how high the header of the screen is: for what stays below it, and for what is scrolled into view. */
const HeaderHeight = () => {
  useEffect(() => {
    let header: HTMLElement | null = null
    const size = new ResizeObserver(() => {
      if (header !== null) document.documentElement.style.setProperty("--header", `${header.offsetHeight}px`)
    })
    const find = () => {
      const found = document.querySelector<HTMLElement>("#screen header")
      if (found === header) return
      size.disconnect()
      header = found
      if (header !== null) size.observe(header)
    }
    // Each screen brings its own, some once they are read.
    const screens = new MutationObserver(find)
    screens.observe(document.body, { childList: true, subtree: true })
    find()
    return () => {
      screens.disconnect()
      size.disconnect()
    }
  }, [])
  return null
}

export default HeaderHeight
