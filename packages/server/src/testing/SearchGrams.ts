import { crc32 } from "node:zlib"

/**
 * The numbers by which an index finds text by its parts: one for each three characters in a row, different in each
 * workspace. A text that holds another has all of its numbers; some others may have them too, so what is found is
 * compared. Of the index that migration 0015 fills and 0061 replaces (`SearchTerms.ts`).
 */
export const searchGrams = (workspaceId: string, text: string): ReadonlyArray<number> => {
  const seed = crc32(workspaceId)
  const grams = new Set<number>()
  for (let at = 0; at + gramLength <= text.length; at++) grams.add(crc32(text.slice(at, at + gramLength), seed) | 0)
  return [...grams]
}

/** A shorter text has no numbers. */
const gramLength = 3
