import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** One call, as `RecordedDisk.ts` records it. Paths are relative to the recorded directory. */
export type DiskCall =
  | { readonly call: "mark"; readonly name: string }
  | { readonly call: "create" | "makeDirectory" | "remove"; readonly path: string }
  | { readonly call: "rename"; readonly from: string; readonly to: string }
  | { readonly call: "open"; readonly file: number; readonly path: string }
  | { readonly call: "close" | "flush"; readonly file: number }
  | { readonly call: "truncate"; readonly file: number; readonly size: number }
  | { readonly call: "zero"; readonly file: number; readonly position: number; readonly length: number }
  | {
      readonly call: "write"
      readonly file: number
      readonly position: number
      readonly length: number
      /** Where `RECORDED_CALLS.bytes` has its bytes. */
      readonly at: number
    }

/** Since the last flush of its file; what the disk has of it is open. */
type Change =
  | { readonly number: number; readonly size: number }
  | {
      readonly number: number
      readonly position: number
      readonly length: number
      readonly bytes: Uint8Array | undefined
    }

class File {
  /** As of the last flush; longer than `size`, zero behind it. */
  flushed: Buffer = Buffer.alloc(0)
  size = 0
  changes: Array<Change> = []
}

interface EntryChange {
  readonly number: number
  readonly removed: ReadonlyArray<string>
  readonly added: readonly [name: string, entry: File | Directory] | undefined
}

class Directory {
  readonly entries = new Map<string, File | Directory>()
  /** As of the last flush. */
  readonly flushed = new Map<string, File | Directory>()
  changes: Array<EntryChange> = []
}

const applyEntry = (entries: Map<string, File | Directory>, change: EntryChange): void => {
  for (const name of change.removed) entries.delete(name)
  if (change.added !== undefined) entries.set(...change.added)
}

/** What a power loss leaves of what was not flushed. */
export interface Loss {
  /** Whether a change of a directory is there. */
  readonly entry: (number: number) => boolean
  /** Whether a new length of a file is there. */
  readonly size: (number: number, file: object) => boolean
  /** Which bytes of a write are there, as pairs of start and end. */
  readonly parts: (
    number: number,
    file: object,
    position: number,
    length: number
  ) => Iterable<readonly [start: number, end: number]>
}

/** The power is lost just after all was written. */
export const everything: Loss = {
  entry: () => true,
  size: () => true,
  parts: (_number, _file, position, length) => [[position, position + length]]
}

/**
 * A disk that keeps apart what was flushed from what was only written. It promises no more than POSIX does: the bytes and the length
 * of a file as of its last flush, and the entries of a directory as of the flush of that directory.
 */
export class SimulatedDisk {
  readonly #root = new Directory()
  readonly #open = new Map<number, File | Directory>()
  readonly #bytes: Buffer
  #number = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** How many calls there were. */
  get number(): number {
    return this.#number
  }

  run(call: DiskCall): void {
    this.#number++
    switch (call.call) {
      case "mark":
        return
      case "create":
        return this.#enter(call.path, new File())
      case "makeDirectory":
        return this.#enter(call.path, new Directory())
      case "remove":
        return this.#change(dirname(call.path), [basename(call.path)], undefined)
      case "rename": {
        const entry = this.#find(call.from)
        return this.#change(dirname(call.from), [basename(call.from)], [basename(call.to), entry])
      }
      case "open":
        return void this.#open.set(call.file, this.#find(call.path))
      case "close":
        return void this.#open.delete(call.file)
      case "flush":
        return flush(this.#open.get(call.file)!)
      case "truncate":
        return void this.#file(call.file).changes.push({ number: this.#number, size: call.size })
      case "zero":
      case "write": {
        const { length, position } = call
        const bytes = call.call === "zero" ? undefined : this.#bytes.subarray(call.at, call.at + length)
        return void this.#file(call.file).changes.push({ number: this.#number, position, length, bytes })
      }
    }
  }

  /** Writes into `target`, an empty directory, what a loss of power now leaves. */
  writeTo(target: string, loss: Loss): void {
    writeDirectory(this.#root, target, loss)
  }

  #file(number: number): File {
    return this.#open.get(number) as File
  }

  #find(path: string): File | Directory {
    if (path === "" || path === ".") return this.#root
    const found = (this.#find(dirname(path)) as Directory).entries.get(basename(path))
    if (found === undefined) throw new Error(`${path} is not there`)
    return found
  }

  #enter(path: string, entry: File | Directory): void {
    this.#change(dirname(path), [], [basename(path), entry])
  }

