import {
  type AgentSignIn,
  type Computer,
  liveMillis,
  type RegisterAgent,
  type RegisteredAgent,
  type RevokedAgent,
  sessionMillis
} from "@delivery/domain/agents/Agent"
import { Forbidden, NotFound } from "@delivery/domain/Errors"
import type { Caller } from "@delivery/domain/identity/Authorization"
import type { AgentId, ComputerId, PersonId } from "@delivery/domain/Ids"
import { byName, compare } from "@delivery/domain/Order"
import { isId } from "@delivery/domain/Text"
import { timestamp } from "@delivery/domain/Timestamp"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { nextId } from "../ids/NextId.ts"
import { EventAudience } from "../events/EventAudience.ts"
import { Events } from "../events/Events.ts"
import { type Access, anyRole, personOf } from "../access/Access.ts"
import { agentName, type AgentRow } from "../access/ActorRows.ts"
import { MembersRepo } from "../identity/MembersRepo.ts"
import { Storage } from "../storage/Storage.ts"
import { AgentsRepo, type StoredAgent } from "./AgentsRepo.ts"
import { AgentUsage } from "./AgentUsage.ts"
import { SignIns } from "./SignIns.ts"
import { SignInsRepo } from "./SignInsRepo.ts"
import { WaitingMessages } from "./WaitingMessages.ts"

/** The coding agents of a workspace's members (service document, Agents; contract, section 9). */
export class Agents extends Context.Service<
  Agents,
  {
    /** Of one person, by id or `me`, or of all. */
    readonly list: (person?: string) => Effect.Effect<ReadonlyArray<RegisteredAgent>, NotFound, Caller>
    readonly register: (input: RegisterAgent) => Effect.Effect<AgentSignIn, NotFound | Forbidden, Caller>
    readonly revoke: (id: string) => Effect.Effect<RevokedAgent, NotFound | Forbidden, Caller>
  }
>()("@delivery/server/agents/Agents") {
  static readonly layer = Layer.effect(
    Agents,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const storage = yield* Storage
      const repo = yield* AgentsRepo
      const signIns = yield* SignIns
      const signInsRepo = yield* SignInsRepo
      const members = yield* MembersRepo
      const usage = yield* AgentUsage
      const messages = yield* WaitingMessages
      const events = yield* Events
      const audience = yield* EventAudience

      const newId = <Id extends string>() => Effect.provideService(nextId<Id>(), SecureRandom.SecureRandom, random)

      const callingPerson = ({ principal }: Access) => {
        const person = personOf(principal)
        return person === undefined
          ? Effect.fail(new Forbidden({ message: "An account API key has no agents.", reason: "account_key" }))
          : Effect.succeed(person)
      }

      const shown = (agent: StoredAgent, now: number): RegisteredAgent => {
        const computers = agent.computers
          .map(({ id, lastSeenAt, name, sessions }): Computer => {
            const seen = [usage.latest(id, lastSeenAt), ...sessions.map((session) => session.lastSeenAt)]
            const last = seen.toSorted(compare).at(-1)!
            return {
              id,
              name,
              lastSeenAt: last,
              live: isLive(last, now),
              sessions: sessions
                .map((session) => ({ ...session, live: isLive(session.lastSeenAt, now) }))
                .toSorted(lastSeenFirst)
            }
          })
          .toSorted(lastSeenFirst)
        return {
          id: agent.id,
          name: agentName(agent.client),
          person: agent.person,
          computers,
          serverUrl: agent.serverUrl,
          live: computers.some((computer) => computer.live),
          lastSeenAt: computers[0]?.lastSeenAt ?? null,
          createdAt: agent.createdAt
        }
      }

      return Agents.of({
        list: Effect.fn("Agents.list")(function* (person?: string) {
          const access = yield* anyRole
          const personId = person === "me" ? (personOf(access.principal)?.id ?? null) : person
          if (personId === null) return []
          const { id: workspaceId } = access.workspace
          if (personId !== undefined && (yield* members.find(workspaceId, personId as PersonId)) === undefined) {
            return yield* NotFound.reference("person")
          }
          const now = yield* Clock.currentTimeMillis
          const agents = yield* repo.list(workspaceId, personId as PersonId | undefined, timestamp(now - sessionMillis))
          return agents
            .map((agent) => shown(agent, now))
            .toSorted((a, b) => byName(a.person, b.person) || compare(a.name, b.name))
        }),

        register: Effect.fn("Agents.register")(function* ({ client, computer: name }: RegisterAgent) {
          const by = yield* anyRole
          const person = yield* callingPerson(by)
          const now = timestamp(yield* Clock.currentTimeMillis)
          const workspaceId = by.workspace.id
          return yield* storage.transaction(
            Effect.gen(function* () {
              const agent = yield* repo.register({
                id: yield* newId<AgentId>(),
                workspaceId,
                personId: person.id,
                client,
                createdAt: now,
                revokedAt: null
              })
              const computer = yield* repo.putComputer({
                id: yield* newId<ComputerId>(),
                workspaceId,
                agentId: agent.id,
                name,
                createdAt: now,
                lastSeenAt: now
              })
              const { clientId, ...tokens } = yield* signIns.make(
                { workspaceId, agentId: agent.id, computerId: computer.id },
                by.workspace.role
              )
              yield* events.record(by, {
                kind: "agent_registered",
                subject: subjectOf(agent, person.name),
                changes: [{ field: "computer", from: null, to: name }]
              })
              return { agent: agent.id, computer: { id: computer.id, name }, clientId, ...tokens }
            })
          )
        }),

        revoke: Effect.fn("Agents.revoke")(function* (id: string) {
          const by = yield* anyRole
          const person = yield* callingPerson(by)
          return yield* storage.transaction(
            Effect.gen(function* () {
              const agent = isId(id) ? yield* repo.lock(by.workspace.id, id as AgentId) : undefined
              if (agent === undefined) return yield* NotFound.of("agent")
              if (agent.personId !== person.id) {
                return yield* new Forbidden({
                  message: "Only the member that an agent works for revokes it.",
                  reason: "other_member"
                })
              }
              yield* repo.revoke(agent.id, timestamp(yield* Clock.currentTimeMillis))
              yield* signInsRepo.endOfAgent(by.workspace.id, agent.id)
              const declined = yield* messages.decline(by, [agent.id], "The agent was revoked.")
              const seen = yield* audience.teamsSeenBy(by)
              yield* events.record(by, { kind: "agent_revoked", subject: subjectOf(agent, person.name) })
              return {
                revoked: true as const,
                agent: agent.id,
                declined: declined.filter(({ teamId }) => seen === "all" || seen.includes(teamId)).length
              }
            })
          )
        })
      })
    })
  )
}

/** Seen in the last minute (service document, RegisteredAgent). */
const isLive = (lastSeenAt: string, now: number): boolean => lastSeenAt > timestamp(now - liveMillis)

interface Seen {
  readonly id: string
  readonly lastSeenAt: string
}

const lastSeenFirst = (a: Seen, b: Seen): number => compare(b.lastSeenAt, a.lastSeenAt) || compare(a.id, b.id)

const subjectOf = (agent: AgentRow, personName: string) => ({
  type: "agent",
  id: agent.id,
  label: `${agentName(agent.client)} of ${personName}`,
  path: `agents/${agent.id}`
})
