/** The part of the PostgreSQL wire protocol, version 3, that the embedded database needs. */

const utf8 = new TextEncoder()
const empty = new Uint8Array(0)

const int32 = (bytes: Uint8Array, offset: number): number =>
  (bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!

const code = (type: string): number => type.charCodeAt(0)

const bind = code("B")
const close = code("C")
const functionCall = code("F")
const notification = code("A")
const parse = code("P")
const query = code("Q")
const readyForQuery = code("Z")
const sync = code("S")
const terminate = code("X")

/** The bytes of an array in a buffer of their own, which can be handed to another thread. */
export const copyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)

export const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (parts.length === 1) return parts[0]!
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

const cString = (text: string): Uint8Array => utf8.encode(`${text}\0`)

const uint32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value >>> 0)
  return bytes
}

const message = (type: string, ...body: ReadonlyArray<Uint8Array>): Uint8Array =>
  concat([new Uint8Array([code(type)]), uint32(4 + body.reduce((length, part) => length + part.length, 0)), ...body])

/** The first message of a client on a new connection. */
export type Opening =
  | { readonly _tag: "Startup" }
  | { readonly _tag: "EncryptionRequest" }
  | { readonly _tag: "CancelRequest"; readonly processId: number; readonly secret: number }
  | { readonly _tag: "Unknown"; readonly protocol: number }

/** Reads the opening message and what follows it; undefined while it is incomplete. */
export const readOpening = (
  bytes: Uint8Array
): { readonly opening: Opening; readonly rest: Uint8Array } | undefined => {
  if (bytes.length < 8) return undefined
  const length = int32(bytes, 0)
  const protocol = int32(bytes, 4)
  const rest = bytes.subarray(Math.max(length, 8))
  switch (protocol) {
    case 80877103:
    case 80877104:
      return { opening: { _tag: "EncryptionRequest" }, rest }
    case 80877102:
      return bytes.length < 16
        ? undefined
        : { opening: { _tag: "CancelRequest", processId: int32(bytes, 8), secret: int32(bytes, 12) }, rest }
  }
  if (protocol >> 16 !== 3) return { opening: { _tag: "Unknown", protocol }, rest }
  return bytes.length < length ? undefined : { opening: { _tag: "Startup" }, rest }
}

/** The answer to a startup message: no authentication, and ready. */
export const startupResponse = (options: {
  readonly processId: number
  readonly secret: number
  readonly serverVersion: string
}): Uint8Array =>
  concat([
    message("R", uint32(0)),
    message("S", cString("server_version"), cString(options.serverVersion)),
    message("S", cString("server_encoding"), cString("UTF8")),
    message("S", cString("client_encoding"), cString("UTF8")),
    message("S", cString("DateStyle"), cString("ISO, MDY")),
    message("S", cString("integer_datetimes"), cString("on")),
    message("S", cString("standard_conforming_strings"), cString("on")),
    message("S", cString("TimeZone"), cString("UTC")),
    message("K", uint32(options.processId), uint32(options.secret)),
    message("Z", utf8.encode("I"))
  ])

/** The refusal of an encrypted connection. */
export const encryptionRefused: Uint8Array = utf8.encode("N")

/** The answer to a cycle that failed before it ran, outside a transaction. */
export const failedCycle = (sqlState: string, text: string): Uint8Array =>
  concat([
    message("E", cString("SERROR"), cString("VERROR"), cString(`C${sqlState}`), cString(`M${text}`), new Uint8Array(1)),
    message("Z", utf8.encode("I"))
  ])

/** A simple query. */
export const simpleQuery = (sql: string): Uint8Array => message("Q", cString(sql))

/** Closes prepared statements, as one cycle. */
export const closeStatements = (names: Iterable<string>): Uint8Array =>
  concat([...Array.from(names, (name) => message("C", utf8.encode("S"), cString(name))), message("S")])

/** Cuts what a client sends into cycles: messages up to and with a Sync, or one simple Query. */
export class CycleReader {
  #unread: Uint8Array = empty
  #scanned = 0

  /** Whether the client has sent Terminate. */
  ended = false

