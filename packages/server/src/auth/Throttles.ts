import { Conflict, Forbidden, TooManyRequests } from "@delivery/domain/Errors"
import type { WorkspaceId } from "@delivery/domain/Ids"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import type { ActorRef } from "../access/Access.ts"
import { networkOf } from "../http/RateLimits.ts"
import { hashToken } from "../ids/Tokens.ts"
import { type Counted, ThrottlesRepo } from "./ThrottlesRepo.ts"

const windowMillis = 60 * 60 * 1000

/** How many failed proofs one network address may send in an hour. */
const maxFailures = 20

/** How many mails one network address may ask for in an hour that are not used. */
const maxAsked = 20

/** How many mails one address may be sent in an hour because of one network address or workspace. */
const maxMails = 5

/** How many mails one address may be sent in an hour, whoever causes them. More than `maxMails`: a stranger alone must not use up all. */
const maxMailsOfAll = 20

/** How many invites one person may have mailed in an hour, to all addresses and from all workspaces. */
const maxInvites = 100

/** How many sign-ins of one kind that keep something may begin at one network address in an hour. */
const maxBegun = 600

/** How many logins of the command line may begin at one network address in an hour. */
const maxLogins = 20

/** Over a limit. It says in how many seconds another attempt may succeed. */
export interface Throttled {
  readonly _tag: "Throttled"
  readonly retryAfter: number
  /** What there is too much of; attempts if absent. */
  readonly of?: "attempts" | "asked" | "begun" | "invited" | "invites" | "logins" | "mails" | "work"
}

