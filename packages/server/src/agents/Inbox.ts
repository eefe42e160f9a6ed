import { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import {
  type AgentDecline,
  type AgentMessage,
  type CompleteMessage,
  type TakeMessages,
  unseenMillis
} from "@delivery/domain/agents/Message"
import { type Conflict, NotFound, Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { Stopping } from "../http/Stopping.ts"
import { type Access, actorOf } from "../access/Access.ts"
import { viewerOf } from "../planning/Visibility.ts"
import { Storage } from "../storage/Storage.ts"
import { asAgent } from "./AgentAuthentication.ts"
import { InboxWaits } from "./InboxWaits.ts"
import { Messages, shown } from "./Messages.ts"
import { MessagesRepo } from "./MessagesRepo.ts"
import { SignInsRepo } from "./SignInsRepo.ts"

type Reading = Caller | AgentCaller

/** What a signed-in agent does with its messages (contract, section 9). */
export class Inbox extends Context.Service<
  Inbox,
  {
    /** What is queued for the token's computer. */
    readonly list: Effect.Effect<ReadonlyArray<AgentMessage>, never, Reading>
    /**
     * The same; waits so many seconds for something to be there. `Unauthorized` as soon as the access token ends
     * meanwhile, whatever ended it and at whichever server.
     */
    readonly wait: (seconds: number) => Effect.Effect<ReadonlyArray<AgentMessage>, Unauthorized, Reading>
    /** How much is queued for the token's computer. */
    readonly count: Effect.Effect<number, never, Reading>
    readonly take: (input: TakeMessages) => Effect.Effect<ReadonlyArray<AgentMessage>, never, Reading>
    readonly get: (message: string) => Effect.Effect<AgentMessage, NotFound, Reading>
    readonly complete: (
      message: string,
      input: CompleteMessage
    ) => Effect.Effect<AgentMessage, NotFound | Conflict, Reading>
    readonly decline: (
      message: string,
      input: AgentDecline
    ) => Effect.Effect<AgentMessage, NotFound | Conflict, Reading>
  }
>()("@delivery/server/agents/Inbox") {
  static readonly layer = Layer.effect(
    Inbox,
    Effect.gen(function* () {
      const storage = yield* Storage
      const repo = yield* MessagesRepo
      const messages = yield* Messages
      const waits = yield* InboxWaits
      const stopping = yield* Stopping
      const signIns = yield* SignInsRepo

      const here = Effect.gen(function* () {
        const { principal } = yield* Caller
        const { agent, computer, workspace } = yield* AgentCaller
        const access: Access = { workspace, principal, actor: actorOf(principal) }
        const seenAfter = timestamp((yield* Clock.currentTimeMillis) - unseenMillis)
        return {
          access,
          viewer: viewerOf(access),
          inbox: { agentId: agent.id, computerId: computer?.id ?? null, seenAfter }
        }
      })

      /** The caller as it is now. */
      const hereAgain = Effect.gen(function* () {
        const { tokenHash } = yield* AgentCaller
        const found = yield* signIns.authenticate(tokenHash, timestamp(yield* Clock.currentTimeMillis))
        return found === undefined ? yield* Unauthorized.agent : yield* asAgent({ ...found, tokenHash })(here)
      })

      const end = Effect.fnUntraced(function* (id: string, status: "completed" | "declined", reply: string) {
        const { access, inbox, viewer } = yield* here
        const one = Effect.flatMap(repo.findOfAgent(viewer, inbox.agentId, id), (message) =>
          message === undefined ? Effect.fail(NotFound.of("message")) : Effect.succeed(message)
        )
        return yield* storage.transaction(
          Effect.gen(function* () {
            yield* messages.end(access, yield* one, status, reply)
            return shown(yield* one)
          })
        )
      })

      return Inbox.of({
        list: Effect.gen(function* () {
          const { inbox, viewer } = yield* here
          return (yield* repo.waiting(viewer, inbox)).map(shown)
        }).pipe(Effect.withSpan("Inbox.list")),

        wait: Effect.fn("Inbox.wait")(function* (seconds: number) {
          const until = (yield* Clock.currentTimeMillis) + seconds * 1_000
          const changed = yield* waits.begin((yield* AgentCaller).agent.id)
          // What ended the access before the wait began was not heard.
          let at = yield* seconds === 0 ? here : hereAgain
          while (true) {
            const found = yield* repo.waiting(at.viewer, at.inbox)
            const left = until - (yield* Clock.currentTimeMillis)
            if (found.length > 0 || left <= 0 || stopping.hasBegun()) return found.map(shown)
            if (yield* changed(left)) at = yield* hereAgain
          }
        }, Effect.scoped),

        count: Effect.flatMap(here, ({ inbox, viewer }) => repo.count(viewer, inbox)),

        take: Effect.fn("Inbox.take")(function* ({ limit = 1 }: TakeMessages) {
          const { inbox, viewer } = yield* here
          const at = timestamp(yield* Clock.currentTimeMillis)
          return (yield* repo.take(viewer, inbox, limit, at)).map(shown)
        }),

        get: Effect.fn("Inbox.get")(function* (id: string) {
          const { inbox, viewer } = yield* here
          const message = yield* repo.findOfAgent(viewer, inbox.agentId, id)
          return message === undefined ? yield* NotFound.of("message") : shown(message)
        }),

        complete: Effect.fn("Inbox.complete")((id: string, { reply }: CompleteMessage) => end(id, "completed", reply)),
        decline: Effect.fn("Inbox.decline")((id: string, { reason }: AgentDecline) => end(id, "declined", reason))
      })
    })
  )
}
