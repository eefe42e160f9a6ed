import { DeliveryApi } from "@delivery/domain/Api"
import { AgentAuthorization } from "@delivery/domain/agents/AgentAuthorization"
import { DeployAuthorization } from "@delivery/domain/deploy/DeployAuthorization"
import { Authorization, OptionalAuthorization } from "@delivery/domain/identity/Authorization"
import { RunAuthorization } from "@delivery/domain/runs/RunAuthorization"
import { Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import {
  type HttpApi,
  HttpApiClient,
  type HttpApiEndpoint,
  type HttpApiGroup,
  HttpApiMiddleware
} from "effect/http-api"
import { type AuditCalls, makeAudit } from "./Audit.ts"
import { noting, withCall } from "./Calls.ts"
import { sendWith } from "./Credential.ts"
import { type DeployCalls, makeDeploy } from "./Deploy.ts"
import { type EventCalls, makeEvents } from "./Events.ts"
import { type AttachmentFiles, type Files, makeAttachments, makeFiles } from "./Files.ts"
import { requestProblem } from "./RequestProblem.ts"
import { type ClientOptions, optionsProblem } from "./Options.ts"

const redacted = (token: string | Redacted.Redacted | null | undefined) =>
  typeof token === "string" ? Redacted.make(token) : (token ?? undefined)

type Api = HttpApiClient.ForApi<typeof DeliveryApi>

type Groups = typeof DeliveryApi extends HttpApi.HttpApi<infer _Id, infer Groups> ? Groups : never

type Keyed<Key extends string, Value> = [Value] extends [never]
  ? unknown
  : Partial<Value> extends Value
    ? { readonly [K in Key]?: Value }
    : { readonly [K in Key]: Value }

/** `params`, `query`, `headers` and `payload` as the endpoint declares them. What has no required fields may be left out. */
type RequestOf<E extends HttpApiEndpoint.ConstraintRequest> = Keyed<"params", E["~Params"]["Type"]> &
  Keyed<"query", E["~Query"]["Type"]> &
  Keyed<"headers", E["~Headers"]["Type"]> &
  Keyed<"payload", E["~Payload"]["Type"]>

type WithMode<Request, Mode> = { readonly [K in keyof Request]: Request[K] } & { readonly responseMode?: Mode }

type Method<E> = E extends HttpApiEndpoint.Top
  ? <Mode extends HttpApiClient.Client.ResponseMode = "decoded-only">(
      ...args: Partial<RequestOf<E>> extends RequestOf<E>
        ? [request?: WithMode<RequestOf<E>, Mode>]
        : [request: WithMode<RequestOf<E>, Mode>]
    ) => HttpApiClient.Client.MethodReturn<E, never, never, Mode, never>
  : never

type Derived = {
  readonly [G in Groups as HttpApiGroup.Identifier<G>]: {
    readonly [K in keyof G["endpoints"]]: Method<G["endpoints"][K]>
  }
}

type AgentGroup = "agent" | "agentInbox" | "agentPlanning"

/** What takes the cookie of a browser instead of a key. */
type BrowserGroup = "auth" | "authorizations"

/** What the command line calls of its sign-in; the rest is for the browser. */
type LoginCalls = Pick<Derived["logins"], "start" | "redeem">

/** The groups that the clients do not have as they are derived. */
export type OtherGroup =
  | "attachments"
  | "testRuns"
  | "leases"
  | "audit"
  | "deploy"
  | "events"
  | "logins"
  | "oauth"
  | AgentGroup
  | BrowserGroup

/**
 * Every group of the API with its endpoints. `files` replaces the two endpoints of runs that carry bytes, and those of `attachments` take a `Blob`;
 * `audit` and `deploy` those that have two answers, and `events` follows a stream over its connections. Leases need the token of a
 * run: see `makeSemaphores`. The calls of agents are left out, because they need an access token, and so are signing in
 * and consent, which are for browsers.
 */
export interface DeliveryClientShape extends Omit<Derived, OtherGroup> {
  readonly logins: LoginCalls
  readonly oauth: Omit<Derived["oauth"], "authorize">
  readonly testRuns: Omit<Derived["testRuns"], "upload" | "download">
  readonly files: Files
  readonly attachments: Omit<Derived["attachments"], keyof AttachmentFiles> & AttachmentFiles
  readonly audit: AuditCalls
  readonly deploy: DeployCalls
  readonly events: EventCalls
}

/**
 * The client as an Effect service, derived from the API. A call fails with the errors that its endpoint declares, with
 * `HttpClientError` if there is no answer or an undeclared one, and with `SchemaError` if the request or the answer does
 * not match its schema. `callOf(error)` says which request failed.
 */
export class DeliveryClient extends Context.Service<DeliveryClient, DeliveryClientShape>()(
  "@delivery/client/DeliveryClient"
) {
  /** A client over the `HttpClient` in context, which may retry, log or trace. `files.upload` needs one that uses fetch. */
  static readonly make = (options: ClientOptions): Effect.Effect<DeliveryClientShape, never, HttpClient.HttpClient> =>
    Effect.gen(function* () {
      const problem = optionsProblem(options)
      if (problem !== undefined) return yield* Effect.die(new TypeError(problem))
      const baseUrl = options.baseUrl.toString()
      const sendWithKey = sendWith(redacted(options.apiKey))
      const sendWithToken = sendWith(redacted(options.deploymentToken))
      const middleware = Layer.mergeAll(
        HttpApiMiddleware.layerClient(Authorization, ({ next, request }) => sendWithKey(request, next)),
        HttpApiMiddleware.layerClient(OptionalAuthorization, ({ next, request }) => sendWithKey(request, next)),
        HttpApiMiddleware.layerClient(DeployAuthorization, ({ next, request }) => sendWithToken(request, next)),
        HttpApiMiddleware.layerClient(RunAuthorization, ({ next, request }) => next(request)),
        HttpApiMiddleware.layerClient(AgentAuthorization, ({ next, request }) => next(request))
      )
      const http = noting(yield* HttpClient.HttpClient)
      const api: Api = yield* HttpApiClient.makeWith(DeliveryApi, { baseUrl, httpClient: http }).pipe(
        Effect.provide(middleware)
      )
      const auditLines = yield* HttpApiClient.endpoint(DeliveryApi, {
        group: "audit",
        endpoint: "list",
        baseUrl,
        httpClient: HttpClient.mapRequest(http, HttpClientRequest.accept("application/x-ndjson"))
      }).pipe(Effect.provide(middleware))
      const upload = (request: HttpClientRequest.HttpClientRequest) =>
        sendWithKey(HttpClientRequest.prependUrl(request, baseUrl), http.execute)
      const {
        agent: _,
        agentInbox: __,
        agentPlanning: ___,
        attachments: ofTickets,
        audit,
        auth: ______,
        authorizations: _______,
        deploy,
        events,
        logins: { redeem, start },
        oauth: agentSignIns,
        leases: ____,
        testRuns: runs,
        ...groups
      } = api
      const { download, upload: _____, ...testRuns } = runs
      const { download: downloadAttachment, upload: _________, ...attachments } = ofTickets
      const { authorize: ________, ...oauth } = agentSignIns
      return telling({
        ...derived({ ...groups, logins: { start, redeem }, oauth, testRuns }),
        files: makeFiles(upload, download),
        attachments: { ...derived({ attachments })["attachments"], ...makeAttachments(upload, downloadAttachment) },
        audit: makeAudit(audit.list, auditLines),
        deploy: makeDeploy(deploy),
        events: makeEvents(events)
      }) as unknown as DeliveryClientShape
    })

  /** A client that uses the fetch of the platform. */
  static readonly layer = (options: ClientOptions): Layer.Layer<DeliveryClient> =>
    Layer.effect(DeliveryClient, DeliveryClient.make(options)).pipe(Layer.provide(FetchHttpClient.layer))
}

type AnyMethod = (request?: unknown) => Effect.Effect<unknown, Error>
type AnyCalls = Readonly<Record<string, Readonly<Record<string, AnyMethod>>>>

const mapMethods = (calls: object, f: (method: AnyMethod, name: string) => AnyMethod): AnyCalls =>
  Object.fromEntries(
    Object.entries(calls as AnyCalls).map(([group, methods]) => [
      group,
      Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, f(method, `${group}.${name}`)]))
    ])
  )

/** What has no required fields may be left out, and what no call takes is refused. */
const derived = (calls: object) =>
  mapMethods(calls, (method, name) => (request) => {
    const problem = requestProblem(name, request)
    if (problem !== undefined) return Effect.die(new TypeError(problem))
    return method({ query: {}, headers: {}, payload: {}, ...(request as object | undefined) })
  })

const telling = (calls: object) => mapMethods(calls, (method) => (request) => withCall(method(request)))