/** What may be tried only so often in an hour, counted for all servers together (docs/contract.md, Sessions). */
export class Throttles extends Context.Service<
  Throttles,
  {
    /**
     * Runs a proof that can be guessed, a code, unless 20 proofs of the same network address failed in this hour. One that
     * is running counts like one that failed, so that many at once do not get through; one that is right does not count.
     */
    readonly guess: <A, E, R>(address: string, proof: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Throttled, R>
    /**
     * Runs a proof that nobody can guess, such as a link or a passkey: it is never refused where it is right. One that fails
     * counts, and is `Throttled` after 20 others.
     */
    readonly prove: <A, E, R>(address: string, proof: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Throttled, R>
    /** Counts a proof of the network address that failed. */
    readonly failed: (address: string) => Effect.Effect<void, Throttled>
    /**
     * Counts a mail that is asked for, whoever has the address: at most 20 an hour from one network address, and to one
     * address 5 from one network address and 20 in all. Answers what is given back if the mail is used.
     */
    readonly mail: (from: string, to: string) => Effect.Effect<Counted, Throttled>
    /** The same for a mail that the person of a session asks for, to themselves: strangers do not use it up. */
    readonly ownMail: (from: string, to: string) => Effect.Effect<Counted, Throttled>
    /** Gives back what was counted of something that worked after all. */
    readonly giveBack: (counted: Counted) => Effect.Effect<void>
    /**
     * Counts an invite that is mailed: in an hour at most 5 of one workspace to one address, and 20 in all, and at most 100 by
     * one person. Signing in is left what it has.
     */
    readonly invite: (workspaceId: WorkspaceId, to: string, by: ActorRef) => Effect.Effect<void, Throttled>
    /** Counts a sign-in of this kind that begins at the network address, at most 600 an hour. */
    readonly begin: (kind: "sign-ins" | "passkeys", address: string) => Effect.Effect<void, Throttled>
    /** Counts a login of the command line that begins at the network address, at most 20 an hour. */
    readonly login: (address: string) => Effect.Effect<void, Throttled>
    /** Counts one more for the subject: fails where it is more than `limit` in this hour. */
    readonly take: (subject: string, limit: number) => Effect.Effect<Counted, Throttled>
  }
>()("@delivery/server/auth/Throttles") {
  static readonly layer = Layer.effect(
    Throttles,
    Effect.map(ThrottlesRepo, (repo) => {
      const take = Effect.fn("Throttles.take")(function* (subject: string, limit: number) {
        const now = yield* Clock.currentTimeMillis
        const counter = yield* repo.count(subject, limit, timestamp(now), timestamp(now - windowMillis))
        if (counter.isCounted) return counter
        const millis = Date.parse(counter.startedAt) + windowMillis - now
        return yield* Effect.fail<Throttled>({ _tag: "Throttled", retryAfter: Math.max(1, Math.ceil(millis / 1000)) })
      })
      const takeFailure = (address: string) => take(`failed proofs of ${networkOf(address)}`, maxFailures)
      const takeAsked = (address: string) =>
        Effect.mapError(take(`mails asked for by ${networkOf(address)}`, maxAsked), (over) => ({
          ...over,
          of: "asked" as const
        }))
      // Who asks for a mail may type anybody's address: it is not kept.
      const takeMail = (kind: string, to: string, by: string, of: Throttled["of"] = "mails") => {
        const subject = `${kind} to ${hashToken(to)}`
        return take(`${subject} by ${by}`, maxMails).pipe(
          Effect.flatMap((counted) => Effect.tapError(take(subject, maxMailsOfAll), () => repo.giveBack(counted))),
          Effect.mapError((over) => ({ ...over, of })),
          Effect.asVoid
        )
      }
      // Where the address has had its mails, none is sent.
      const mail = (kind: string) => (from: string, to: string) =>
        Effect.tap(takeAsked(from), (counted) =>
          Effect.tapError(takeMail(kind, to, networkOf(from)), () => repo.giveBack(counted))
        )
      return Throttles.of({
        take,
        begin: (kind, address) =>
          Effect.asVoid(
            Effect.mapError(take(`${kind} begun by ${networkOf(address)}`, maxBegun), (over) => ({
              ...over,
              of: "begun" as const
            }))
          ),
        login: (address) =>
          Effect.asVoid(
            Effect.mapError(take(`logins begun by ${networkOf(address)}`, maxLogins), (over) => ({
              ...over,
              of: "logins" as const
            }))
          ),
        giveBack: repo.giveBack,
        mail: mail("mails"),
        ownMail: mail("own mails"),
        invite: (workspaceId, to, { id, kind }) =>
          take(`invites mailed by ${kind} ${id}`, maxInvites).pipe(
            Effect.mapError((over) => ({ ...over, of: "invites" as const })),
            Effect.flatMap((counted) =>
              Effect.tapError(takeMail("invites", to, workspaceId, "invited"), () => repo.giveBack(counted))
            )
          ),
        failed: (address) => Effect.asVoid(takeFailure(address)),
        guess: (address, proof) =>
          Effect.flatMap(takeFailure(address), (counted) =>
            proof.pipe(
              Effect.tap(() => repo.giveBack(counted)),
              Effect.tapError((error) => (isWrong(error) ? Effect.void : repo.giveBack(counted)))
            )
          ),
        prove: (address, proof) =>
          Effect.tapError(proof, (error) => (isWrong(error) ? takeFailure(address) : Effect.void))
      })
    })
  )
}

/** Whether a proof was wrong, rather than right and of no use here. */
const isWrong = (error: unknown): boolean => !(error instanceof Forbidden || error instanceof Conflict)

const limits = {
  attempts: `Too many attempts failed: at most ${maxFailures} in an hour from one network address.`,
  asked: `Too many mails were asked for and not used: at most ${maxAsked} in an hour from one network address.`,
  invited: `Too many invites to this address: in an hour at most ${maxMails} of one workspace, and ${maxMailsOfAll} in all.`,
  invites: `Too many invites: in an hour at most ${maxInvites} by one person.`,
  begun: `Too many sign-ins were begun: at most ${maxBegun} in an hour from one network address.`,
  logins: `Too many sign-ins of command lines: at most ${maxLogins} in an hour from one network address.`,
  mails: `Too many mails: in an hour at most ${maxMails} to one address from one network address, and ${maxMailsOfAll} in all.`,
  work: "The server has too many mails to send."
}

/** What there is too much of, in a sentence. */
export const reasonOf = ({ of = "attempts" }: Throttled): string => limits[of]

/** The server has too many mails to send. */
export const tooMuchMail: Throttled = { _tag: "Throttled", retryAfter: 60, of: "work" }

export const tooManyAttempts = (over: Throttled): TooManyRequests =>
  new TooManyRequests({ message: `${reasonOf(over)} Try again in ${over.retryAfter} s.` })
