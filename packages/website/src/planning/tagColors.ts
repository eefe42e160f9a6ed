/** The colours that new tags begin with: each name has its own. Pure. */

const colors = ["#3b6fd4", "#d73a4a", "#1f8a70", "#b7791f", "#8250df", "#c2410c", "#0e7490", "#a21caf"] as const

export const colorOf = (name: string): string => {
  let sum = 0
  for (const character of name.trim().toLowerCase()) sum = (sum * 31 + character.codePointAt(0)!) % 65_521
  return colors[sum % colors.length]!
}
