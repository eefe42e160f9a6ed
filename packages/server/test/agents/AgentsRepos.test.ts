import { maxSessions } from "@delivery/domain/agents/Agent"
import type { AgentId, ApiKeyId, ComputerId, InviteId, SessionId, SignInId } from "@delivery/domain/Ids"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { AgentsRepo } from "../../src/agents/AgentsRepo.ts"
import { type SignInRow, SignInsRepo, type TokenPair } from "../../src/agents/SignInsRepo.ts"
import type { AgentRow } from "../../src/access/ActorRows.ts"
import { ApiKeysRepo } from "../../src/identity/ApiKeysRepo.ts"
import { BlocksRepo } from "../../src/identity/BlocksRepo.ts"
import { InvitesRepo } from "../../src/identity/InvitesRepo.ts"
import { MembersRepo } from "../../src/identity/MembersRepo.ts"
import { type SessionRow, SessionsRepo } from "../../src/identity/SessionsRepo.ts"
import { addAccountKey, addMember, assertHolds, makeScene, minute, newId, unique } from "../identity/Scene.ts"
import { addAgent } from "../planning/TicketsScene.ts"
import { onEachStorage } from "../support/Storages.ts"

const together = { concurrency: "unbounded" } as const

type Agent = Effect.Success<ReturnType<typeof addAgent>>

const computerRow = (agent: Agent, name: string, lastSeenAt = minute(0)) => ({
  id: newId<ComputerId>(),
  workspaceId: agent.membership!.id,
  agentId: agent.principal.id,
  name,
  createdAt: minute(0),
  lastSeenAt
})

const signInRow = (agent: Agent, computerId: ComputerId | null, fields: Partial<SignInRow> = {}): SignInRow => ({
  id: newId<SignInId>(),
  workspaceId: agent.membership!.id,
  agentId: agent.principal.id,
  computerId,
  clientId: null,
  scope: "read write",
  generation: 0,
  refreshedAt: null,
  makerId: null,
  expiresAt: null,
  createdAt: minute(0),
  ...fields
})

const pair = (expiresAt = minute(60)): TokenPair => ({
  access: { hash: unique("access"), scope: "read write", expiresAt },
  refresh: { hash: unique("refresh"), expiresAt }
})

