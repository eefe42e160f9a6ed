import {
  type AgentSignIn,
  type Computer,
  liveMillis,
  type RegisterAgent,
  type RegisteredAgent,
  type RevokedAgent,
  sessionMillis
} from "@delivery/domain/agents/Agent"
import { Forbidden, NotFound, type Unauthorized } from "@delivery/domain/Errors"
import { Caller } from "@delivery/domain/identity/Authorization"
import { hasScope } from "@delivery/domain/Scope"
import type { AgentId, ComputerId, PersonId } from "@delivery/domain/Ids"
import { byName, compare } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { NextId } from "../ids/NextId.ts"
import { EventAudience } from "../events/EventAudience.ts"
import { Audit } from "../audit/Audit.ts"
import { AuditedEvents } from "../audit/AuditedEvents.ts"
import { type Access, anyRole, freshProof, mayGive, personOf } from "../access/Access.ts"
import { agentName, type AgentRow } from "../access/ActorRows.ts"
import { Makers } from "../identity/Makers.ts"
import { MemberRuns } from "../identity/MemberRuns.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { TicketOwnerEnds } from "../planning/TicketOwnerEnds.ts"
import { Storage } from "../storage/Storage.ts"
import { AgentsRepo, type StoredAgent } from "./AgentsRepo.ts"
import { AgentUsage } from "./AgentUsage.ts"
import { recordEnds } from "./SignInEnds.ts"
import { SignIns } from "./SignIns.ts"
import { SignInsRepo } from "./SignInsRepo.ts"
import { WaitingMessages } from "./WaitingMessages.ts"

/** The coding agents of a workspace's members (docs/contract.md, Agents). */
export class Agents extends Context.Service<
  Agents,
  {
    /** Of one person, by id or `me`, or of all. */
    readonly list: (person?: string) => Effect.Effect<ReadonlyArray<RegisteredAgent>, NotFound, Caller>
    readonly register: (input: RegisterAgent) => Effect.Effect<AgentSignIn, Unauthorized | NotFound | Forbidden, Caller>
    readonly revoke: (id: string) => Effect.Effect<RevokedAgent, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/agents/Agents") {
  static readonly layer = Layer.effect(Agents, Effect.gen(make))
}

interface Dependencies {
  readonly repo: AgentsRepo["Service"]
  readonly makers: Makers["Service"]
  readonly signIns: SignIns["Service"]
  readonly signInsRepo: SignInsRepo["Service"]
  readonly members: MembersRepo["Service"]
  readonly usage: AgentUsage["Service"]
  readonly memberRuns: MemberRuns["Service"]
  readonly messages: WaitingMessages["Service"]
  readonly audience: EventAudience["Service"]
  readonly owners: TicketOwnerEnds["Service"]
  readonly audit: Audit["Service"]
  readonly storage: Storage["Service"]
  readonly events: AuditedEvents["Service"]
  readonly nextId: NextId["Service"]
}

function* make() {
  const dependencies: Dependencies = {
    repo: yield* AgentsRepo,
    makers: yield* Makers,
    signIns: yield* SignIns,
    signInsRepo: yield* SignInsRepo,
    members: yield* MembersRepo,
    usage: yield* AgentUsage,
    memberRuns: yield* MemberRuns,
    messages: yield* WaitingMessages,
    audience: yield* EventAudience,
    owners: yield* TicketOwnerEnds,
    audit: yield* Audit,
    storage: yield* Storage,
    events: yield* AuditedEvents,
    nextId: yield* NextId
  }
  return Agents.of({
    list: list(dependencies),
    register: register(dependencies),
    revoke: revoke(dependencies)
  })
}

const list = ({ members, repo, usage }: Dependencies) =>
  Effect.fn("Agents.list")(function* (person?: string) {
    const access = yield* anyRole
    const personId = person === "me" ? (personOf(access.principal)?.id ?? null) : person
    if (personId === null) return []
    const { id: workspaceId } = access.workspace
    if (personId !== undefined && (yield* members.find(workspaceId, personId as PersonId)) === undefined) {
      return yield* NotFound.reference("person", personId)
    }
    const now = yield* Clock.currentTimeMillis
    const agents = yield* repo.list(workspaceId, personId as PersonId | undefined, timestamp(now - sessionMillis))
    return agents
      .map((agent) => present(usage, agent, now))
      .toSorted((a, b) => byName(a.person, b.person) || compare(a.name, b.name))
  })

