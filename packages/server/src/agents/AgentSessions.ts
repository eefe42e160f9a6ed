import type { AgentMe, ReportedSession, ReportSession } from "@delivery/domain/agents/Agent"
import { AgentCaller } from "@delivery/domain/agents/AgentAuthorization"
import { Forbidden } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { AgentsRepo } from "./AgentsRepo.ts"
import { Inbox } from "./Inbox.ts"

/** Who a signed-in agent is, and what it works on (docs/contract.md, Agent API). */
export class AgentSessions extends Context.Service<
  AgentSessions,
  {
    readonly me: Effect.Effect<AgentMe, never, AgentCaller>
    /** A heartbeat of a session of the token's computer. */
    readonly report: (
      session: string,
      input: ReportSession
    ) => Effect.Effect<ReportedSession, Forbidden, Caller | AgentCaller>
    readonly end: (session: string) => Effect.Effect<void, never, AgentCaller>
  }
>()("@delivery/server/agents/AgentSessions") {
  static readonly layer = Layer.effect(AgentSessions, Effect.gen(make))
}

interface Dependencies {
  readonly repo: AgentsRepo["Service"]
  readonly inbox: Inbox["Service"]
}

function* make() {
  const dependencies: Dependencies = { repo: yield* AgentsRepo, inbox: yield* Inbox }
  return AgentSessions.of({ me, report: report(dependencies), end: end(dependencies) })
}

const me = Effect.gen(function* () {
  const { agent, computer, scope, workspace } = yield* AgentCaller
  return { agent, computer, workspace, scope }
}).pipe(Effect.withSpan("AgentSessions.me"))

const report = ({ inbox, repo }: Dependencies) =>
  Effect.fn("AgentSessions.report")(function* (id: string, input: ReportSession) {
    const { computer, workspace } = yield* AgentCaller
    if (computer === null) {
      return yield* new Forbidden({
        message: "A sign-in made with the server URL has no computer.",
        reason: "no_computer"
      })
    }
    const { branch, lastSeenAt, repository } = yield* repo.putSession({
      ...input,
      workspaceId: workspace.id,
      computerId: computer.id,
      id,
      lastSeenAt: timestamp(yield* Clock.currentTimeMillis)
    })
    return { session: { id, repository, branch, lastSeenAt, live: true }, waiting: yield* inbox.count }
  })

const end = ({ repo }: Dependencies) =>
  Effect.fn("AgentSessions.end")(function* (id: string) {
    const { computer, workspace } = yield* AgentCaller
    if (computer !== null) {
      yield* repo.endSession({ workspaceId: workspace.id, computerId: computer.id, id })
    }
  })