onEachStorage("AgentsRepo", (it) => {
  it.effect("allows an agent for each name that other clients give themselves", () =>
    Effect.gen(function* () {
      const repo = yield* AgentsRepo
      const { member, workspace } = yield* makeScene
      const registered = (clientName: string) =>
        repo.register({
          id: newId<AgentId>(),
          workspaceId: workspace.id,
          personId: member.principal.id,
          client: "other",
          clientName,
          createdAt: minute(0),
          revokedAt: null
        })
      const made = yield* Effect.forEach(["Zed", "Zed", "Claude"], registered)
      assert.strictEqual(made[0]!.id, made[1]!.id)
      const listed = yield* repo.list(workspace.id, member.principal.id, minute(0))
      assert.deepStrictEqual(listed.map(({ client, clientName, id }) => [client, clientName, id]).toSorted(), [
        ["other", "Claude", made[2]!.id],
        ["other", "Zed", made[0]!.id]
      ])
    })
  )

  it.effect("allows one agent per person and client that is not revoked", () =>
    Effect.gen(function* () {
      const repo = yield* AgentsRepo
      const { member, viewer, workspace } = yield* makeScene
      const row = (fields: Partial<AgentRow> = {}): AgentRow => ({
        id: newId<AgentId>(),
        workspaceId: workspace.id,
        personId: member.principal.id,
        client: "claude",
        clientName: null,
        createdAt: minute(0),
        revokedAt: null,
        ...fields
      })
      const made = yield* Effect.forEach(Array.from({ length: 8 }), () => repo.register(row()), together)
      assert.lengthOf(new Set(made.map(({ id }) => id)), 1)
      const [first] = made
      const codex = yield* repo.register(row({ client: "codex" }))
      const other = yield* repo.register(row({ personId: viewer.principal.id }))
      assert.lengthOf(new Set([first, codex, other].map((agent) => agent!.id)), 3)
      assert.sameMembers([...(yield* repo.ofPerson(workspace.id, member.principal.id))], [first!.id, codex.id])
      yield* assertHolds(repo.lock(workspace.id, first!.id))
      assert.deepStrictEqual(yield* repo.lock(workspace.id, first!.id), first)
      yield* repo.revoke(first!.id, minute(1))
      assert.isUndefined(yield* repo.lock(workspace.id, first!.id))
      assert.isUndefined(yield* repo.lock((yield* makeScene).workspace.id, codex.id))
      assert.isUndefined(yield* repo.lock(workspace.id, newId<AgentId>()))
      assert.deepStrictEqual(yield* repo.ofPerson(workspace.id, member.principal.id), [codex.id])
      const anew = row()
      assert.deepStrictEqual(yield* repo.register(anew), anew)
    })
  )

  it.effect("allows one computer per name, whose lastSeenAt only moves forward", () =>
    Effect.gen(function* () {
      const repo = yield* AgentsRepo
      const { member, workspace } = yield* makeScene
      const agent = yield* addAgent(member)
      const made = yield* Effect.forEach(
        Array.from({ length: 8 }),
        (_, index) => repo.putComputer(computerRow(agent, "laptop", minute(index + 1))),
        together
      )
      assert.lengthOf(new Set(made.map(({ id }) => id)), 1)
      const [{ id } = computerRow(agent, "")] = made
      const tower = yield* repo.putComputer(computerRow(agent, "Laptop", minute(1)))
      assert.notStrictEqual(tower.id, id)
      const seen = Effect.map(repo.list(workspace.id, undefined, minute(0)), ([agent]) =>
        Object.fromEntries(agent!.computers.map(({ lastSeenAt, name }) => [name, lastSeenAt]))
      )
      yield* repo.touchComputers(
        new Map([
          [id, minute(20)],
          [tower.id, minute(0)],
          [newId<ComputerId>(), minute(9)]
        ])
      )
      yield* repo.touchComputers(new Map())
      assert.deepStrictEqual(yield* seen, { laptop: minute(20), Laptop: minute(1) })
    })
  )

  it.effect("keeps the newest sessions of a computer, each as last reported", () =>
    Effect.gen(function* () {
      const repo = yield* AgentsRepo
      const { member, workspace } = yield* makeScene
      const agent = yield* addAgent(member)
      const [laptop, tower] = [
        yield* repo.putComputer(computerRow(agent, "laptop")),
        yield* repo.putComputer(computerRow(agent, "tower"))
      ]
      const at = { workspaceId: workspace.id, computerId: laptop.id, id: "a" }
      const put = (fields: Partial<Parameters<typeof repo.putSession>[0]>) =>
        repo.putSession({ ...at, lastSeenAt: minute(1), ...fields })
      assert.deepInclude(yield* put({}), { repository: null, branch: null, lastSeenAt: minute(1) })
      assert.deepInclude(yield* put({ repository: "acme/shop", branch: "main", lastSeenAt: minute(2) }), {
        repository: "acme/shop",
        branch: "main"
      })
      assert.deepInclude(yield* put({ branch: null, lastSeenAt: minute(3) }), {
        repository: "acme/shop",
        branch: null,
        lastSeenAt: minute(3)
      })
      yield* put({ computerId: tower.id, repository: "acme/till" })
      const sessions = (computerId: ComputerId, after = minute(0)) =>
        Effect.map(repo.list(workspace.id, undefined, after), ([agent]) =>
          agent!.computers.find(({ id }) => id === computerId)!.sessions.map(({ id }) => id)
        )
      assert.deepStrictEqual([yield* sessions(laptop.id), yield* sessions(tower.id)], [["a"], ["a"]])
      assert.deepStrictEqual(yield* sessions(laptop.id, minute(3)), [], "seen after")
      for (let index = 0; index < maxSessions; index++) {
        yield* put({ id: `s${index}`, lastSeenAt: minute(4 + index) })
      }
      const kept = yield* sessions(laptop.id)
      assert.lengthOf(kept, maxSessions)
      assert.notInclude(kept, "a")
      assert.deepStrictEqual(yield* sessions(tower.id), ["a"])
      yield* repo.endSession({ ...at, id: "s9" })
      yield* repo.endSession({ ...at, id: "s9" })
      assert.notInclude(yield* sessions(laptop.id), "s9")
    })
  )

  it.effect("lists agents of active members, of one person or all", () =>
    Effect.gen(function* () {
      const repo = yield* AgentsRepo
      const { admin, member, workspace } = yield* makeScene
      const gone = yield* addMember(workspace, "member", { active: false })
      const [first, second] = [yield* addAgent(member), yield* addAgent(admin)]
      yield* addAgent({ ...gone, membership: member.membership })
      const revoked = yield* addAgent(member, "cursor")
      yield* repo.revoke(revoked.principal.id, minute(1))
      yield* addAgent((yield* makeScene).member)
      const listed = (personId?: typeof member.principal.id) =>
        Effect.map(repo.list(workspace.id, personId, minute(0)), (agents) => agents.map(({ id }) => id))
      assert.sameMembers(yield* listed(), [first.principal.id, second.principal.id])
      assert.deepStrictEqual(yield* listed(admin.principal.id), [second.principal.id])
      assert.deepStrictEqual(yield* listed(gone.principal.id), [])
    })
  )
})

