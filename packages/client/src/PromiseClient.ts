import type { DeliveryApi } from "@delivery/domain/Api"
import type { LoadedSecrets } from "@delivery/domain/deploy/Deploy"
import { Cause, Context, Effect, Exit, Option, Predicate, Result, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import type { HttpApi, HttpApiClient, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { AuditCalls } from "./Audit.ts"
import type { Arguments, CallOptions, RequestOf } from "./CallArguments.ts"
import type { Called } from "./Calls.ts"
import { DeliveryClient, type OtherGroup } from "./DeliveryClient.ts"
import type { DeployCalls, DeployError } from "./Deploy.ts"
import type { EventCalls } from "./Events.ts"
import type { AttachmentFiles, CallError, Files } from "./Files.ts"
import { type ClientOptions, optionsProblem } from "./Options.ts"
import { type Plain, redactBody, toPlain } from "./Secrets.ts"

export interface CreateClientOptions extends ClientOptions {
  /** Default: the fetch of the platform. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** The outcome of a call of `safe`: its value, or one of the errors that the call can fail with. */
export type CallResult<A, E> =
  | { readonly ok: true; readonly value: A }
  | { readonly ok: false; readonly error: E & Called }

/** What a call returns in each mode. */
interface Modes<A, E> {
  readonly reject: Promise<A>
  readonly safe: Promise<CallResult<A, E>>
}
type Mode = keyof Modes<unknown, unknown>

type EndpointMethod<E, M extends Mode> = E extends HttpApiEndpoint.Top
  ? (...args: Arguments<RequestOf<E>>) => Modes<Plain<HttpApiClient.SuccessType<E["~Success"]>>, CallError<E>>[M]
  : never

/** An answer whose body is not read yet is the `Response` of the platform, or what `for await` reads. */
type ValueOf<A> = A extends HttpClientResponse.HttpClientResponse
  ? Response
  : A extends Stream.Stream<infer Item, infer _E>
    ? AsyncIterable<Item>
    : A

type EffectMethod<F, M extends Mode> = F extends (request: infer Request) => Effect.Effect<infer A, infer E>
  ? (request: Request, options?: CallOptions) => Modes<ValueOf<A>, E>[M]
  : never

/** The calls of `deploy` that are not as they are derived. Their answers are secrets, as text. */
type DeployMethods<M extends Mode> = Omit<Derived<M>["deploy"], "secrets"> & {
  readonly secrets: (request?: object, options?: CallOptions) => Modes<Plain<LoadedSecrets>, DeployError>[M]
  readonly environmentFile: (
    request: Parameters<DeployCalls["environmentFile"]>[0],
    options?: CallOptions
  ) => Modes<string, DeployError>[M]
}

type Groups = typeof DeliveryApi extends HttpApi.HttpApi<infer _Id, infer Groups> ? Groups : never
type Derived<M extends Mode> = {
  readonly [G in Groups as HttpApiGroup.Identifier<G>]: {
    readonly [K in keyof G["endpoints"]]: EndpointMethod<G["endpoints"][K], M>
  }
}

/** The groups of `DeliveryClient` with their endpoints as methods; `files` uploads and downloads. */
export interface Calls<M extends Mode> extends Omit<Derived<M>, OtherGroup> {
  readonly logins: Pick<Derived<M>["logins"], "start" | "redeem">
  readonly oauth: Omit<Derived<M>["oauth"], "authorize">
  readonly testRuns: Omit<Derived<M>["testRuns"], "upload" | "download">
  readonly files: { readonly [K in keyof Files]: EffectMethod<Files[K], M> }
  readonly attachments: Omit<Derived<M>["attachments"], keyof AttachmentFiles> & {
    readonly [K in keyof AttachmentFiles]: EffectMethod<AttachmentFiles[K], M>
  }
  readonly deploy: DeployMethods<M>
  readonly audit: { readonly [K in keyof AuditCalls]: EffectMethod<AuditCalls[K], M> }
  readonly events: { readonly [K in keyof EventCalls]: EffectMethod<EventCalls[K], M> }
}

/** The client as promises. A call rejects with the tagged error of the service, or with an error of the transport. `call` of either says which request failed. */
export interface PromiseClient extends Calls<"reject"> {
  /** The same calls, but they resolve with their errors, fully typed. Defects and aborts still reject. */
  readonly safe: Calls<"safe">
}

type AnyMethod = (request: unknown) => Effect.Effect<unknown, Error>
type AnyCalls<A> = Record<string, Record<string, A>>

const mapMethods = <A, B>(calls: AnyCalls<A>, f: (method: A) => B): AnyCalls<B> =>
  Object.fromEntries(
    Object.entries(calls).map(([group, methods]) => [
      group,
      Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, f(method)]))
    ])
  )

