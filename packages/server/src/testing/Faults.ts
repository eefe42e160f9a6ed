import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, type Duration, Effect, Layer } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { type Interfere, Interference } from "../http/Interference.ts"

/** Which calls go wrong. */
export interface FaultyCalls {
  /** Such as `POST`, in capitals or not. Default: all. */
  readonly method?: string
  /** The whole path without its query, or what it must match. Default: all. */
  readonly path?: string | RegExp
  /** How many of them, at least 1; then all is as ever. Default: 1. `Infinity`: all. */
  readonly times?: number
}

/** What happens to a call. */
export type Fault =
  /** It is answered with this, and does nothing. The body is an `Internal` of the contract unless it is given. */
  | { readonly answer: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** It begins that much later, by the server's clock. */
  | { readonly delay: Duration.Input }
  /** Its connection ends without an answer: before it does anything, or after it has done all. */
  | { readonly drop: "before" | "after" }

/** Calls that a fault has met so far, and the end of it. */
export interface InjectedFault {
  readonly hits: Effect.Effect<number>
  readonly remove: Effect.Effect<void>
}

/** Has calls of a server fail, take long, or lose their answers, for tests of those who call it. */
export class Faults extends Context.Service<
  Faults,
  {
    /**
     * Of several faults that a call meets, the first one that was injected happens. Dies with a `TypeError` for what is no
     * fault, so that a misspelt one does not meet every call, or none.
     */
    readonly inject: (calls: FaultyCalls, fault: Fault) => Effect.Effect<InjectedFault>
  }
>()("@delivery/server/testing/Faults") {
  /** Around a server. */
  static readonly layer = Layer.effectContext(
    Effect.sync(() => {
      const injected = new Set<Injected>()
      const interfere: Interfere = (request, answer) => {
        for (const one of injected) {
          if (meets(one.calls, request)) {
            one.hits += 1
            if (one.hits >= (one.calls.times ?? 1)) injected.delete(one)
            return happening(one.fault, request, answer)
          }
        }
        return answer
      }
      const inject: Faults["Service"]["inject"] = (calls, fault) =>
        Effect.sync(() => {
          check(calls, fault)
          const one: Injected = { calls, fault, hits: 0 }
          injected.add(one)
          return { hits: Effect.sync(() => one.hits), remove: Effect.sync(() => void injected.delete(one)) }
        })
      return Context.make(Faults, { inject }).pipe(Context.add(Interference, interfere))
    })
  )
}

interface Injected {
  readonly calls: FaultyCalls
  readonly fault: Fault
  hits: number
}

/** The names that a fault has, by the one that tells what happens. */
const namesOf = { answer: ["answer", "body", "headers"], delay: ["delay"], drop: ["drop"] }

const check = (calls: FaultyCalls, fault: Fault): void => {
  const unknown = Object.keys(calls).find((name) => !["method", "path", "times"].includes(name))
  if (unknown !== undefined) throw new TypeError(`Calls of a fault have no "${unknown}": method, path and times.`)
  const { times = 1 } = calls
  if (!(times >= 1)) throw new TypeError("times: expected a number from 1, or Infinity.")
  const names = Object.entries(namesOf).find(([name]) => name in fault)?.[1] ?? []
  if (names.length === 0 || Object.keys(fault).some((name) => !names.includes(name))) {
    throw new TypeError("A fault is { answer, body?, headers? }, { delay } or { drop }.")
  }
  if ("answer" in fault && !(Number.isInteger(fault.answer) && fault.answer >= 200 && fault.answer <= 599)) {
    throw new TypeError("answer: expected a status from 200 to 599.")
  }
  if ("drop" in fault && fault.drop !== "before" && fault.drop !== "after") {
    throw new TypeError('drop: expected "before" or "after".')
  }
}

const meets = ({ method, path }: FaultyCalls, request: HttpServerRequest.HttpServerRequest): boolean => {
  const asked = request.url.split("?")[0]!
  return (
    (method === undefined || method.toUpperCase() === request.method) &&
    // Not `test`, which would go on from where an expression with the flag `g` has matched last.
    (path === undefined || (typeof path === "string" ? path === asked : asked.search(path) >= 0))
  )
}

const happening = <E, R>(
  fault: Fault,
  request: HttpServerRequest.HttpServerRequest,
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  if ("delay" in fault) return Effect.delay(answer, fault.delay)
  if ("drop" in fault) {
    const drop = Effect.andThen(
      Effect.sync(() => NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()),
      Effect.interrupt
    )
    return fault.drop === "before" ? drop : Effect.andThen(answer, drop)
  }
  const body = fault.body ?? { _tag: "Internal", message: "A fault that a test injected.", requestId: "fault" }
  return Effect.succeed(
    HttpServerResponse.jsonUnsafe(body, { status: fault.answer, ...(fault.headers && { headers: fault.headers }) })
  )
}
