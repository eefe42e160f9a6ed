/** The height of rows in pixels, as the tokens and the setting of the person have it; of tall ones, which have two lines on narrow screens. */
export const rowHeight = (isTall = false): number => {
  const style = getComputedStyle(document.documentElement)
  const token = isTall && matchMedia("(width < 40rem)").matches ? "--tall-row" : "--row"
  return Number.parseFloat(style.getPropertyValue(token)) * Number.parseFloat(style.fontSize)
}
