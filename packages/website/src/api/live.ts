import type { QueryClient } from "@tanstack/react-query"
import { client } from "./client.ts"
import { cursorQuery } from "./cursor.ts"
import { channelOf } from "./pages.ts"
import { workspaceKey } from "./queries.ts"
import { isSessionOver, onSession } from "./session.ts"

/**
 * What others change shows within a second: one page of the browser follows the events of the workspace (Web Locks choose
 * it), and tells the others (BroadcastChannel). Where no stream can be had, what is shown is read again every 15 s.
 */

/** What is told of an event: enough to know what to read again, and the cursor behind it. */
interface Happened {
  readonly kind: string
  readonly type: string
  readonly url: string
  readonly after?: string
}

/** Nothing happened in the workspace: the person has marked notifications read, perhaps in another browser. */
const reading: Happened = { kind: "", type: "reading", url: "" }

const pollMillis = 15_000

/** The server ends a stream also when the person sees less than before: what is shown is then read again at once. */
const againMillis = 200

/** Which queries an event makes old, by the type of its subject: the kinds of objects in `workspaceKey`. */
const affected: Readonly<Record<string, ReadonlyArray<string>>> = {
  run: ["runs", "run", "cases", "deployments", "readiness", "evidence"],
  retry: ["runs", "run", "cases", "readiness"],
  deployment: ["deployments", "releases", "readiness"],
  product: ["products", "deployments", "vault"],
  environment: ["environments", "deployments", "vault"],
  secret: ["vault", "readiness"],
  policy: ["readiness"],
  member: ["members", "me", "credentials"],
  workspace: ["me", "workspace"],
  key: ["account-keys", "credentials", "api-keys"],
  token: ["tokens", "credentials"],
  credential: ["credentials"],
  agent: ["credentials", "agents"],
  message: ["notifications", "trace", "messages"],
  // That a ticket was commented on is an event of the ticket.
  ticket: [
    "notifications",
    "tickets",
    "projects",
    "comments",
    "trace",
    "attachments",
    "cases",
    "mutes",
    "evidence",
    "readiness",
    "test-rules"
  ],
  test_rule: ["test-rules"],
  comment: ["notifications", "comments", "tickets"],
  project: ["projects", "tickets"],
  milestone: ["projects", "tickets"],
  view: ["views", "tickets"],
  team: ["teams", "tickets", "projects"],
  tag: ["tags", "tickets"],
  status: ["statuses", "tickets"]
}

/** What one change of many tickets tells in a row is read once, and the same no more often than this lets others see it within a second. */
const gatherMillis = 100
const restMillis = 800

/** Reads queries again, by the starts of their keys: soon, and seldom. */
const makeReader = (queries: QueryClient) => {
  const readAt = new Map<string, number>()
  const waiting = new Set<string>()
  return (queryKey: ReadonlyArray<unknown>): void => {
    const name = JSON.stringify(queryKey)
    if (waiting.has(name)) return
    waiting.add(name)
    const read = () => {
      waiting.delete(name)
      readAt.set(name, performance.now())
      void queries.invalidateQueries({ queryKey })
    }
    setTimeout(read, Math.max(gatherMillis, (readAt.get(name) ?? -Infinity) + restMillis - performance.now()))
  }
}

type Read = ReturnType<typeof makeReader>

/** Results of tests are counted a moment after their run has finished. */
const countedMillis = 3_000

/** Those whose queries are of the person, and of no workspace. */
const ofPerson: ReadonlySet<string> = new Set(["me", "api-keys"])

const numberOf = (url: string): number | undefined => {
  const [, number] = /\/test-runs\/(\d+)$/.exec(url) ?? []
  return number === undefined ? undefined : Number(number)
}

/** Reads again what an event has changed, as far as it is shown. */
const applyEvent = (read: Read, slug: string, { type, url }: Happened): void => {
  const run = numberOf(url)
  for (const kind of type === "reading"
    ? ["notifications"]
    : [...(affected[type] ?? [`${type}s`]), "events", "audit"]) {
    if (ofPerson.has(kind)) read([kind])
    else if (kind === "run" && run !== undefined) {
      read(workspaceKey(slug, "run", run))
    } else read(workspaceKey(slug, kind))
  }
  if (type === "run" || type === "retry") {
    setTimeout(() => read(workspaceKey(slug, "cases")), countedMillis)
  }
}

/** Whether changes of others come by themselves, are asked for now and then, or not at all, since nothing answers. */
type StreamState = "connecting" | "live" | "polling" | "lost"

/** The same, or that nobody is signed in any more. */
export type LiveState = StreamState | "over"

interface Following {
  readonly queries: QueryClient
  readonly slug: string
  readonly onState: (state: LiveState) => void
  /** What ends it. */
  readonly until: AbortSignal
}

/** A server that hangs keeps its streams open, and no page hears of their comments. So it is asked now and then whether it lives. */
const askMillis = 10_000
const answerMillis = 8_000

/** Where more has happened, everything that is shown is read again. */
const mostMissed = 100

const isAlive = () =>
  fetch("/health", { cache: "no-store", signal: AbortSignal.timeout(answerMillis) }).then(
    ({ ok }) => ok,
    () => false
  )

interface StoredEvent {
  readonly kind: string
  readonly subject: { readonly type: string; readonly url: string }
}

const happenedOf = ({ kind, subject: { type, url } }: StoredEvent, after: string): Happened => ({
  kind,
  type,
  url,
  after
})