const register = ({ events, makers, members, nextId, repo, signIns, storage }: Dependencies) =>
  Effect.fn("Agents.register")(function* ({ client, computer: name }: RegisterAgent) {
    const by = yield* anyRole
    const person = yield* callingPerson(by)
    yield* mayGive(["read"])
    yield* freshProof
    const { scopes } = (yield* Caller).credential
    const now = timestamp(yield* Clock.currentTimeMillis)
    const workspaceId = by.workspace.id
    const registered = Effect.gen(function* () {
      if (!(yield* members.holdActive(workspaceId, person.id))) return yield* NotFound.of("workspace")
      const maker = yield* makers.hold
      const agent = yield* repo.register({
        id: yield* nextId<AgentId>(),
        workspaceId,
        personId: person.id,
        client,
        clientName: null,
        createdAt: now,
        revokedAt: null
      })
      const computer = yield* repo.putComputer({
        id: yield* nextId<ComputerId>(),
        workspaceId,
        agentId: agent.id,
        name,
        createdAt: now,
        lastSeenAt: now
      })
      const { id: clientId, tokens } = yield* signIns.make(
        { workspaceId, agentId: agent.id, computerId: computer.id, clientId: null },
        by.workspace.role,
        hasScope(scopes, "write") ? "read write" : "read",
        maker,
        by.actor
      )
      yield* events.record(by, {
        kind: "agent_registered",
        subject: subjectOf(agent, person.name),
        changes: [{ field: "computer", from: null, to: name }]
      })
      return { agent: agent.id, computer: { id: computer.id, name }, clientId, ...tokens }
    })
    return yield* storage.transaction(registered)
  })

const revoke = (dependencies: Dependencies) => {
  const { audience, audit, events, memberRuns, messages, owners, repo, signInsRepo, storage } = dependencies
  return Effect.fn("Agents.revoke")(function* (id: string) {
    const by = yield* anyRole
    const person = yield* callingPerson(by)
    const revoked = Effect.gen(function* () {
      // Tickets are held before agents.
      if (isId(id)) yield* owners.left(by, [{ kind: "agent", id: id as AgentId }])
      const agent = isId(id) ? yield* repo.lock(by.workspace.id, id as AgentId) : undefined
      if (agent === undefined) return yield* NotFound.of("agent", id)
      if (agent.personId !== person.id) {
        return yield* new Forbidden({
          message: "Only the member whom an agent works for may revoke it.",
          reason: "other_member"
        })
      }
      yield* repo.revoke(agent.id, timestamp(yield* Clock.currentTimeMillis))
      yield* memberRuns.interrupt(by, [{ kind: "agent", id: agent.id }])
      yield* recordEnds(audit)(yield* signInsRepo.endOfAgent(by.workspace.id, agent.id), "agent_revoked", by.actor)
      const declined = yield* messages.decline(by, [agent.id], "The agent was revoked.")
      const seen = yield* audience.teamsSeenBy(by)
      yield* events.record(by, { kind: "agent_revoked", subject: subjectOf(agent, person.name) })
      return {
        revoked: true as const,
        agent: agent.id,
        declined: declined.filter(({ teamId }) => seen === "all" || seen.includes(teamId)).length
      }
    })
    return yield* storage.transaction(revoked)
  })
}

const callingPerson = ({ principal }: Access) => {
  const person = personOf(principal)
  return person === undefined
    ? Effect.fail(new Forbidden({ message: "An account API key has no agents.", reason: "account_key" }))
    : Effect.succeed(person)
}

/** The agent as the API answers it: what was seen of it last comes first. */
const present = (usage: AgentUsage["Service"], agent: StoredAgent, now: number): RegisteredAgent => {
  const computers = agent.computers.map((computer) => presentComputer(usage, computer, now)).toSorted(lastSeenFirst)
  return {
    id: agent.id,
    name: agentName(agent),
    person: agent.person,
    computers,
    serverUrl: agent.serverUrl,
    live: computers.some((computer) => computer.live),
    lastSeenAt: computers[0]?.lastSeenAt ?? null,
    createdAt: agent.createdAt
  }
}

const presentComputer = (
  usage: AgentUsage["Service"],
  { id, lastSeenAt, name, sessions }: StoredAgent["computers"][number],
  now: number
): Computer => {
  const seen = [usage.latest(id, lastSeenAt), ...sessions.map((session) => session.lastSeenAt)]
  const last = seen.toSorted(compare).at(-1)!
  return {
    id,
    name,
    lastSeenAt: last,
    live: isLive(last, now),
    sessions: sessions.map((session) => ({ ...session, live: isLive(session.lastSeenAt, now) })).toSorted(lastSeenFirst)
  }
}

/** Seen in the last minute (docs/contract.md, Agents). */
const isLive = (lastSeenAt: string, now: number): boolean => lastSeenAt > timestamp(now - liveMillis)

interface Seen {
  readonly id: string
  readonly lastSeenAt: string
}

const lastSeenFirst = (a: Seen, b: Seen): number => compare(b.lastSeenAt, a.lastSeenAt) || compare(a.id, b.id)

/** An agent in events. */
export const subjectOf = (agent: AgentRow, personName: string) => ({
  type: "agent",
  id: agent.id,
  label: `${agentName(agent)} of ${personName}`,
  path: `agents/${agent.id}`
})