const isResponse = (value: unknown): value is HttpClientResponse.HttpClientResponse =>
  Predicate.hasProperty(value, HttpClientResponse.TypeId)

const isStream = (value: unknown): value is Stream.Stream<unknown, Error> => Stream.isStream(value)

/** With fetch, there is always a `Response` behind it. A stream may call again while it is read, with the same fetch. */
const toValue = (value: unknown, context: Context.Context<never>, signal: AbortSignal | undefined): unknown => {
  if (isResponse(value)) return Option.getOrThrow(HttpClientResponse.toWeb(value))
  return isStream(value) ? Stream.toAsyncIterableWith(untilAborted(value, signal), context) : toPlain(value)
}

/** Fails with the reason of the signal. */
const untilAborted = <A>(stream: Stream.Stream<A, Error>, signal: AbortSignal | undefined): Stream.Stream<A, Error> =>
  signal === undefined
    ? stream
    : Stream.interruptWhen(
        stream,
        Effect.callback<never, Error>((resume) => {
          const fail = () => resume(Effect.fail(signal.reason as Error))
          if (signal.aborted) return fail()
          signal.addEventListener("abort", fail)
          return Effect.sync(() => signal.removeEventListener("abort", fail))
        })
      )

/** As JSON has it: a property that is undefined is none. What is no plain object or array stays as it is. */
const withoutUndefined = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, of]) => (of === undefined ? [] : [[key, withoutUndefined(of)]]))
  )
}

/** The methods of the vault take secret values as text. */
const withText =
  (method: AnyMethod): AnyMethod =>
  (request) =>
    typeof request === "object" && request !== null && "payload" in request
      ? method({ ...request, payload: redactBody(request.payload) })
      : method(request)

/**
 * A client for those who do not use Effect.
 *
 * ```ts
 * const client = createClient({ baseUrl, apiKey })
 * const { runs } = await client.testRuns.list({ params: { slug: "main" } })
 * ```
 */
export const createClient = (options: CreateClientOptions): PromiseClient => {
  const problem = optionsProblem(options, ["baseUrl", "apiKey", "deploymentToken", "fetch"])
  if (problem !== undefined) throw new TypeError(problem)
  const { fetch, ...others } = options
  const client = Effect.runSync(DeliveryClient.make(others).pipe(Effect.provide(FetchHttpClient.layer)))

  // There is no span around a call, and trace headers would cost a browser a preflight request.
  let context = Context.make(HttpClient.TracerDisabledWhen, () => true)
  if (fetch !== undefined) context = Context.add(context, FetchHttpClient.Fetch, fetch)
  const run = Effect.runPromiseExitWith(context)

  const outcome = async (
    method: AnyMethod,
    request: unknown,
    signal: AbortSignal | undefined
  ): Promise<CallResult<unknown, Error>> => {
    const exit = await run(method(withoutUndefined(request)), { signal })
    if (Exit.isSuccess(exit)) return { ok: true, value: toValue(exit.value, context, signal) }
    if (signal?.aborted === true && Cause.hasInterruptsOnly(exit.cause)) throw signal.reason
    const error = Cause.findError(exit.cause)
    if (Result.isFailure(error)) throw Cause.squash(exit.cause)
    return { ok: false, error: error.success }
  }

  const { vault, ...rest } = client as unknown as AnyCalls<AnyMethod> & Record<"vault", Record<string, AnyMethod>>
  const effects = { ...rest, ...mapMethods({ vault }, withText) }
  const safe = mapMethods(
    effects,
    (method) => (request?: object, options?: CallOptions) => outcome(method, request, options?.signal)
  )
  const calls = mapMethods(safe, (method) => async (request?: object, options?: CallOptions) => {
    const result = await method(request, options)
    if (result.ok) return result.value
    throw result.error
  })
  return { ...calls, safe } as unknown as PromiseClient
}
