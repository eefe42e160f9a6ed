import { createHash } from "node:crypto"

/** What the writers of `PowerLossProcess.ts` change, and what is to be in the database after it. */
export const writers = 8

export type Kind =
  | "insert"
  | "update"
  | "delete"
  | "transfer"
  | "make"
  | "drop"
  | "rewrite"
  | "checkpoint"
  | "switch"
  | "vacuum"
  | "full vacuum"

export interface Change {
  readonly id: number
  readonly kind: Kind
  /** An earlier change of the same writer. */
  readonly target: number | null
}

const idOf = (writer: number, n: number): number => n * writers + writer

/** In its tens, each writer inserts and changes entries; a table that it makes in one it drops in the next. */
export const changeOf = (writer: number, n: number): Change => {
  const id = idOf(writer, n)
  const earlier = (by: number) => idOf(writer, n - by)
  switch (n % 10) {
    case 3:
      return { id, kind: "update", target: earlier(1) }
    case 4:
      return { id, kind: "transfer", target: null }
    case 5:
      return { id, kind: "delete", target: earlier(4) }
    case 6:
      return n % 20 === 6 ? { id, kind: "make", target: null } : { id, kind: "drop", target: earlier(10) }
    case 8: {
      if (writer !== Math.floor(n / 10) % writers) return { id, kind: "insert", target: null }
      const kinds = ["checkpoint", "switch", "vacuum", "checkpoint", "full vacuum", "rewrite"] as const
      return { id, kind: kinds[Math.floor(n / 10) % kinds.length]!, target: null }
    }
    case 9:
      return { id, kind: "update", target: earlier(9) }
    default:
      return { id, kind: "insert", target: null }
  }
}

/** Bytes that do not compress, of up to 9 KB, so that some are stored apart from their rows. */
export const bodyOf = (id: number): string => {
  const block = createHash("sha512").update(String(id)).digest("base64")
  const blocks = id % 5 === 0 ? 100 : 1 + (id % 4)
  return Array.from({ length: blocks }, (_, n) => createHash("sha512").update(`${block}${n}`).digest("base64")).join("")
}

/** What the changes of a database, in the order of their writers, have made of it. */
export const stateAfter = (changes: ReadonlyArray<Change>) => {
  const entries = new Map<number, string>()
  const accounts = new Map(Array.from({ length: 10 }, (_, id) => [id, 0]))
  const tables = new Set<number>()
  const add = (account: number, amount: number) => accounts.set(account, accounts.get(account)! + amount)
  for (const { id, kind, target } of changes.toSorted((a, b) => a.id - b.id)) {
    if (kind === "insert") entries.set(id, bodyOf(id))
    else if (kind === "update") entries.set(target!, bodyOf(id))
    else if (kind === "delete") entries.delete(target!)
    else if (kind === "make") tables.add(id)
    else if (kind === "drop") tables.delete(target!)
    else if (kind === "transfer") {
      add(id % 10, -id)
      add((id + 1 + (id % 7)) % 10, id)
    }
  }
  return { entries, accounts, tables }
}
