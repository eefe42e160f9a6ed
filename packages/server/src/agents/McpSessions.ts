import type { AgentId, PersonId, SignInId } from "@delivery/domain/Ids"
import { Clock, Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { Notices } from "../storage/Notices.ts"
import { background } from "../telemetry/Background.ts"
import { mcpSessions, observe } from "../telemetry/Metrics.ts"
import { SignInsRepo } from "./SignInsRepo.ts"

/** How many sessions of the protocol a person's agents have in a process. The next one ends the least recently used. */
export const maxMcpSessions = 64
/** How much the client data of a person's sessions may take in a process, as `clientDataSize` counts it. */
const maxClientData = 256 * 1024
/** The same of one session. That of known clients takes less than 4 KiB. */
export const maxClientDataOfSession = maxClientData / 4
/** After so long without a request a session ends, in milliseconds. */
const mcpSessionMillis = 86_400_000

/** Whom a session belongs to. */
export interface McpSessionOwner {
  readonly agent: AgentId
  readonly person: PersonId
  readonly signIn: SignInId
}

interface McpSession extends McpSessionOwner {
  readonly size: number
  readonly usedAt: number
}

type End = (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/**
 * The sessions of MCP revisions before 2026-07-28 that live in this process. Effect's `McpServer` keeps each, with what its
 * client said of itself, until its client deletes it, and clients seldom do. Here they are limited by person, each belongs
 * to one sign-in of one agent, and ends with it.
 */
export class McpSessions extends Context.Service<
  McpSessions,
  {
    /** Begins a session that the server has made, with client data of this size, and ends those that are too old or too many. */
    readonly begin: (id: string, owner: McpSessionOwner, size: number) => Effect.Effect<void>
    /** Whether the session is the sign-in's. If so, it counts as used now. */
    readonly use: (id: string, owner: McpSessionOwner) => Effect.Effect<boolean>
    /** Forgets a session that the server has ended. */
    readonly forget: (id: string) => void
  }
>()("@delivery/server/agents/McpSessions") {
  /** Supplies the router, too, in which the route of DELETE is noted: only that route can end a session. */
  static readonly layer = Layer.effectContext(Effect.gen(make))
}

interface State {
  /** By id, the least recently used first. */
  readonly sessions: Map<string, McpSession>
  /** Those of each person, the least recently used first. */
  readonly ofPerson: Map<PersonId, Set<string>>
  /** The server's route of DELETE. */
  end: End | undefined
}

function* make() {
  const router = yield* HttpRouter.HttpRouter
  const state: State = { sessions: new Map(), ofPerson: new Map(), end: undefined }
  yield* observe(mcpSessions, () => state.sessions.size)
  yield* endWithSignIns(state)
  const add: HttpRouter.HttpRouter["add"] = (method, path, handler, options) => {
    if (method === "DELETE" && typeof handler === "function") state.end = handler as unknown as End
    return router.add(method, path, handler, options)
  }
  const sessions = McpSessions.of({
    begin: begin(state),
    use: use(state),
    forget: (id) => void remove(state, id)
  })
  return Context.make(McpSessions, sessions).pipe(
    Context.add(HttpRouter.HttpRouter, HttpRouter.HttpRouter.of({ ...router, add }))
  )
}

/** Ends sessions whose sign-in has ended, whose agent is revoked, or whose member is inactive, at whatever server that was. */
const endWithSignIns = Effect.fnUntraced(function* (state: State) {
  const notices = yield* Notices
  const repo = yield* SignInsRepo
  const unchecked = new Set<SignInId>()
  const round = Effect.gen(function* () {
    const checked = [...unchecked]
    if (checked.length === 0) return
    // What a notice adds from now on is looked up once more: it may have changed since this look-up.
    unchecked.clear()
    const live = new Set(
      yield* Effect.onError(repo.live(checked), () => Effect.sync(() => checked.forEach((id) => unchecked.add(id))))
    )
    for (const [id, { signIn }] of state.sessions) {
      if (checked.includes(signIn) && !live.has(signIn)) yield* drop(state, id)
    }
  })
  // What a failed round leaves unchecked, the next one checks.
  const check = yield* background("mcp_sessions", "Sessions of ended sign-ins could not be dropped.", round)
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const checkWhere = (isOf: (session: McpSession) => boolean) => {
    for (const session of state.sessions.values()) if (isOf(session)) unchecked.add(session.signIn)
    if (unchecked.size > 0) fork(check)
  }
  yield* notices.listen("agents", {
    onNotice: (agent) => checkWhere((session) => session.agent === agent),
    onListening: () => checkWhere(() => true)
  })
})

/**
 * What the client data of an `initialize` takes at most, in bytes: its text, and a fixed amount for each of its values,
 * since many empty ones take far more than their text.
 */
export const clientDataSize = (text: string): number => {
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // , : [ {
    if (code === 0x2c || code === 0x3a || code === 0x5b || code === 0x7b) values++
  }
  return text.length * 2 + values * 32
}

const add = ({ ofPerson, sessions }: State, id: string, session: McpSession): void => {
  sessions.set(id, session)
  const own = ofPerson.get(session.person)
  if (own === undefined) ofPerson.set(session.person, new Set([id]))
  else own.add(id)
}

const remove = ({ ofPerson, sessions }: State, id: string): void => {
  const session = sessions.get(id)
  if (session === undefined) return
  sessions.delete(id)
  const own = ofPerson.get(session.person)
  own?.delete(id)
  if (own?.size === 0) ofPerson.delete(session.person)
}

/** Ends a session, here and in the server. */
const drop = (state: State, id: string) =>
  Effect.suspend(() => {
    remove(state, id)
    const url = "http://localhost/agent/mcp"
    const request = new Request(url, { method: "DELETE", headers: { "mcp-session-id": id } })
    return state.end === undefined ? Effect.void : Effect.asVoid(state.end(HttpServerRequest.fromWeb(request)))
  })

const begin = (state: State) =>
  Effect.fnUntraced(function* (id: string, owner: McpSessionOwner, size: number) {
    const now = yield* Clock.currentTimeMillis
    add(state, id, { ...owner, size, usedAt: now })
    for (const [id, { usedAt }] of state.sessions) {
      if (usedAt > now - mcpSessionMillis) break
      yield* drop(state, id)
    }
    const own = [...(state.ofPerson.get(owner.person) ?? [])]
    let count = own.length
    let total = own.reduce((sum, id) => sum + state.sessions.get(id)!.size, 0)
    for (const id of own) {
      if (count <= maxMcpSessions && total <= maxClientData) return
      count -= 1
      total -= state.sessions.get(id)?.size ?? 0
      yield* drop(state, id)
    }
  })

const use = (state: State) =>
  Effect.fnUntraced(function* (id: string, owner: McpSessionOwner) {
    const session = state.sessions.get(id)
    if (session?.agent !== owner.agent || session.signIn !== owner.signIn) return false
    const now = yield* Clock.currentTimeMillis
    if (session.usedAt <= now - mcpSessionMillis) {
      yield* drop(state, id)
      return false
    }
    remove(state, id)
    add(state, id, { ...session, usedAt: now })
    return true
  })
