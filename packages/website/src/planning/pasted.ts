/** Titles of tickets in a list that was pasted. Pure. */

/** As many as are made at once. */
export const mostPasted = 100

/** The longest title, in characters. */
const longest = 200

const mark = /^(?:[-*+•]|\d{1,3}[.)])\s+/
const box = /^\[[ xX]\]\s+/

export const titlesOf = (text: string): ReadonlyArray<string> =>
  text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim().replace(mark, "").replace(box, "").trim())
    .filter((line) => line !== "")
    .map((line) => Array.from(line).slice(0, longest).join(""))
