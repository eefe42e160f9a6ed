import { firstCharacters, fits } from "@delivery/domain/Text"
import { createHash } from "node:crypto"

/** At most `length` characters. An id that is cut stays unique by a hash of the whole id. */
export const fitId = (id: string, length: number): string =>
  fits(id, length)
    ? id
    : `${firstCharacters(id, length - 18)}… ${createHash("sha256").update(id).digest("hex").slice(0, 16)}`

/** Makes the ids of one run unique: those that came before get the id itself, later ones a number. */
export const caseIds = (): ((id: string) => string) => {
  const used = new Set<string>()
  return (id) => {
    let candidate = id
    for (let n = 2; used.has(candidate); n++) candidate = `${fitId(id, 490)} (${n})`
    used.add(candidate)
    return candidate
  }
}
