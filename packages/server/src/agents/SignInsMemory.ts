import type { Role } from "@delivery/domain/identity/Role"
import type { AgentId, SignInId, WorkspaceId } from "@delivery/domain/Ids"
import { compare } from "@delivery/domain/Order"
import type { Timestamp } from "@delivery/domain/Timestamp"
import { Effect, Layer } from "effect"
import { type AgentRow, agents, apiKeys, deploymentTokens, persons } from "../access/ActorRows.ts"
import { credentialBlocks, isBlocked } from "../identity/BlocksRepo.ts"
import { invites, inviteStatus } from "../identity/InvitesRepo.ts"
import { madeWebhooks } from "../identity/MadeWebhooks.ts"
import { memberKey, members } from "../identity/MembersRepo.ts"
import { sessions as browserSessions } from "../identity/SessionsRepo.ts"
import { workspaces } from "../identity/WorkspacesRepo.ts"
import { trustedPublishers } from "../identity/TrustedPublishersRepo.ts"
import { testRunRetries } from "../runs/RetriesRepo.ts"
import { testRuns } from "../runs/TestRunsRepo.ts"
import { type MemoryDatabase, MemoryStorage, type MemoryTableName } from "../storage/MemoryStorage.ts"
import type { Row } from "../storage/Table.ts"
import { computers } from "./AgentsRepo.ts"
import { authorizationCodes } from "./AuthorizationsRepo.ts"
import {
  accessTokens,
  type AuthenticatedAgent,
  beforeCodes,
  type EndedSignIn,
  type LiveSignIn,
  refreshTokens,
  replacedTokens,
  type SignInRow,
  signIns,
  SignInsRepo,
  type TokenPair
} from "./SignInsRepo.ts"

type Memory = MemoryStorage["Service"]

export const layer = Layer.effect(
  SignInsRepo,
  Effect.map(MemoryStorage, (memory) =>
    SignInsRepo.of({
      insert: insert(memory),
      end: (id) => memory.write((database) => Effect.sync(() => endWhere(database, (signIn) => signIn.id === id))),
      endOfAgent: (_, agentId) =>
        memory.write((database) => Effect.sync(() => endWhere(database, (signIn) => signIn.agentId === agentId))),
      endMadeBy: (makers) =>
        memory.write((database) =>
          Effect.sync(() => endWhere(database, ({ makerId }) => makerId !== null && makers.includes(makerId)))
        ),
      madeBy: (makers) =>
        memory.read((database) =>
          database
            .table(signIns)
            .filter(({ makerId }) => makerId !== null && makers.includes(makerId))
            .map(({ id }) => id)
        ),
      listLive: listLive(memory),
      notifyChanged: notifyChanged(memory),
      notifyAccessChanged: notifyAccessChanged(memory),
      lockByRefreshToken: lockByRefreshToken(memory),
      putTokens: putTokens(memory),
      live: live(memory),
      eraseBlocks: eraseBlocks(memory),
      ofAccessToken: ofAccessToken(memory),
      endAccessToken: endAccessToken(memory),
      authenticate: authenticate(memory)
    })
  )
)

const endWhere = (database: MemoryDatabase, isOf: (signIn: SignInRow) => boolean): ReadonlyArray<EndedSignIn> => {
  const rows = database.table(signIns)
  return rows.filter(isOf).map((signIn) => {
    rows.delete(signIn.id)
    database.notify("agents", signIn.agentId)
    deleteTokens(database, ({ signInId }) => signInId === signIn.id)
    return endedOf(database, signIn)
  })
}

const endedOf = (database: MemoryDatabase, { agentId, id, workspaceId }: SignInRow): EndedSignIn => {
  const { client, clientName, personId } = database.table(agents).get(agentId)!
  const { name } = database.table(persons).get(personId)!
  return { id, workspaceId, agent: { id: agentId, client, clientName }, person: { id: personId, name } }
}

type TokenRow = Row<typeof replacedTokens>

/** Every table of tokens has what the shortest of them has. */
const tokenTables: ReadonlyArray<MemoryTableName<TokenRow>> = [accessTokens, refreshTokens, replacedTokens]

const deleteTokens = (database: MemoryDatabase, isOf: (token: Pick<TokenRow, "signInId" | "expiresAt">) => boolean) => {
  for (const table of tokenTables) database.table(table).deleteWhere(isOf)
}

