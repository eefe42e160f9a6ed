import type { Event } from "@delivery/domain/events/Event"
import { Sse } from "effect/encoding"
import type { IncomingMessage } from "node:http"
import type { Http } from "./Http.ts"

/** An event as a stream sent it. */
export interface Received {
  readonly id: string
  readonly event: Event
}

export interface EventStream {
  readonly response: IncomingMessage
  /** The next event; fails when the stream ends before it. */
  readonly next: () => Promise<Received>
  /** Until it has told once more that the caller has marked notifications. */
  readonly told: () => Promise<void>
  /** All that has been received and not taken. */
  readonly waiting: () => ReadonlyArray<Received>
  /** Everything that was sent. */
  readonly text: () => string
  /** When the server has ended it, or the connection is gone. */
  readonly ended: Promise<void>
  readonly close: () => void
}

/** Follows the events of the caller's workspace. It is open, and its first part has come. */
export const openStream = async (
  by: Http,
  query = "",
  headers: Readonly<Record<string, string>> = {}
): Promise<EventStream> => {
  const request = by.open("GET", `events/stream${query}`, headers)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject).end()
  })
  if (response.statusCode !== 200) throw new Error(`The stream was refused: ${response.statusCode}`)
  const received: Array<Received> = []
  let text = ""
  let tellings = 0
  let wake = () => {}
  let isOver = false
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event" && event.event === "notifications") tellings++
    else if (event._tag === "Event") received.push({ id: event.id!, event: JSON.parse(event.data) as Event })
  })
  const first = new Promise<void>((resolve) => response.once("data", () => resolve()))
  response.setEncoding("utf8").on("data", (part: string) => {
    text += part
    parser.feed(part)
    wake()
  })
  request.on("error", () => {})
  response.on("error", () => {})
  const ended = new Promise<void>((resolve) => {
    response.once("close", () => {
      isOver = true
      wake()
      resolve()
    })
  })
  await Promise.race([first, ended])
  const next = async (): Promise<Received> => {
    for (;;) {
      const one = received.shift()
      if (one !== undefined) return one
      if (isOver) throw new Error("The stream has ended.")
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const told = async (): Promise<void> => {
    while (tellings === 0) {
      if (isOver) throw new Error("The stream has ended.")
      await new Promise<void>((resolve) => (wake = resolve))
    }
    tellings--
  }
  return { response, next, told, waiting: () => received, text: () => text, ended, close: () => request.destroy() }
}
