import { Cause, Context, Data, Effect, FiberSet, Layer, Option, Redacted, Schedule, Semaphore } from "effect"
import { setImmediate } from "node:timers/promises"
import type { NodemailerError } from "nodemailer"
import { Settings } from "../Config.ts"
import type { MailSettings } from "../MailSettings.ts"
import { makeReports, type Reports } from "../telemetry/Background.ts"
import type { Letter } from "./Letters.ts"

/**
 * Invites have places of their own, for anybody may have many mailed: signing in does not wait for them. How many mails may be
 * under way, of which more are refused, and how many are written and sent at once.
 */
const lanes = {
  signIns: { mostUnderWay: 1000, mostAtOnce: 4 },
  invites: { mostUnderWay: 500, mostAtOnce: 2 }
}

export type Lane = keyof typeof lanes

/** After 1, 4, 16 and 64 seconds. */
const attempts = { schedule: Schedule.exponential("1 second", 4), times: 4 } as const

/** Why a mail was not sent: never to whom, nor what a mail server said, which repeats it. */
class MailFailure extends Data.TaggedError("MailFailure")<{ readonly message: string; readonly mayPass: boolean }> {}

/**
 * Sends mail apart from requests. What is under way is in the memory of this process alone: a crash loses it, and so does a stop
 * that comes before the mail server took it, and people ask again. Storing it would store tokens.
 */
export class Outbox extends Context.Service<
  Outbox,
  {
    /** Whether the settings name a mail server. */
    readonly isSet: boolean
    /**
     * Has a letter written and sent, unless there is none; a failure is reported, without what was to be sent. Answers at
     * once; false where too much is under way, or no mail server is set.
     */
    readonly post: (write: Effect.Effect<Letter | undefined>, lane?: Lane) => Effect.Effect<boolean>
    /** Whether another one would be taken now. */
    readonly hasRoom: (lane: Lane) => Effect.Effect<boolean>
  }
>()("@delivery/server/auth/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const { mail } = yield* Settings
      return Option.isNone(mail)
        ? Outbox.of({ isSet: false, post: () => Effect.succeed(false), hasRoom: () => Effect.succeed(false) })
        : Outbox.of({ isSet: true, ...(yield* makePost(mail.value)) })
    })
  )
}

const makePost = Effect.fnUntraced(function* (settings: MailSettings) {
  const send = yield* makeSend(settings)
  const reports = yield* makeReports("mail", "A mail could not be sent.")
  const made = {
    signIns: yield* makeLane(lanes.signIns, send, reports),
    invites: yield* makeLane(lanes.invites, send, reports)
  }
  return {
    post: (write: Effect.Effect<Letter | undefined>, lane: Lane = "signIns") => made[lane].post(write),
    hasRoom: (lane: Lane) => made[lane].hasRoom
  }
})

const makeLane = Effect.fnUntraced(function* (
  { mostAtOnce, mostUnderWay }: (typeof lanes)[Lane],
  send: Effect.Success<ReturnType<typeof makeSend>>,
  { failed, succeeded }: Reports
) {
  const turns = yield* Semaphore.make(mostAtOnce)
  const underWay = yield* FiberSet.make<void>()
  // In the context of this layer: a request's has its transaction.
  const fork = yield* FiberSet.runtime(underWay)()
  yield* Effect.addFinalizer(() => Effect.timeoutOption(turns.withPermits(mostAtOnce)(Effect.void), "5 seconds"))
  const deliver = (write: Effect.Effect<Letter | undefined>) =>
    Effect.gen(function* () {
      // The request that asked for it is answered first, however long this takes.
      yield* Effect.promise(() => setImmediate())
      const letter = yield* turns.withPermits(1)(write)
      if (letter === undefined) return
      yield* Effect.retry(turns.withPermits(1)(send(letter)), { ...attempts, while: ({ mayPass }) => mayPass })
      yield* succeeded
    }).pipe(Effect.matchCauseEffect({ onSuccess: () => Effect.void, onFailure: failed }))
  const hasRoom = Effect.map(FiberSet.size(underWay), (size) => size < mostUnderWay)
  const post = Effect.fnUntraced(function* (write: Effect.Effect<Letter | undefined>) {
    if (!(yield* hasRoom)) {
      yield* failed(Cause.fail(new MailFailure({ message: "Too many mails are under way.", mayPass: true })))
      return false
    }
    fork(deliver(write))
    return true
  })
  return { post, hasRoom }
})

const makeSend = Effect.fnUntraced(function* (settings: MailSettings) {
  const { from, login } = settings
  // Only a server that sends mail needs it.
  const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
  const transport = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createTransport({
        pool: true,
        maxConnections: lanes.signIns.mostAtOnce + lanes.invites.mostAtOnce,
        idleTimeout: 30_000,
        host: settings.host,
        ...(settings.port === undefined ? {} : { port: settings.port }),
        secure: settings.secure,
        requireTLS: settings.requireTls,
        ignoreTLS: settings.ignoreTls,
        tls: { rejectUnauthorized: settings.checkCertificate },
        ...(Option.isNone(login)
          ? {}
          : { auth: { user: login.value.user, pass: Redacted.value(login.value.password) } }),
        dnsTimeout: 10_000,
        connectionTimeout: 10_000,
        greetingTimeout: 10_000,
        socketTimeout: 30_000,
        // What it would log has addresses and tokens.
        logger: false,
        disableFileAccess: true,
        disableUrlAccess: true
      })
    ),
    (transport) => Effect.sync(() => transport.close({ force: true }))
  )
  return ({ html, subject, text, to }: Letter) =>
    Effect.tryPromise({
      try: (signal) =>
        transport.sendMail({
          from,
          to: { name: "", address: to },
          subject,
          text,
          html,
          headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
          signal
        }),
      catch: failureOf
    })
})

/** Where the mail server, or the way to it, may be better the next time. */
const passing = new Set(["ECONNECTION", "ETIMEDOUT", "ESOCKET", "EDNS", "ETLS", "EPROTOCOL", "EMAXLIMIT"])

const failureOf = (error: unknown): MailFailure => {
  const { code = "unknown", permanent, responseCode } = error as NodemailerError
  const said = responseCode === undefined ? "" : `, status ${responseCode}`
  return new MailFailure({
    message: `The mail server did not take it (${/^[A-Z0-9_]{1,30}$/.test(code) ? code : "unknown"}${said}).`,
    mayPass: permanent === undefined ? passing.has(code) : !permanent
  })
}
