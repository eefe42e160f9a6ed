import { firstCharacters } from "../Text.ts"

/** How many characters of the title or file of a test an answer has that names up to thousands of tests. */
export const maxShownName = 200

/** The beginning of the title or file of a test, where an answer names many. */
export const shownName = (name: string): string => firstCharacters(name, maxShownName)