/** What has happened that a page was not told of; undefined where that is much, or not known. */
const missed = async (queries: QueryClient, slug: string): Promise<ReadonlyArray<Happened> | undefined> => {
  const after = await queries.ensureQueryData(cursorQuery(slug))
  if (after === "") return undefined
  const { events } = await client.events.list({ params: { slug }, query: { after, limit: mostMissed } })
  return events.length === mostMissed ? undefined : events.map((event) => happenedOf(event, event.id))
}

/** Opens the stream, again and again. Answers what ends it. */
const follow = (slug: string, tell: (happened: Happened) => void, onState: (state: StreamState) => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let close = () => {}
  let isOpen = () => false
  let isHung = false
  let failures = 0
  const look = async () => {
    if (!isOpen() || document.visibilityState !== "visible") return
    const isWell = await isAlive()
    if (!isOpen() || isWell !== isHung) return
    isHung = !isWell
    onState(isWell ? "live" : "lost")
  }
  const looking = setInterval(() => void look(), askMillis)
  const open = () => {
    const source = new EventSource(`/v1/workspaces/${encodeURIComponent(slug)}/events/stream?notifications=true`)
    source.addEventListener("open", () => {
      failures = 0
      isHung = false
      onState("live")
    })
    source.addEventListener("error", () => {
      // A stream that was refused is not opened again by the browser; one that was cut off, or got no answer, is.
      if (source.readyState === EventSource.CLOSED) {
        timer = setTimeout(open, pollMillis)
        return onState("polling")
      }
      failures++
      onState(failures > 2 ? "lost" : "connecting")
      if (failures > 1) return
      // The browser itself would wait for seconds.
      source.close()
      timer = setTimeout(open, againMillis)
    })
    source.addEventListener("message", ({ data, lastEventId }: MessageEvent<string>) => {
      tell(happenedOf(JSON.parse(data) as StoredEvent, lastEventId))
    })
    source.addEventListener("notifications", () => tell(reading))
    close = () => source.close()
    isOpen = () => source.readyState === EventSource.OPEN
  }
  // A network that is gone is told at once; a stream that was cut off by that may not notice for minutes.
  const onOffline = () => onState("lost")
  const onOnline = () => {
    clearTimeout(timer)
    close()
    open()
  }
  addEventListener("offline", onOffline)
  addEventListener("online", onOnline)
  open()
  return () => {
    removeEventListener("offline", onOffline)
    removeEventListener("online", onOnline)
    clearTimeout(timer)
    clearInterval(looking)
    close()
  }
}

/** Follows a workspace. */
export const followWorkspace = ({ onState, queries, slug, until }: Following): void => {
  if (until.aborted) return
  const name = channelOf(slug)
  const read = makeReader(queries)
  const channel = new BroadcastChannel(name)
  let state: StreamState = "connecting"
  let isBehind = false
  /** Whether the page is told of what happens, or is about to be told what happened before. */
  let isTold = false
  let isLeading = false
  const readAll = () => void queries.invalidateQueries({ queryKey: workspaceKey(slug) })
  const apply = (happened: Happened) => {
    applyEvent(read, slug, happened)
    if (isTold && happened.after !== undefined) queries.setQueryData(cursorQuery(slug).queryKey, happened.after)
  }
  const tell = (happened: Happened) => {
    apply(happened)
    if (isLeading) channel.postMessage({ happened })
  }
  /** What happened before there was a stream that tells this page: since it has read, or the page that led before has gone. */
  const catchUp = async () => {
    const happened = await missed(queries, slug).catch(() => undefined)
    if (until.aborted) return
    if (happened === undefined) readAll()
    else for (const one of happened) tell(one)
  }
  const show = () => onState(isSessionOver() ? "over" : state)
  const setState = (next: StreamState) => {
    // What happened while nobody listened was missed by whoever read before.
    if (next === "live" && isBehind) readAll()
    else if (next === "live" && !isTold) void catchUp()
    isTold ||= next === "live"
    isBehind = next !== "live" && (isBehind || state === "live" || next !== "connecting")
    state = next
    show()
  }
  // The stream of an ended session goes on for a while.
  const endSession = onSession(show)
  channel.addEventListener(
    "message",
    ({ data }: MessageEvent<{ happened?: Happened; state?: StreamState; ask?: true; changed?: string }>) => {
      if (data.happened !== undefined) apply(data.happened)
      if (data.state !== undefined) setState(data.state)
      if (data.changed !== undefined) read(workspaceKey(slug, data.changed))
    }
  )
  const lead = () =>
    new Promise<void>((resolve) => {
      isTold = false
      isLeading = true
      const end = follow(slug, tell, (next) => {
        setState(next)
        channel.postMessage({ state: next })
      })
      channel.addEventListener("message", ({ data }: MessageEvent<{ ask?: true }>) => {
        if (data.ask === true) channel.postMessage({ state })
      })
      until.addEventListener("abort", () => {
        end()
        resolve()
      })
    })
  // Aborted while it waits for its turn: another page leads.
  navigator.locks.request(name, { signal: until }, lead).catch(() => {})
  channel.postMessage({ ask: true })
  const timer = setInterval(() => {
    if (isBehind && document.visibilityState === "visible") readAll()
  }, pollMillis)
  until.addEventListener("abort", () => {
    endSession()
    clearInterval(timer)
    channel.close()
  })
}