  #change(path: string, removed: EntryChange["removed"], added: EntryChange["added"]): void {
    const directory = this.#find(path) as Directory
    const change = { number: this.#number, removed, added }
    applyEntry(directory.entries, change)
    directory.changes.push(change)
  }
}

const flushing: Loss = { ...everything }

const flush = (entry: File | Directory): void => {
  if (entry instanceof Directory) for (const change of entry.changes) applyEntry(entry.flushed, change)
  else {
    const all = withChanges(entry, flushing)
    entry.flushed = all.bytes
    entry.size = all.size
  }
  entry.changes = []
}

/** A flush keeps everything, and changes what was flushed in its place. */
const withChanges = (file: File, loss: Loss): { readonly bytes: Buffer; readonly size: number } => {
  let size = file.size
  let bytes = loss === flushing ? file.flushed : Buffer.from(file.flushed.subarray(0, size))
  const reserve = (length: number) => {
    if (length <= bytes.length) return
    const larger = Buffer.alloc(Math.max(length, Math.min(2 * bytes.length, length + 1024 * 1024)))
    bytes.copy(larger, 0, 0, size)
    bytes = larger
  }
  for (const change of file.changes) {
    if (!("position" in change)) {
      if (!loss.size(change.number, file)) continue
      reserve(change.size)
      if (change.size < size) bytes.fill(0, change.size, size)
      size = change.size
      continue
    }
    for (const [start, end] of loss.parts(change.number, file, change.position, change.length)) {
      reserve(end)
      if (change.bytes === undefined) bytes.fill(0, start, end)
      else bytes.set(change.bytes.subarray(start - change.position, end - change.position), start)
      size = Math.max(size, end)
    }
  }
  return { bytes, size }
}

const writeDirectory = (directory: Directory, target: string, loss: Loss): void => {
  const entries = new Map(directory.flushed)
  for (const change of directory.changes) if (loss.entry(change.number)) applyEntry(entries, change)
  for (const [name, entry] of entries) {
    const path = join(target, name)
    if (entry instanceof Directory) {
      mkdirSync(path, { mode: 0o700 })
      writeDirectory(entry, path, loss)
    } else {
      const { bytes, size } = withChanges(entry, loss)
      const file = openSync(path, "wx", 0o600)
      writeSync(file, bytes, 0, size)
      closeSync(file)
    }
  }
}

/** The calls in a file that `RecordedDisk.ts` wrote, and their bytes. */
export const readCalls = (path: string): { readonly calls: ReadonlyArray<DiskCall>; readonly bytes: Buffer } => ({
  calls: readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as DiskCall),
  bytes: readFileSync(`${path}.bytes`)
})

/** Every file below a directory, by its relative path, but those that locks are on. */
export const contentsOf = (directory: string): Map<string, Buffer> =>
  new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "server.lock")
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return [path.slice(directory.length + 1), readFileSync(path)] as const
      })
  )

/** A loss of a kind that `random` chooses. */
export const anyLoss = (random: () => number, until: number): Loss & { readonly kind: string } => {
  const share = [0.1, 0.5, 0.9][Math.floor(random() * 3)]!
  const some = () => random() < share
  const pieces = (unit: number): Loss => ({
    entry: some,
    size: some,
    parts: function* (_number, _file, position, length) {
      for (let start = position; start < position + length;) {
        const end = Math.min(position + length, start - (start % unit) + unit)
        if (some()) yield [start, end]
        start = end
      }
    }
  })
  switch (Math.floor(random() * 6)) {
    case 0:
      return { kind: "nothing", entry: () => false, size: () => false, parts: () => [] }
    case 1:
      return { kind: "everything", ...everything, entry: () => true }
    case 2: {
      // In the order of the calls, as a disk of an old kind writes; more often the last few are missing than all.
      const last = until - Math.floor(random() ** 3 * 2000)
      return {
        kind: "the first",
        entry: (number) => number < last,
        size: (number) => number < last,
        parts: (number, _file, position, length) => (number < last ? [[position, position + length]] : [])
      }
    }
    case 3: {
      const chosen = new Map<object, boolean>()
      const has = (file: object) => {
        if (!chosen.has(file)) chosen.set(file, some())
        return chosen.get(file)!
      }
      return {
        kind: `whole files ${share}`,
        entry: some,
        size: (_number, file) => has(file),
        parts: (_number, file, position, length) => (has(file) ? [[position, position + length]] : [])
      }
    }
    case 4:
      return { kind: `pages ${share}`, ...pieces(4096) }
    default:
      return { kind: `sectors ${share}`, ...pieces(512) }
  }
}
