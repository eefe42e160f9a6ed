import { DeliveryApi } from "@delivery/domain/Api"
import { AgentAuthorization } from "@delivery/domain/agents/AgentAuthorization"
import { DeployAuthorization } from "@delivery/domain/deploy/DeployAuthorization"
import { Authorization, OptionalAuthorization } from "@delivery/domain/identity/Authorization"
import { RunAuthorization } from "@delivery/domain/runs/RunAuthorization"
import { Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { type AuditCalls, makeAudit } from "./Audit.ts"
import { sendWith } from "./Credential.ts"
import { type DeployCalls, makeDeploy } from "./Deploy.ts"
import { type EventCalls, makeEvents } from "./Events.ts"
import { type Files, makeFiles } from "./Files.ts"

/** Where the service is, and who calls it. */
export interface ClientOptions {
  /** The address of the service, such as `https://delivery.example.com`. Anything but an http(s) URL is a defect. */
  readonly baseUrl: string | URL
  /** An API key (`ctk_...`) of a person or of a workspace. Without one, all is refused but what needs none, such as an invite that makes a new person. */
  readonly apiKey?: string | Redacted.Redacted | undefined
  /** The token of a deployment (`dtk_...`), for the calls of `deploy`. A product that reads its own secrets needs no key beside it. */
  readonly deploymentToken?: string | Redacted.Redacted | undefined
}

const redacted = (token: string | Redacted.Redacted | undefined) =>
  typeof token === "string" ? Redacted.make(token) : token

type Api = HttpApiClient.ForApi<typeof DeliveryApi>

type AgentGroup = "agent" | "agentInbox" | "agentPlanning"

/** What takes the cookie of a browser instead of a key. */
type BrowserGroup = "auth" | "authorizations"

/** The groups that the clients do not have as they are derived. */
export type OtherGroup = "testRuns" | "leases" | "audit" | "deploy" | "events" | "oauth" | AgentGroup | BrowserGroup

/**
 * Every group of the API with its endpoints. `files` replaces the two endpoints that carry bytes,
 * `audit` and `deploy` those that have two answers, and `events` follows a stream over its connections. Leases need the token of a
 * run: see `makeSemaphores`. The calls of agents are left out, because they need an access token, and so are signing in
 * and consent, which are for browsers.
 */
export interface DeliveryClientShape extends Omit<Api, OtherGroup> {
  readonly oauth: Omit<Api["oauth"], "authorize">
  readonly testRuns: Omit<Api["testRuns"], "upload" | "download">
  readonly files: Files
  readonly audit: AuditCalls
  readonly deploy: DeployCalls
  readonly events: EventCalls
}

/**
 * The client as an Effect service, derived from the API. A call fails with the errors that its endpoint declares, with
 * `HttpClientError` if there is no answer or an undeclared one, and with `SchemaError` if the request or the answer does
 * not match its schema.
 */
export class DeliveryClient extends Context.Service<DeliveryClient, DeliveryClientShape>()(
  "@delivery/client/DeliveryClient"
) {
  /** A client over the `HttpClient` in context, which may retry, log or trace. `files.upload` needs one that uses fetch. */
  static readonly make = (options: ClientOptions): Effect.Effect<DeliveryClientShape, never, HttpClient.HttpClient> =>
    Effect.gen(function* () {
      const baseUrl = options.baseUrl.toString()
      if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl)) {
        return yield* Effect.die(new TypeError(`baseUrl: Expected an absolute http(s) URL, not "${baseUrl}"`))
      }
      const sendWithKey = sendWith(redacted(options.apiKey))
      const sendWithToken = sendWith(redacted(options.deploymentToken))
      const middleware = Layer.mergeAll(
        HttpApiMiddleware.layerClient(Authorization, ({ next, request }) => sendWithKey(request, next)),
        HttpApiMiddleware.layerClient(OptionalAuthorization, ({ next, request }) => sendWithKey(request, next)),
        HttpApiMiddleware.layerClient(DeployAuthorization, ({ next, request }) => sendWithToken(request, next)),
        HttpApiMiddleware.layerClient(RunAuthorization, ({ next, request }) => next(request)),
        HttpApiMiddleware.layerClient(AgentAuthorization, ({ next, request }) => next(request))
      )
      const api: Api = yield* HttpApiClient.make(DeliveryApi, { baseUrl }).pipe(Effect.provide(middleware))
      const http = yield* HttpClient.HttpClient
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
        audit,
        auth: ______,
        authorizations: _______,
        deploy,
        events,
        oauth: agentSignIns,
        leases: ____,
        testRuns: runs,
        ...groups
      } = api
      const { download, upload: _____, ...testRuns } = runs
      const { authorize: ________, ...oauth } = agentSignIns
      return {
        ...groups,
        oauth,
        testRuns,
        files: makeFiles(upload, download),
        audit: makeAudit(audit.list, auditLines),
        deploy: makeDeploy(deploy),
        events: makeEvents(events)
      }
    })

  /** A client that uses the fetch of the platform. */
  static readonly layer = (options: ClientOptions): Layer.Layer<DeliveryClient> =>
    Layer.effect(DeliveryClient, DeliveryClient.make(options)).pipe(Layer.provide(FetchHttpClient.layer))
}
