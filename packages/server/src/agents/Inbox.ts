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
import { viewerOf } from "../planning/Viewer.ts"
import { TicketsRepo } from "../planning/TicketsRepo.ts"
import { TestRunsRepo } from "../runs/TestRunsRepo.ts"
import { Storage } from "../storage/Storage.ts"
import { asAgent } from "./AgentAuthentication.ts"
import { InboxWaits } from "./InboxWaits.ts"
import { Messages, present } from "./Messages.ts"
import { MessagesRepo } from "./MessagesRepo.ts"
import { SignInsRepo } from "./SignInsRepo.ts"

type Reading = Caller | AgentCaller

/** What a signed-in agent does with its messages (docs/contract.md, Agent API). */
export class Inbox extends Context.Service<
  Inbox,
  {
    /** The messages that are queued for the token's computer. */
    readonly list: Effect.Effect<ReadonlyArray<AgentMessage>, never, Reading>
    /**
     * Like `list`, but waits up to so many seconds for a message. `Unauthorized` as soon as the access token ends,
     * whatever ended it and at whichever server.
     */
    readonly wait: (seconds: number) => Effect.Effect<ReadonlyArray<AgentMessage>, Unauthorized, Reading>
    /** The number of messages that are queued for the token's computer. */
    readonly count: Effect.Effect<number, never, Reading>
    readonly take: (input: TakeMessages) => Effect.Effect<ReadonlyArray<AgentMessage>, never, Reading>
    readonly get: (message: string) => Effect.Effect<AgentMessage, NotFound, Reading>
    readonly complete: (
      message: string,
      input: CompleteMessage
    ) => Effect.Effect<AgentMessage, NotFound | Conflict, Reading>
    /** What the run that a reply names does not show, for the agent that named it. */
    readonly doubts: (message: AgentMessage) => Effect.Effect<ReadonlyArray<string>, never, Reading>
    readonly decline: (
      message: string,
      input: AgentDecline
    ) => Effect.Effect<AgentMessage, NotFound | Conflict, Reading>
  }
>()("@delivery/server/agents/Inbox") {
  static readonly layer = Layer.effect(Inbox, Effect.gen(make))
}

interface Dependencies {
  readonly repo: MessagesRepo["Service"]
  readonly runs: TestRunsRepo["Service"]
  readonly tickets: TicketsRepo["Service"]
  readonly messages: Messages["Service"]
  readonly signIns: SignInsRepo["Service"]
  readonly waits: InboxWaits["Service"]
  readonly stopping: Stopping["Service"]
  readonly storage: Storage["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* MessagesRepo,
    runs: yield* TestRunsRepo,
    tickets: yield* TicketsRepo,
    messages: yield* Messages,
    signIns: yield* SignInsRepo,
    waits: yield* InboxWaits,
    stopping: yield* Stopping,
    storage: yield* Storage
  }
  const { repo } = dependencies
  const end = endMessage(dependencies)
  return Inbox.of({
    list: list(dependencies),
    wait: wait(dependencies),
    count: Effect.flatMap(current, ({ inbox, viewer }) => repo.count(viewer, inbox)),
    take: take(dependencies),
    get: get(dependencies),
    complete: Effect.fn("Inbox.complete")((id: string, { evidence, reply }: CompleteMessage) =>
      end(id, "completed", reply, evidence?.run)
    ),
    doubts: doubts(dependencies),
    decline: Effect.fn("Inbox.decline")((id: string, { reason }: AgentDecline) => end(id, "declined", reason))
  })
}

/** The calling agent, what it sees, and which inbox is its own. */
const current = Effect.gen(function* () {
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

/** Like `current`, after looking the access token up again. `Unauthorized` where it is no longer valid. */
const reauthenticate = ({ signIns }: Dependencies) =>
  Effect.gen(function* () {
    const { tokenHash } = yield* AgentCaller
    const { lastFour } = (yield* Caller).credential
    const found = yield* signIns.authenticate(tokenHash, timestamp(yield* Clock.currentTimeMillis))
    return found === undefined ? yield* Unauthorized.agent : yield* asAgent({ ...found, tokenHash, lastFour })(current)
  })

const list = ({ repo }: Dependencies) =>
  Effect.gen(function* () {
    const { inbox, viewer } = yield* current
    return (yield* repo.waiting(viewer, inbox)).map(present)
  }).pipe(Effect.withSpan("Inbox.list"))

const wait = (dependencies: Dependencies) => {
  const { repo, stopping, waits } = dependencies
  const reauthenticated = reauthenticate(dependencies)
  return Effect.fn("Inbox.wait")(function* (seconds: number) {
    const until = (yield* Clock.currentTimeMillis) + seconds * 1_000
    const changed = yield* waits.begin((yield* AgentCaller).agent.id)
    // Access may have ended before the wait began, and no notice of that comes.
    let at = yield* seconds === 0 ? current : reauthenticated
    while (true) {
      const found = yield* repo.waiting(at.viewer, at.inbox)
      const left = until - (yield* Clock.currentTimeMillis)
      if (found.length > 0 || left <= 0 || stopping.hasBegun()) return found.map(present)
      if (yield* changed(left)) at = yield* reauthenticated
    }
  }, Effect.scoped)
}

const take = ({ repo }: Dependencies) =>
  Effect.fn("Inbox.take")(function* ({ limit = 1 }: TakeMessages) {
    const { inbox, viewer } = yield* current
    const at = timestamp(yield* Clock.currentTimeMillis)
    return (yield* repo.take(viewer, inbox, limit, at)).map(present)
  })

const get = ({ repo }: Dependencies) =>
  Effect.fn("Inbox.get")(function* (id: string) {
    const { inbox, viewer } = yield* current
    const message = yield* repo.findOfAgent(viewer, inbox.agentId, id)
    return message === undefined ? yield* NotFound.of("message", id) : present(message)
  })

const endMessage = ({ messages, repo, runs, storage }: Dependencies) =>
  Effect.fnUntraced(function* (id: string, status: "completed" | "declined", reply: string, run?: number) {
    const { access, inbox, viewer } = yield* current
    const find = Effect.flatMap(repo.findOfAgent(viewer, inbox.agentId, id), (message) =>
      message === undefined ? Effect.fail(NotFound.of("message", id)) : Effect.succeed(message)
    )
    const ended = Effect.gen(function* () {
      const message = yield* find
      if (run !== undefined && (yield* runs.find(access.workspace.id, run)) === undefined) {
        return yield* NotFound.reference("evidence.run", run, "run")
      }
      yield* messages.end(access, message, status, reply, run)
      return present(yield* find)
    })
    return yield* storage.transaction(ended)
  })

const doubts = ({ runs, tickets }: Dependencies) =>
  Effect.fn("Inbox.doubts")(function* ({ evidence, ticket }: AgentMessage) {
    if (evidence === null) return []
    const { access, viewer } = yield* current
    const run = yield* runs.find(access.workspace.id, evidence.run)
    if (run === undefined) return []
    const cases = (yield* tickets.find(viewer, ticket.id))?.cases ?? undefined
    const asked = new Set(cases?.product === run.product.slug ? cases.caseIds : [])
    const hasNone = cases !== undefined && !(yield* runs.tests(run.id)).some(({ caseId }) => asked.has(caseId))
    return [
      ...(run.gateResult === "failed" ? [`Run ${run.number} failed.`] : []),
      ...(run.state === "finished" ? [] : [`Run ${run.number} has not finished: it is ${run.state}.`]),
      ...(hasNone ? [`Run ${run.number} has none of the tests of ${ticket.identifier}.`] : [])
    ]
  })
