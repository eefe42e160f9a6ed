import type { Event } from "@delivery/domain/events/Event"
import { timestamp } from "@delivery/domain/Timestamp"
import type { WebhookAttempt } from "@delivery/domain/webhooks/Webhook"
import { Clock, Context, Effect, Layer, Metric, type Redacted } from "effect"
import type { ClientRequest, IncomingMessage } from "node:http"
import { Settings, version } from "../Config.ts"
import { addressOf, isPrivateUrl, OutgoingNetwork, requestTo } from "../http/OutgoingRequests.ts"
import { webhookTries } from "../telemetry/Metrics.ts"
import { DataKeys } from "../vault/DataKeys.ts"
import { bodyOf } from "./Bodies.ts"
import { signatureOf } from "./Signatures.ts"
import { slowAnswerMillis } from "./WebhookQueue.ts"
import type { WebhookRow } from "./WebhooksRepo.ts"

/** Milliseconds that a try may take, from the look-up of the host to the head of the answer. */
const tryMillis = 10_000

/** How much of an answer is read, in bytes, and for how long after its head: so that who answers is not cut off. */
const maxAnswerBytes = 64 * 1024
const answerMillis = 1_000

/** What a try came to. */
export interface TryResult {
  readonly attempt: WebhookAttempt
  readonly isDelivered: boolean
  /** Whether the try took long, with what was read of the answer's body. */
  readonly isSlow: boolean
}

/** Sends an event to a webhook, once (docs/contract.md, Webhooks). */
export class Tries extends Context.Service<
  Tries,
  {
    /** Why a webhook cannot have this URL; undefined where it can. */
    readonly refusalOf: (url: string) => string | undefined
    /**
     * One try. It never fails: what went wrong is its result.
     *
     * @param id The header `webhook-id`.
     */
    readonly send: (webhook: SentWebhook, id: string, event: Event) => Effect.Effect<TryResult>
  }
>()("@delivery/server/webhooks/Tries") {
  static readonly layer = Layer.effect(Tries, Effect.gen(make))
}

type SentWebhook = Pick<
  WebhookRow,
  "id" | "workspaceId" | "url" | "format" | "secret" | "previousSecret" | "previousUntil"
>

interface Dependencies {
  readonly isPrivateAllowed: boolean
  readonly keys: DataKeys["Service"]
  readonly network: OutgoingNetwork
}

function* make() {
  const dependencies: Dependencies = {
    isPrivateAllowed: (yield* Settings).webhooks.isPrivateAllowed,
    keys: yield* DataKeys,
    network: yield* OutgoingNetwork
  }
  return Tries.of({ refusalOf: refusalOf(dependencies), send: send(dependencies) })
}

const refusalOf =
  ({ isPrivateAllowed }: Dependencies) =>
  (text: string): string | undefined => {
    const url = new URL(text)
    if (url.username !== "" || url.password !== "") return "Expected a URL without user and password"
    if (isPrivateAllowed) return undefined
    if (url.protocol !== "https:") return "Expected an https URL"
    return isPrivateUrl(url) ? "Expected an address of the public internet" : undefined
  }

/** The purpose that the secret of a webhook is sealed for. */
export const secretPurpose = (id: string): string => `webhook:${id}`

type Failure = "private_address" | "not_https" | "unknown_host" | "connection_failed" | "invalid_answer" | "timeout"

const send = (dependencies: Dependencies): Tries["Service"]["send"] =>
  Effect.fnUntraced(function* (webhook, id, event) {
    const secrets = yield* secretsOf(dependencies, webhook)
    const began = yield* Clock.currentTimeMillis
    const body = bodyOf(webhook.format, event)
    const seconds = Math.floor(began / 1_000)
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "user-agent": `delivery-webhooks/${version}`,
      "webhook-id": id,
      "webhook-timestamp": seconds,
      "webhook-signature": signatureOf(secrets, { id, timestamp: seconds, body }),
      connection: "close"
    }
    let answered = began
    const onHead = Effect.map(Clock.currentTimeMillis, (now) => void (answered = now))
    const { error, status } = yield* post(dependencies, new URL(webhook.url), headers, body, onHead).pipe(
      Effect.map((status) => ({ status, error: null })),
      Effect.catch((error) => Effect.as(onHead, { status: null, error }))
    )
    const isDelivered = status !== null && status >= 200 && status < 300
    yield* Metric.update(webhookTries(isDelivered ? "delivered" : "failed"), 1)
    const took = (yield* Clock.currentTimeMillis) - began
    return {
      attempt: { at: timestamp(began), status, error, durationMs: Math.max(0, answered - began) },
      isDelivered,
      isSlow: took >= slowAnswerMillis
    }
  })

/** The secrets that sign now, the newest first. */
const secretsOf = ({ keys }: Dependencies, webhook: SentWebhook): Effect.Effect<ReadonlyArray<Redacted.Redacted>> =>
  Effect.gen(function* () {
    const cipher = yield* keys.cipher(webhook.workspaceId)
    const now = timestamp(yield* Clock.currentTimeMillis)
    const { previousSecret, previousUntil, secret } = webhook
    const sealed = previousSecret !== null && previousUntil! > now ? [secret, previousSecret] : [secret]
    return yield* Effect.forEach(sealed, (one) => cipher.open(secretPurpose(webhook.id), one))
  })

/** The status of the answer, once its head came and a part of its body was read. */
const post = (
  { isPrivateAllowed, network }: Dependencies,
  url: URL,
  headers: Readonly<Record<string, string | number>>,
  body: string,
  onHead: Effect.Effect<void>
): Effect.Effect<number, Failure> =>
  Effect.gen(function* () {
    const response = yield* Effect.gen(function* () {
      // The setting may have been another when the webhook was made.
      if (!isPrivateAllowed && url.protocol !== "https:") return yield* Effect.fail("not_https" as const)
      if (!isPrivateAllowed && isPrivateUrl(url)) return yield* Effect.fail("private_address" as const)
      const address = yield* addressOf(network, url, { isPrivateAllowed })
      const outgoing = yield* Effect.acquireRelease(
        Effect.sync(() => requestTo(network, url, address, { method: "POST", headers })),
        (outgoing) => Effect.sync(() => outgoing.destroy())
      )
      return yield* answerOf(outgoing, body)
    }).pipe(Effect.timeoutOrElse({ duration: tryMillis, orElse: () => Effect.fail("timeout" as const) }))
    yield* onHead
    yield* Effect.timeoutOption(readSome(response), answerMillis)
    return response.statusCode!
  }).pipe(Effect.scoped)

/** The answer, whose body is yet to be read. */
const answerOf = (outgoing: ClientRequest, body: string) =>
  Effect.callback<IncomingMessage, Failure>((resume) => {
    // Also of what comes after the answer: it is no longer asked for.
    outgoing.on("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(error.code?.startsWith("HPE_") === true ? "invalid_answer" : "connection_failed"))
    )
    const answered = (response: IncomingMessage) => {
      response.on("error", () => {})
      resume(Effect.succeed(response))
    }
    outgoing.on("response", answered)
    // An answer that asks for another protocol is one like others.
    outgoing.on("upgrade", (response, socket) => {
      socket.destroy()
      answered(response)
    })
    outgoing.end(body)
  })

/** Reads the body until it ends, or is larger than what is read. */
const readSome = (response: IncomingMessage) =>
  Effect.callback<void>((resume) => {
    let size = 0
    const done = () => resume(Effect.void)
    response.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > maxAnswerBytes) done()
    })
    response.on("end", done)
    response.on("close", done)
  })
