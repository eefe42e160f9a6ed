import Fastify, { type FastifyRequest } from "fastify"
import { hash, randomBytes, randomUUID } from "node:crypto"
import { crc32 } from "node:zlib"
import { connect, type Driver } from "./Database.ts"
import * as Schemas from "./Schemas.ts"
import * as Statements from "./Statements.ts"

/** What all endpoints of the peer use: its settings, database, errors, and who calls. */
const { DATABASE_POOL, DATABASE_URL = "", DRIVER } = process.env
export const baseUrl = process.env["BASE_URL"]!
export const { query } = connect(DRIVER as Driver, DATABASE_URL, Number(DATABASE_POOL))

export class ApiError extends Error {
  readonly statusCode: number
  readonly body: object
  constructor(statusCode: number, _tag: string, message: string, more: object = {}) {
    super(message)
    this.statusCode = statusCode
    this.body = { _tag, message, ...more }
  }
}
export const unauthorized = new ApiError(401, "Unauthorized", "A valid API key is required.")
export const notFound = (noun: string) => new ApiError(404, "NotFound", `The ${noun} does not exist.`)
export const conflict = (reason: string, message: string) => new ApiError(409, "Conflict", message, { reason })

export const app = Fastify({
  logger: false,
  bodyLimit: 1024 * 1024,
  genReqId: (request) => {
    const id = request.headers["x-request-id"]
    return typeof id === "string" && /^[A-Za-z0-9_-]{8,64}$/.test(id) ? id : randomUUID()
  },
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true } }
})

app.addHook("onRequest", (request, reply, done) => {
  reply.header("x-request-id", request.id)
  done()
})

app.setErrorHandler((error: Error & { validation?: ReadonlyArray<AjvError>; statusCode?: number }, request, reply) => {
  if (error instanceof ApiError) {
    if (error.statusCode === 401) reply.header("www-authenticate", "Bearer")
    return reply.code(error.statusCode).send(error.body)
  }
  if (error.validation !== undefined) {
    const issues = error.validation.slice(0, 20).map((one) => ({
      path: one.instancePath.split("/").slice(1),
      message: problem(one)
    }))
    const message = `${issues[0]!.path.join(".")}: ${issues[0]!.message}`
    return reply.code(400).send({ _tag: "InvalidInput", message, issues })
  }
  if (error.statusCode === 400) {
    const message = "The body could not be read."
    return reply.code(400).send({ _tag: "InvalidInput", message, issues: [{ path: [], message }] })
  }
  console.error(error)
  return reply.code(500).send({ _tag: "Internal", message: "Something went wrong.", requestId: request.id })
})

interface AjvError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
}
const problem = ({ keyword, message, params }: AjvError): string =>
  keyword === "type" ? `Expected ${[params["type"]].flat().join(" | ")}` : (message ?? keyword)

// Who calls.

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ""
  for (let i = 0; i < 6; i++) {
    digits = alphabet[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
const isToken = (token: string): boolean =>
  /^(ctk|stk)_[0-9A-Za-z]{42}$/.test(token) && checksum(token.slice(0, -6)) === token.slice(-6)
export const makeToken = (prefix: string): string => {
  let text = prefix
  while (text.length < prefix.length + 36) {
    for (const byte of randomBytes(72)) {
      if (byte < 248 && text.length < prefix.length + 36) text += alphabet[byte % 62]
    }
  }
  return text + checksum(text)
}
export const hashToken = (token: string): string => hash("sha256", token, "base64url")

export const bearer = (request: FastifyRequest, prefix: string): string => {
  const header = request.headers.authorization ?? ""
  const token = header.startsWith("Bearer ") ? header.slice(7) : ""
  if (!token.startsWith(prefix) || !isToken(token)) throw unauthorized
  return token
}

interface Caller {
  readonly keyId: string
  readonly personId: string
  readonly personName: string
  readonly email: string
  readonly workspaceId: string
  readonly slug: string
  readonly role: "viewer" | "member" | "admin" | "owner" | null
}
const callers = new WeakMap<FastifyRequest, Caller>()
const uses = new Map<string, Date>()

/** Before the body is read: 401. */
export const authenticate = async (request: FastifyRequest) => {
  const { slug } = request.params as { slug: string }
  const [caller] = await query<Caller>(Statements.authenticate, [hashToken(bearer(request, "ctk_")), slug])
  if (caller === undefined) throw unauthorized
  uses.set(caller.keyId, new Date())
  callers.set(request, caller)
}
setInterval(() => {
  if (uses.size === 0) return
  const batch = [...uses]
  uses.clear()
  query(Statements.touchKeys, [batch.map(([id]) => id), batch.map(([, at]) => at.toISOString())]).catch(console.error)
}, 500)

/** After the body is valid: 404, then 403. */
export const member = (request: FastifyRequest): Caller => {
  const caller = callers.get(request)!
  if (caller.role === null) throw notFound("workspace")
  return caller
}
export const writer = (request: FastifyRequest): Caller => {
  const caller = member(request)
  if (caller.role !== "viewer") return caller
  const message = "This needs the role member or more; yours is viewer."
  throw new ApiError(403, "Forbidden", message, { reason: "role_too_low" })
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" })
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
export interface Named {
  readonly id: string
  readonly name: string
}
export const byName = (a: Named, b: Named): number =>
  collator.compare(a.name, b.name) || compare(a.name, b.name) || compare(a.id, b.id)

export const uuid = (): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export const workspace = "/v1/workspaces/:slug"
export const withError = (success: Readonly<Record<string, object>>) => ({
  ...success,
  "4xx": Schemas.error,
  "5xx": Schemas.error
})