onEachStorage("SignInsRepo", (it) => {
  const makeSignInScene = Effect.gen(function* () {
    const scene = yield* makeScene
    const agent = yield* addAgent(scene.member)
    const computer = yield* (yield* AgentsRepo).putComputer(computerRow(agent, "laptop"))
    return { ...scene, agent, computer }
  })

  it.effect("finds the agent of an access token until it expires", () =>
    Effect.gen(function* () {
      const repo = yield* SignInsRepo
      const members = yield* MembersRepo
      const { agent, computer, member, workspace } = yield* makeSignInScene
      const [signIn, tokens] = [signInRow(agent, computer.id), pair(minute(10))]
      yield* repo.insert(signIn, tokens)
      const { hash } = tokens.access
      assert.deepStrictEqual<unknown>(yield* repo.authenticate(hash, minute(9)), {
        agent: { id: agent.principal.id, client: "claude", clientName: null },
        person: agent.principal.person,
        membership: { id: workspace.id, slug: workspace.slug, name: workspace.name, role: "member" },
        computer: { id: computer.id, name: "laptop" },
        signInId: signIn.id,
        scope: "read write"
      })
      assert.deepStrictEqual(yield* repo.ofAccessToken(hash), { id: signIn.id, clientId: null })
      for (const other of [tokens.refresh.hash, "none"]) {
        assert.isUndefined(yield* repo.authenticate(other, minute(9)))
        assert.isUndefined(yield* repo.ofAccessToken(other))
      }
      assert.isUndefined(yield* repo.authenticate(hash, minute(10)))
      const change = (role: "member" | "viewer", active: boolean) =>
        members.update({ workspaceId: workspace.id, personId: member.principal.id, role, active })
      yield* change("viewer", true)
      assert.strictEqual((yield* repo.authenticate(hash, minute(9)))?.membership.role, "viewer")
      yield* change("viewer", false)
      assert.isUndefined(yield* repo.authenticate(hash, minute(9)))
      yield* change("member", true)
      assert.isDefined(yield* repo.authenticate(hash, minute(9)))
      yield* repo.endAccessToken(hash)
      yield* repo.endAccessToken(hash)
      assert.isUndefined(yield* repo.authenticate(hash, minute(9)))
      assert.isUndefined(yield* repo.ofAccessToken(hash))
      assert.isDefined(yield* repo.lockByRefreshToken(tokens.refresh.hash), "the sign-in lives on")
    })
  )

  it.effect("allows one sign-in per computer, and any number without one", () =>
    Effect.gen(function* () {
      const repo = yield* SignInsRepo
      const { agent, computer, workspace } = yield* makeSignInScene
      const tokens = [pair(), pair(), pair(), pair()] as const
      yield* repo.insert(signInRow(agent, computer.id), tokens[0])
      for (const one of tokens.slice(1, 3)) yield* repo.insert(signInRow(agent, null), one)
      const alive = Effect.forEach(tokens, ({ access }) =>
        Effect.map(repo.authenticate(access.hash, minute(1)), (found) => found !== undefined)
      )
      assert.deepStrictEqual(yield* alive, [true, true, true, false])
      assert.isNull((yield* repo.authenticate(tokens[1].access.hash, minute(1)))?.computer)
      const [listed] = yield* (yield* AgentsRepo).list(workspace.id, undefined, minute(0))
      assert.isTrue(listed?.serverUrl)
      yield* repo.insert(signInRow(agent, computer.id), tokens[3])
      assert.deepStrictEqual(yield* alive, [false, true, true, true])
      assert.isUndefined(yield* repo.lockByRefreshToken(tokens[0].refresh.hash))
    })
  )

  it.effect("replaces tokens of a generation, and keeps earlier ones until they expire", () =>
    Effect.gen(function* () {
      const repo = yield* SignInsRepo
      const { agent, computer } = yield* makeSignInScene
      const signIn = signInRow(agent, computer.id)
      const [first, lost, second, third] = [pair(minute(5)), pair(minute(50)), pair(minute(50)), pair(minute(50))]
      yield* repo.insert(signIn, first)
      yield* assertHolds(repo.lockByRefreshToken(first.refresh.hash))
      const held = Effect.fnUntraced(function* ({ refresh }: TokenPair) {
        const found = yield* repo.lockByRefreshToken(refresh.hash)
        return found && [found.tokenGeneration, found.signIn.generation, found.signIn.refreshedAt, found.tokenExpiresAt]
      })
      assert.deepStrictEqual(yield* held(first), [0, 0, null, minute(5)])
      const next = { ...signIn, generation: 1, refreshedAt: minute(1) }
      yield* repo.putTokens(next, lost, minute(1))
      assert.deepStrictEqual(yield* held(lost), [1, 1, minute(1), minute(50)])
      yield* repo.putTokens(next, second, minute(2))
      assert.deepStrictEqual(yield* held(lost), [null, 1, minute(1), minute(50)])
      assert.deepStrictEqual(yield* held(second), [1, 1, minute(1), minute(50)])
      assert.deepStrictEqual(yield* held(first), [0, 1, minute(1), minute(5)])
      // The access token of the lost pair was given out, and works.
      assert.isDefined(yield* repo.authenticate(lost.access.hash, minute(3)))
      yield* repo.putTokens({ ...signIn, generation: 2, refreshedAt: minute(6) }, third, minute(6))
      assert.isUndefined(yield* held(first), "expired")
      assert.isUndefined(yield* repo.ofAccessToken(first.access.hash), "expired")
      assert.deepStrictEqual(yield* held(lost), [null, 2, minute(6), minute(50)])
      assert.deepStrictEqual(yield* held(second), [1, 2, minute(6), minute(50)])
      assert.deepInclude((yield* repo.lockByRefreshToken(third.refresh.hash))?.signIn, {
        id: signIn.id,
        agentId: agent.principal.id,
        computerId: computer.id,
        scope: "read write"
      })
    })
  )

  it.effect("finds the current role of a sign-in's member, and none if inactive", () =>
    Effect.gen(function* () {
      const repo = yield* SignInsRepo
      const members = yield* MembersRepo
      const { agent, computer, member, workspace } = yield* makeSignInScene
      const tokens = pair()
      yield* repo.insert(signInRow(agent, computer.id), tokens)
      for (const [role, active, expected] of [
        ["member", true, "member"],
        ["viewer", true, "viewer"],
        ["admin", false, null]
      ] as const) {
        yield* members.update({ workspaceId: workspace.id, personId: member.principal.id, role, active })
        assert.strictEqual((yield* repo.lockByRefreshToken(tokens.refresh.hash))?.role, expected)
      }
    })
  )

  it.effect("forgets blocks of what has ended, and of nothing that can still pass its block on", () =>
    Effect.gen(function* () {
      const repo = yield* SignInsRepo
      const blocks = yield* BlocksRepo
      const { agent, member, workspace } = yield* makeSignInScene
      const { id: keyId } = (yield* addAccountKey(workspace, "member")).principal
      const { id: endedKey } = (yield* addAccountKey(workspace, "member")).principal
      const owner = { workspaceId: workspace.id }
      yield* (yield* ApiKeysRepo).end(endedKey as ApiKeyId, owner, { at: minute(1), keptBy: undefined })
      const session: SessionRow = {
        id: newId<SessionId>(),
        personId: member.principal.id,
        tokenHash: newId(),
        lastFour: "0000",
        method: "link",
        device: "Firefox",
        address: "127.0.0.1",
        createdAt: minute(0),
        lastSeenAt: minute(0),
        provedAt: minute(0)
      }
      yield* (yield* SessionsRepo).insert(session)
      const signIn = signInRow(agent, null)
      yield* repo.insert(signIn, pair())
      const inviter = newId<SessionId>()
      yield* (yield* InvitesRepo).insert({
        id: newId<InviteId>(),
        workspaceId: workspace.id,
        email: "sam@example.com",
        role: "viewer",
        tokenHash: newId(),
        delivery: "link",
        inviter: { kind: "user", id: member.principal.id },
        createdAt: minute(0),
        expiresAt: minute(100),
        acceptedAt: null,
        revokedAt: null,
        makerId: inviter
      })
      const ended = newId()
      const all = [keyId, endedKey, session.id, signIn.id, inviter, ended]
      for (const id of all) yield* blocks.block(workspace.id, id, [id], minute(1))
      const blocked = Effect.map(blocks.list(workspace.id), (rows) => rows.map(({ credentialId }) => credentialId))
      yield* repo.eraseBlocks(minute(99))
      const kept = [keyId, session.id, signIn.id]
      assert.sameMembers<string>([...(yield* blocked)], [...kept, inviter])
      yield* repo.eraseBlocks(minute(100))
      assert.sameMembers<string>([...(yield* blocked)], kept)
    })
  )

  it.effect("ends one sign-in, or all of an agent, with their tokens", () =>
    Effect.gen(function* () {
      const repo = yield* SignInsRepo
      const { agent, computer, member, workspace } = yield* makeSignInScene
      const codex = yield* addAgent(member, "codex")
      const [one, two, three, other] = [
        signInRow(agent, computer.id),
        signInRow(agent, null),
        signInRow(agent, null),
        signInRow(codex, null)
      ]
      const tokens = new Map([one, two, three, other].map((signIn) => [signIn, pair()]))
      for (const [signIn, pair] of tokens) yield* repo.insert(signIn, pair)
      const alive = Effect.forEach([...tokens.values()], ({ access, refresh }) =>
        Effect.gen(function* () {
          const found = [yield* repo.authenticate(access.hash, minute(1)), yield* repo.lockByRefreshToken(refresh.hash)]
          assert.strictEqual(found[0] === undefined, found[1] === undefined)
          return found[0] !== undefined
        })
      )
      const ended = ({ id }: { readonly id: string }) => ({
        id,
        workspaceId: workspace.id,
        agent: { id: agent.principal.id, client: "claude", clientName: null },
        person: { id: member.principal.id, name: member.principal.name }
      })
      assert.deepStrictEqual<unknown>(yield* repo.end(one.id), [ended(one)])
      assert.deepStrictEqual(yield* repo.end(one.id), [])
      assert.deepStrictEqual(yield* repo.end(newId<SignInId>()), [])
      assert.deepStrictEqual(yield* alive, [false, true, true, true])
      const ofAgent = yield* repo.endOfAgent(workspace.id, agent.principal.id)
      assert.sameDeepMembers<unknown>([...ofAgent], [ended(two), ended(three)])
      assert.deepStrictEqual(yield* alive, [false, false, false, true])
      // Sign-ins stay when a member changes.
      yield* repo.notifyAccessChanged([codex.principal.id])
      yield* repo.notifyAccessChanged([])
      assert.deepStrictEqual(yield* alive, [false, false, false, true])
    })
  )
})
