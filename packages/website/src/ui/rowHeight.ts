/** The height of rows in pixels, as the tokens and the setting of the person have it. */
export const rowHeight = (): number => {
  const style = getComputedStyle(document.documentElement)
  return Number.parseFloat(style.getPropertyValue("--row")) * Number.parseFloat(style.fontSize)
}
