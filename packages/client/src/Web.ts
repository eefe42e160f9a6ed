import type { DeliveryApi } from "@delivery/domain/Api"
import type { Stream } from "effect"
import type { HttpApiClient, HttpApiEndpoint } from "effect/http-api"
import type { Arguments, CallOptions, RequestOf } from "./CallArguments.ts"
import type { CallDetails, Called } from "./Calls.ts"
import { noAnswerReason } from "@delivery/domain/NoAnswer"
import { requestProblem } from "./RequestProblem.ts"
import type { Plain } from "./Secrets.ts"
import { checked, type WebClientOptions } from "./WebOptions.ts"
import { routes } from "./WebRoutes.ts"

/** `@delivery/client/web`: the calls of the Promise client for pages, in a few kilobytes, since it checks and decodes nothing. */

export type { CallOptions } from "./CallArguments.ts"
export type { CallDetails, Called } from "./Calls.ts"
export type { WebClientOptions } from "./WebOptions.ts"

/** There was no answer, or it ended early. A call that changes something may have changed it. */
export interface NoAnswer extends Called {
  readonly _tag: "NoAnswer"
  readonly message: string
  /** What fetch has thrown. */
  readonly cause: unknown
}

/** An answer that is not the service's, such as a proxy's. */
export interface UnknownAnswer extends Called {
  readonly _tag: "UnknownAnswer"
  readonly message: string
}

/** The fields of an error, without what makes it an `Error`. */
type Told<E> = E extends { readonly _tag: string }
  ? {
      readonly [
        K in keyof E as K extends string
          ? K extends "name" | "stack" | "cause" | "pipe" | "toJSON"
            ? never
            : K
          : never
      ]: E[K]
    } & Called
  : never

/** What a call of an endpoint can fail with: plain objects, told apart by `_tag`. */
export type WebError<E extends HttpApiEndpoint.ConstraintRequest> =
  | Told<HttpApiEndpoint.Errors<E>>
  | NoAnswer
  | UnknownAnswer

/** The outcome of a call of `safe`. */
export type WebResult<A, E> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly error: E }

/** The values of an answer that is not read as a stream. */
type Value<A> = Plain<Exclude<A, Stream.Stream<unknown, unknown, unknown>>>

interface Modes<A, E> {
  readonly reject: Promise<A>
  readonly safe: Promise<WebResult<A, E>>
}

type Method<E, M extends keyof Modes<unknown, unknown>> = E extends HttpApiEndpoint.Top
  ? (...args: Arguments<RequestOf<E>>) => Modes<Value<HttpApiClient.SuccessType<E["~Success"]>>, WebError<E>>[M]
  : never

type Routes = typeof routes
type Groups = (typeof DeliveryApi)["groups"]
type Endpoint<G, K> = G extends { readonly endpoints: infer Endpoints } ? Endpoints[K & keyof Endpoints] : never

/** The calls that take and answer JSON: all but files, streams, and the calls of agents and runs. */
export type WebCalls<M extends keyof Modes<unknown, unknown>> = {
  readonly [G in keyof Routes]: {
    readonly [K in keyof Routes[G]]: Method<Endpoint<Groups[G & keyof Groups], K>, M>
  }
}

/** A call rejects with a plain object that has `_tag`, and in `call` the request that failed; or with the reason of its signal. */
export interface WebClient extends WebCalls<"reject"> {
  /** The same calls, but they resolve with their errors, fully typed. Aborts still reject. */
  readonly safe: WebCalls<"safe">
}

interface Request {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, unknown>>
  readonly payload?: unknown
}

/** The path with its parameters. Those that would name another path are refused. */
const pathOf = (name: string, template: string, params: Request["params"]): string =>
  template.replaceAll(/:(\w+)/g, (_, key: string) => {
    const value = String(params?.[key] ?? "")
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} needs params.${key}.`)
    return encodeURIComponent(value)
  })

const queryOf = (query: Request["query"] = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`
}

const isTold = (body: unknown): body is { readonly _tag: string } =>
  typeof body === "object" && body !== null && "_tag" in body && typeof body._tag === "string"

/** The JSON of a text; undefined for no text or another. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A client for pages: the types of the Promise client, and no code but `fetch`.
 *
 * ```ts
 * const client = createClient()
 * const { tickets } = await client.tickets.list({ params: { slug: "main" } })
 * ```
 */
export const createClient = (options: WebClientOptions = {}): WebClient => {
  const address = checked(options)
  const { apiKey, fetch = globalThis.fetch } = options

  const send = async (name: string, route: string, request: Request, { signal }: CallOptions) => {
    const problem = requestProblem(name, request)
    if (problem !== undefined) throw new TypeError(problem)
    const [method = "", template = ""] = route.split(" ")
    const path = pathOf(name, template, request.params)
    const hasBody = method !== "GET" && method !== "DELETE"
    let call: CallDetails = { method, path }
    try {
      const response = await fetch(`${address}${path}${queryOf(request.query)}`, {
        method,
        headers: {
          ...(request.headers as Record<string, string> | undefined),
          accept: "application/json",
          ...(hasBody ? { "content-type": "application/json" } : {}),
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` })
        },
        body: hasBody ? JSON.stringify(request.payload ?? {}) : null,
        credentials: apiKey === undefined ? "same-origin" : "omit",
        redirect: "manual",
        signal: signal ?? null
      })
      const requestId = response.headers.get("x-request-id")
      call = { ...call, status: response.status, ...(requestId === null ? {} : { requestId }) }
      const text = await response.text()
      const body = parsed(text)
      if (response.ok && (text === "" || body !== undefined)) return { ok: true, value: body } as const
      if (!response.ok && isTold(body)) return { ok: false, error: { ...body, call } } as const
      // A page does not see the status of a redirect: there it is 0.
      const isElsewhere = !response.ok && response.status < 400
      const by = isElsewhere ? "a redirect. Use its address as baseUrl." : "something else."
      const message = `${method} ${path} was answered ${response.status} by ${by}`
      return { ok: false, error: { _tag: "UnknownAnswer", message, call } } as const
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason
      const message = `${method} ${address}${path} was not answered: ${noAnswerReason(cause)}.`
      return { ok: false, error: { _tag: "NoAnswer", message, call, cause } } as const
    }
  }

  const mapped = <A>(f: (name: string, route: string) => A) =>
    Object.fromEntries(
      Object.entries<Record<string, string>>(routes).map(([group, endpoints]) => [
        group,
        Object.fromEntries(Object.entries(endpoints).map(([name, route]) => [name, f(`${group}.${name}`, route)]))
      ])
    )
  const safe = mapped(
    (name, route) =>
      (request: Request = {}, given: CallOptions = {}) =>
        send(name, route, request, given)
  )
  const calls = mapped((name, route) => async (request: Request = {}, given: CallOptions = {}) => {
    const result = await send(name, route, request, given)
    if (result.ok) return result.value
    throw result.error
  })
  return { ...calls, safe } as unknown as WebClient
}
