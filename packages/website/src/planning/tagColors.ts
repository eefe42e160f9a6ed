/** The colours of tags, and which of them a new one begins with: each name has its own. Pure. */

export const palette = [
  { color: "#3b6fd4", name: "Blue" },
  { color: "#d73a4a", name: "Red" },
  { color: "#1f8a70", name: "Green" },
  { color: "#b7791f", name: "Amber" },
  { color: "#8250df", name: "Purple" },
  { color: "#c2410c", name: "Orange" },
  { color: "#0e7490", name: "Teal" },
  { color: "#a21caf", name: "Pink" }
] as const

export const colorOf = (name: string): string => {
  let sum = 0
  for (const character of name.trim().toLowerCase()) sum = (sum * 31 + character.codePointAt(0)!) % 65_521
  return palette[sum % palette.length]!.color
}