  /** Throws on bytes that cannot be the protocol's. */
  push(chunk: Uint8Array): Array<Uint8Array> {
    const bytes = this.#unread.length === 0 ? chunk : concat([this.#unread, chunk])
    const cycles: Array<Uint8Array> = []
    let start = 0
    let offset = this.#scanned
    while (offset + 5 <= bytes.length) {
      const length = int32(bytes, offset + 1)
      if (length < 4) throw new Error(`A message cannot be ${length} bytes long`)
      const end = offset + 1 + length
      if (end > bytes.length) break
      const type = bytes[offset]
      offset = end
      if (type === terminate) this.ended = true
      if (type === sync || type === query || type === functionCall) {
        cycles.push(bytes.subarray(start, offset))
        start = offset
      }
    }
    this.#unread = bytes.subarray(start)
    this.#scanned = offset - start
    return cycles
  }
}

/** A LISTEN or UNLISTEN; the channel is quoted, or `*` for all. */
export interface ListenChange {
  readonly listens: boolean
  readonly channel: string
}

const listenStatement = /^\s*(un)?listen\s+("(?:[^"]|"")+"|[a-z_][\w$]*|\*)\s*;?\s*$/i

const listenChange = (sql: string): ListenChange | undefined => {
  const match = listenStatement.exec(sql)
  if (match === null) return undefined
  const channel = match[2]!
  return {
    listens: match[1] === undefined,
    channel: channel.startsWith('"') || channel === "*" ? channel : `"${channel.toLowerCase()}"`
  }
}

const textAt = (bytes: Uint8Array, offset: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + offset, end - offset).toString()

/** A LISTEN is short; a long statement is not decoded to find out that it is none. */
const longestListen = 200

/** What a connection leaves in the backend that all connections share. */
export class StatementNames {
  readonly #statements = new Map<string, ListenChange | undefined>()

  /** The names of the statements it has prepared. */
  get names(): Array<string> {
    return Array.from(this.#statements.keys()).filter((name) => name !== "")
  }

  /** Notes what a cycle prepares and closes, and answers the LISTENs and UNLISTENs it runs. */
  note(cycle: Uint8Array): Array<ListenChange> {
    const changes: Array<ListenChange> = []
    const add = (change: ListenChange | undefined) => {
      if (change !== undefined) changes.push(change)
    }
    for (let offset = 0; offset < cycle.length; offset += 1 + int32(cycle, offset + 1)) {
      const body = offset + 5
      switch (cycle[offset]) {
        case query: {
          const end = cycle.indexOf(0, body)
          if (end - body <= longestListen) add(listenChange(textAt(cycle, body, end)))
          break
        }
        case parse: {
          const nameEnd = cycle.indexOf(0, body)
          const end = cycle.indexOf(0, nameEnd + 1)
          const change = end - nameEnd <= longestListen ? listenChange(textAt(cycle, nameEnd + 1, end)) : undefined
          this.#statements.set(textAt(cycle, body, nameEnd), change)
          break
        }
        case bind: {
          const portalEnd = cycle.indexOf(0, body)
          add(this.#statements.get(textAt(cycle, portalEnd + 1, cycle.indexOf(0, portalEnd + 1))))
          break
        }
        case close:
          if (cycle[body] === sync) this.#statements.delete(textAt(cycle, body + 1, cycle.indexOf(0, body + 1)))
          break
      }
    }
    return changes
  }
}

/** The backend's answer to a cycle. */
export interface Answer {
  /** What the asking connection gets. */
  readonly reply: Uint8Array
  /** The notifications among it, which are for whoever listens. */
  readonly notifications: Uint8Array
  /** Whether a transaction is still open, also a failed one. */
  readonly inTransaction: boolean
}

/** Parses an answer of the backend. Throws if it does not end with the backend being ready again. */
export const readAnswer = (bytes: Uint8Array): Answer => {
  const notifications: Array<Uint8Array> = []
  const reply: Array<Uint8Array> = []
  let status: number | undefined
  let start = 0
  for (let offset = 0; offset < bytes.length;) {
    const end = offset + 1 + int32(bytes, offset + 1)
    if (bytes[offset] === readyForQuery) status = bytes[offset + 5]
    else if (bytes[offset] === notification) {
      notifications.push(bytes.subarray(offset, end))
      reply.push(bytes.subarray(start, offset))
      start = end
    }
    offset = end
  }
  if (status === undefined) throw new Error("The backend did not become ready again")
  return {
    reply: concat([...reply, bytes.subarray(start)]),
    notifications: notifications.length === 0 ? empty : concat(notifications),
    inTransaction: status !== code("I")
  }
}