/** Stores the pair of the sign-in's generation, in place of one that it has. */
const putPair = (
  database: MemoryDatabase,
  { generation, id, workspaceId }: Pick<SignInRow, "id" | "workspaceId" | "generation">,
  { access, refresh }: TokenPair
) => {
  const tokens = database.table(refreshTokens)
  const lost = tokens.find((token) => token.signInId === id && token.generation === generation)
  const of = { workspaceId, signInId: id }
  if (lost !== undefined) {
    tokens.delete(lost.tokenHash)
    const { expiresAt, tokenHash } = lost
    database.table(replacedTokens).set(tokenHash, { ...of, tokenHash, expiresAt })
  }
  tokens.set(refresh.hash, { ...of, tokenHash: refresh.hash, generation, expiresAt: refresh.expiresAt, usedAt: null })
  const { expiresAt, hash, scope } = access
  database.table(accessTokens).set(hash, { ...of, tokenHash: hash, scope, expiresAt })
}

const insert = (memory: Memory) => (signIn: SignInRow, tokens: TokenPair) =>
  memory.write((database) =>
    Effect.sync(() => {
      const isRefreshable = (id: SignInId) =>
        database
          .table(refreshTokens)
          .find(({ expiresAt, signInId }) => signInId === id && expiresAt > signIn.createdAt) !== undefined
      const ended = endWhere(database, ({ agentId, computerId, id }) =>
        signIn.computerId === null
          ? computerId === null && agentId === signIn.agentId && !isRefreshable(id)
          : computerId === signIn.computerId
      )
      database.table(signIns).set(signIn.id, signIn)
      putPair(database, signIn, tokens)
      return ended
    })
  )

const notifyChanged = (memory: Memory) => (ids: ReadonlyArray<string>) =>
  memory.write((database) =>
    Effect.sync(() => {
      for (const { agentId } of database.table(signIns).filter(({ id }) => ids.includes(id))) {
        database.notify("agents", agentId)
      }
    })
  )

const notifyAccessChanged = (memory: Memory) => (agents: ReadonlyArray<AgentId>) =>
  memory.write((database) =>
    Effect.sync(() => {
      for (const agent of agents) database.notify("agents", agent)
    })
  )

/** What the sign-in may do at present: the role of its agent's member. Null while they are inactive, or it is blocked. */
const presentRole = (database: MemoryDatabase, { agentId, id, workspaceId }: SignInRow): Role | null =>
  isBlocked(database, workspaceId, id) ? null : roleOf(database, database.table(agents).get(agentId)!)

/** The present role of the agent's member; null while they are inactive. */
const roleOf = (database: MemoryDatabase, { personId, workspaceId }: AgentRow): Role | null => {
  const member = database.table(members).get(memberKey(workspaceId, personId))
  return member?.active === true ? member.role : null
}

const lockByRefreshToken = (memory: Memory) => (hash: string) =>
  memory.read((database) => {
    const known = database.table(refreshTokens).get(hash)
    const token = known ?? database.table(replacedTokens).get(hash)
    if (token === undefined) return undefined
    const signIn = database.table(signIns).get(token.signInId)!
    return {
      signIn,
      tokenGeneration: known?.generation ?? null,
      tokenExpiresAt: token.expiresAt,
      tokenUsedAt: known?.usedAt ?? null,
      role: presentRole(database, signIn)
    }
  })

const putTokens =
  (memory: Memory): SignInsRepo["Service"]["putTokens"] =>
  ({ generation, id, refreshedAt, workspaceId }, tokens, now, used) =>
    memory.write((database) =>
      Effect.sync(() => {
        const refreshable = database.table(refreshTokens)
        const token = used === undefined ? undefined : refreshable.get(used)
        if (token?.usedAt === null) refreshable.set(token.tokenHash, { ...token, usedAt: now })
        const rows = database.table(signIns)
        rows.set(id, { ...rows.get(id)!, generation, refreshedAt })
        deleteTokens(database, ({ expiresAt, signInId }) => signInId === id && expiresAt <= now)
        putPair(database, { id, workspaceId, generation }, tokens)
      })
    )

const live = (memory: Memory) => (ids: ReadonlyArray<SignInId>) =>
  memory.read((database) =>
    ids.filter((id) => {
      const signIn = database.table(signIns).get(id)
      if (signIn === undefined) return false
      const agent = database.table(agents).get(signIn.agentId)!
      return agent.revokedAt === null && presentRole(database, signIn) !== null
    })
  )

const eraseBlocks = (memory: Memory) => (now: Timestamp) =>
  memory.write((database) =>
    Effect.sync(() => {
      const pending = [
        ...database.table(invites).filter((invite) => inviteStatus(invite, now) === "pending"),
        ...database
          .table(authorizationCodes)
          .filter(({ expiresAt, signInId }) => signInId === null && expiresAt > beforeCodes(now)),
        // Their tokens are refused by the block of the maker alone.
        ...database.table(testRuns).filter(({ state }) => state === "running"),
        ...database.table(testRunRetries).filter(({ state }) => state === "running"),
        ...database.table(madeWebhooks).values()
      ]
      const makers = new Set<string | null>(pending.map(({ makerId }) => makerId))
      const isThere = (id: string) =>
        database.table(apiKeys).get(id)?.revokedAt === null ||
        database.table(deploymentTokens).get(id)?.revokedAt === null ||
        database.table(trustedPublishers).get(id) !== undefined ||
        database.table(browserSessions).get(id) !== undefined ||
        database.table(signIns).get(id) !== undefined
      database
        .table(credentialBlocks)
        .deleteWhere(({ credentialId }) => !isThere(credentialId) && !makers.has(credentialId))
    })
  )

const ofAccessToken = (memory: Memory) => (hash: string) =>
  memory.read((database) => {
    const token = database.table(accessTokens).get(hash)
    const signIn = token && database.table(signIns).get(token.signInId)
    return signIn && { id: signIn.id, clientId: signIn.clientId }
  })

const endAccessToken = (memory: Memory) => (hash: string) =>
  memory.write((database) =>
    Effect.sync(() => {
      const tokens = database.table(accessTokens)
      const token = tokens.get(hash)
      if (token === undefined) return undefined
      const signIn = database.table(signIns).get(token.signInId)!
      tokens.delete(hash)
      database.notify("agents", signIn.agentId)
      return endedOf(database, signIn)
    })
  )

const listLive = (memory: Memory) => (workspaceId: WorkspaceId, now: Timestamp) =>
  memory.read((database): ReadonlyArray<LiveSignIn> =>
    database
      .table(signIns)
      .filter((signIn) => signIn.workspaceId === workspaceId)
      .flatMap(({ agentId, computerId, createdAt, id, refreshedAt, scope }) => {
        const agent = database.table(agents).get(agentId)!
        const role = roleOf(database, agent)
        const [expiresAt] = database
          .table(refreshTokens)
          .filter((token) => token.signInId === id && token.expiresAt > now)
          .map((token) => token.expiresAt)
          .toSorted(compare)
          .toReversed()
        if (agent.revokedAt !== null || role === null || expiresAt === undefined) return []
        const person = database.table(persons).get(agent.personId)!
        const computer = database.table(computers).get(String(computerId))
        return [
          {
            id,
            scope,
            createdAt,
            refreshedAt,
            agent: { id: agent.id, client: agent.client, clientName: agent.clientName },
            person: { id: person.id, name: person.name, email: person.email },
            role,
            computer: computer ?? null,
            expiresAt
          }
        ]
      })
  )

const authenticate = (memory: Memory) => (accessHash: string, now: Timestamp) =>
  memory.read((database): AuthenticatedAgent | undefined => {
    const token = database.table(accessTokens).get(accessHash)
    if (token === undefined || token.expiresAt <= now) return undefined
    const signIn = database.table(signIns).get(token.signInId)!
    const agent = database.table(agents).get(signIn.agentId)!
    const role = presentRole(database, signIn)
    if (agent.revokedAt !== null || role === null) return undefined
    const person = database.table(persons).get(agent.personId)!
    const workspace = database.table(workspaces).get(agent.workspaceId)!
    const computer = database.table(computers).get(String(signIn.computerId))
    return {
      agent: { id: agent.id, client: agent.client, clientName: agent.clientName },
      person: { id: person.id, name: person.name, email: person.email },
      membership: { id: workspace.id, slug: workspace.slug, name: workspace.name, role },
      computer: computer === undefined ? null : { id: computer.id, name: computer.name },
      signInId: signIn.id,
      scope: token.scope
    }
  })
