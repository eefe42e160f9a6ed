import { maxSessions } from "@delivery/domain/agents/Agent"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../../src/agents/Agents.ts"
import { AgentSessions } from "../../src/agents/AgentSessions.ts"
import { mayWrite } from "../../src/agents/AgentWrites.ts"
import { Members } from "../../src/identity/Members.ts"
import {
  addMember,
  addWorkspace,
  answer,
  as,
  type CallerOf,
  everyRole,
  eventsOf,
  kindsOf,
  makeScene,
  newId,
  now,
  refusal,
  whoMay
} from "../identity/Scene.ts"
import { withServicesOnEachStorage } from "../support/Storages.ts"
import { authenticated, nextOf, refreshed, registered, withToken } from "./Scene.ts"

const together = { concurrency: "unbounded" } as const

const listed = (caller: CallerOf, person?: string) =>
  Effect.flatMap(Agents, (agents) => agents.list(person).pipe(as(caller)))

const report = (accessToken: string, session: string, input: { repository?: string | null; branch?: string } = {}) =>
  Effect.flatMap(AgentSessions, (sessions) => sessions.report(session, input).pipe(withToken(accessToken)))

const isAlive = (accessToken: string) => Effect.map(authenticated(accessToken), (found) => found !== undefined)

withServicesOnEachStorage("Agents", (it) => {
  it.describe("registering", () => {
    it.effect("creates one agent per client and member, and one computer per name", () =>
      Effect.gen(function* () {
        const { member, viewer, workspace } = yield* makeScene
        const first = yield* registered(member)
        const again = yield* registered(member)
        const desktop = yield* registered(member, { computer: "desktop" })
        const codex = yield* registered(member, { client: "codex" })
        const others = yield* registered(viewer)
        assert.deepStrictEqual(
          [again.agent, again.computer, desktop.agent],
          [first.agent, { id: first.computer.id, name: "laptop" }, first.agent]
        )
        assert.lengthOf(new Set([first.agent, codex.agent, others.agent]), 3)
        assert.lengthOf(
          new Set([first, desktop, codex, others].map(({ computer }) => computer.id)),
          4,
          "computers are an agent's"
        )
        assert.lengthOf(new Set([first, again, desktop, codex, others].map(({ clientId }) => clientId)), 5)
        // The same person has other agents in another workspace.
        const elsewhere = yield* addWorkspace()
        const there = yield* addMember(elsewhere, "member", {
          person: { ...member.principal, emailVerifiedAt: null, createdAt: yield* now }
        })
        assert.notStrictEqual((yield* registered(there)).agent, first.agent)
        assert.lengthOf(yield* listed(member, "me"), 2)
        assert.lengthOf(yield* listed(there, "me"), 1)
        const events = yield* eventsOf(workspace)
        assert.deepStrictEqual(
          events.map(({ kind }) => kind),
          Array.from({ length: 5 }, () => "agent_registered")
        )
        assert.deepStrictEqual(
          [events[3]?.actor, events[3]?.subjectType, events[3]?.subjectId, events[3]?.subjectLabel, events[3]?.changes],
          [
            member.principal,
            "agent",
            codex.agent,
            `Codex of ${member.principal.name}`,
            [{ field: "computer", from: null, to: "laptop" }]
          ]
        )
      })
    )

    it.effect("ends the earlier sign-in of the computer, and no other", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const [first, desktop] = [yield* registered(member), yield* registered(member, { computer: "desktop" })]
        const codex = yield* registered(member, { client: "codex" })
        const again = yield* registered(member)
        assert.isFalse(yield* isAlive(first.access_token))
        assert.strictEqual(yield* refreshed(first), "400 invalid_grant")
        for (const held of [desktop, codex, again]) {
          assert.isTrue(yield* isAlive(held.access_token))
          yield* nextOf(held)
        }
      })
    )

    it.effect("is for persons, whatever their role", () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const scene = yield* makeScene
        const persons = { ...everyRole, viewerKey: "account_key", memberKey: "account_key", adminKey: "account_key" }
        assert.deepStrictEqual(yield* whoMay(scene, agents.register({ client: "codex", computer: "c" })), persons)
        assert.deepStrictEqual(yield* whoMay(scene, agents.list()), everyRole)
        assert.deepStrictEqual(yield* whoMay(scene, agents.revoke(newId())), persons)
        const scopes = yield* Effect.forEach([scene.viewer, scene.member, scene.admin, scene.owner], (caller) =>
          Effect.map(registered(caller), ({ scope }) => scope)
        )
        assert.deepStrictEqual(scopes, ["read", "read write", "read write", "read write"])
      })
    )

    it.effect("creates one agent, one computer and one sign-in under concurrent requests", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const all = yield* Effect.forEach(
          Array.from({ length: 24 }, (_, index) => `computer ${index % 4}`),
          (computer) => registered(member, { computer }),
          together
        )
        assert.lengthOf(new Set(all.map(({ agent }) => agent)), 1)
        const [agent, ...more] = yield* listed(member, "me")
        assert.deepStrictEqual([agent?.computers.length, more.length], [4, 0])
        for (const { id } of agent!.computers) {
          const alive = yield* Effect.filter(
            all.filter(({ computer }) => computer.id === id),
            ({ access_token }) => isAlive(access_token)
          )
          assert.lengthOf(alive, 1)
        }
      })
    )
  })

  it.describe("the list", () => {
    it.effect("is sorted by member, then client, of one person or all", () =>
      Effect.gen(function* () {
        const { member, outsider, viewerKey, workspace } = yield* makeScene
        const zoe = yield* addMember(workspace, "viewer", { name: "zoë" })
        const ten = yield* addMember(workspace, "member", { name: "Ana 10" })
        const nine = yield* addMember(workspace, "owner", { name: "ana 9" })
        const left = yield* addMember(workspace, "member", { name: "Left", active: false })
        for (const person of [zoe, ten, nine]) {
          for (const client of ["cursor", "claude", "codex"] as const) yield* registered(person, { client })
        }
        const names = Effect.fnUntraced(function* (caller: CallerOf, person?: string) {
          return (yield* listed(caller, person)).map((agent) => `${agent.name} of ${agent.person.name}`)
        })
        const clients = ["Claude", "Codex", "Cursor"]
        assert.deepStrictEqual(
          yield* names(viewerKey),
          ["ana 9", "Ana 10", "zoë"].flatMap((person) => clients.map((client) => `${client} of ${person}`))
        )
        const ofTen = clients.map((client) => `${client} of Ana 10`)
        assert.deepStrictEqual(yield* names(ten, "me"), ofTen)
        assert.deepStrictEqual(yield* names(zoe, ten.principal.id), ofTen)
        // A member without agents, an inactive one, and whoever is no person: nothing.
        assert.deepStrictEqual(yield* names(member, "me"), [])
        assert.deepStrictEqual(yield* names(member, left.principal.id), [])
        assert.deepStrictEqual(yield* names(viewerKey, "me"), [])
        for (const unknown of [newId(), outsider.principal.id]) {
          const error = yield* Effect.flip(listed(member, unknown))
          assert.strictEqual(error.message, `person: there is no member "${unknown}" that you can see.`)
        }
      })
    )

    it.effect("reports when computers and sessions were last seen", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const laptop = yield* registered(member)
        yield* TestClock.adjust("10 seconds")
        const desktop = yield* registered(member, { computer: "desktop" })
        const made = yield* now
        const listedAgent = Effect.map(listed(member, "me"), ([agent]) => agent!)
        const lives = Effect.map(listedAgent, ({ computers, live }) => [
          live,
          computers.map(({ live, name, sessions }) => [name, live, sessions.map(({ id, live }) => [id, live])])
        ])
        assert.deepStrictEqual(yield* listedAgent, {
          id: laptop.agent,
          name: "Claude",
          person: { id: member.principal.id, name: member.principal.name, email: member.principal.email },
          computers: [
            { ...desktop.computer, lastSeenAt: made, live: true, sessions: [] },
            { ...laptop.computer, lastSeenAt: timestamp(Date.parse(made) - 10_000), live: true, sessions: [] }
          ],
          serverUrl: false,
          live: true,
          lastSeenAt: made,
          createdAt: timestamp(Date.parse(made) - 10_000)
        })
        yield* TestClock.adjust(50_000 - 1)
        assert.deepStrictEqual(yield* lives, [
          true,
          [
            ["desktop", true, []],
            ["laptop", true, []]
          ]
        ])
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(yield* lives, [
          true,
          [
            ["desktop", true, []],
            ["laptop", false, []]
          ]
        ])
        // A computer is seen by its sessions.
        yield* report(laptop.access_token, "one", { repository: "acme/shop", branch: "main" })
        yield* TestClock.adjust("30 seconds")
        yield* report(laptop.access_token, "two")
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(yield* lives, [
          true,
          [
            [
              "laptop",
              true,
              [
                ["two", true],
                ["one", false]
              ]
            ],
            ["desktop", false, []]
          ]
        ])
        yield* TestClock.adjust("30 seconds")
        assert.isFalse((yield* listedAgent).live)
        // A session leaves after a day; its computer was seen no less for it.
        yield* TestClock.adjust(86_400_000 - 90_000 - 1)
        assert.deepStrictEqual(
          (yield* listedAgent).computers[0]?.sessions.map(({ id }) => id),
          ["two", "one"]
        )
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(
          (yield* listedAgent).computers[0]?.sessions.map(({ id }) => id),
          ["two"]
        )
      })
    )
  })

  it.describe("revoking", () => {
    it.effect("ends every sign-in immediately, and the client can register again", () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const { member, workspace } = yield* makeScene
        const [laptop, desktop] = [yield* registered(member), yield* registered(member, { computer: "desktop" })]
        const codex = yield* registered(member, { client: "codex" })
        const revoked = yield* agents.revoke(laptop.agent).pipe(as(member))
        assert.deepStrictEqual(revoked, { revoked: true, agent: laptop.agent, declined: 0 })
        for (const held of [laptop, desktop]) {
          assert.isFalse(yield* isAlive(held.access_token))
          assert.strictEqual(yield* refreshed(held), "400 invalid_grant")
        }
        assert.isTrue(yield* isAlive(codex.access_token))
        assert.deepStrictEqual(
          (yield* listed(member)).map(({ id }) => id),
          [codex.agent]
        )
        assert.strictEqual(yield* refusal(agents.revoke(laptop.agent).pipe(as(member))), "NotFound")
        const anew = yield* registered(member)
        assert.notInclude([laptop.agent, codex.agent], anew.agent)
        assert.notStrictEqual(anew.computer.id, laptop.computer.id)
        const events = (yield* eventsOf(workspace)).filter(({ kind }) => kind === "agent_revoked")
        assert.lengthOf(events, 1)
        assert.deepStrictEqual(
          [events[0]?.subjectId, events[0]?.subjectLabel],
          [laptop.agent, `Claude of ${member.principal.name}`]
        )
      })
    )

    it.effect("is allowed to the agent's member, for existing agents", () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const { admin, member, memberKey, owner } = yield* makeScene
        const foreign = yield* makeScene
        const { agent } = yield* registered(member)
        const theirs = yield* registered(foreign.member)
        for (const caller of [admin, owner]) {
          assert.strictEqual(yield* refusal(agents.revoke(agent).pipe(as(caller))), "Forbidden other_member")
        }
        assert.strictEqual(yield* refusal(agents.revoke(agent).pipe(as(memberKey))), "Forbidden account_key")
        for (const id of [theirs.agent, newId(), "claude", "", agent.toUpperCase()]) {
          assert.strictEqual(yield* refusal(agents.revoke(id).pipe(as(member))), "NotFound", id)
        }
        assert.lengthOf(yield* listed(member), 1)
      })
    )

    it.effect("happens once under concurrent requests", () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const { member, workspace } = yield* makeScene
        const { agent } = yield* registered(member)
        const answers = yield* Effect.forEach(
          Array.from({ length: 10 }),
          () => answer(agents.revoke(agent).pipe(as(member))),
          together
        )
        assert.deepStrictEqual(answers.toSorted(), [...Array.from({ length: 9 }, () => "NotFound"), "ok"])
        assert.lengthOf(
          (yield* kindsOf(workspace)).filter((kind) => kind === "agent_revoked"),
          1
        )
      })
    )

    it.effect("concurrent with registering leaves tokens only of agents that are not revoked", () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const { member } = yield* makeScene
        for (let round = 0; round < 6; round++) {
          const { agent } = yield* registered(member)
          const [made] = yield* Effect.all(
            [
              Effect.forEach(["laptop", "desktop", "server"], (computer) => registered(member, { computer }), together),
              agents.revoke(agent).pipe(as(member))
            ],
            together
          )
          const present = (yield* listed(member, "me")).map(({ id }) => id)
          for (const held of made) {
            assert.strictEqual(yield* isAlive(held.access_token), present.includes(held.agent))
          }
          assert.notInclude(present, agent)
        }
      })
    )
  })

  it.describe("a member who is deactivated", () => {
    it.effect("hides their agents and ends their sign-ins, which do not come back with the member", () =>
      Effect.gen(function* () {
        const members = yield* Members
        const { admin, member, owner } = yield* makeScene
        const held = yield* registered(member)
        yield* registered(owner)
        yield* members.deactivate(member.principal.id).pipe(as(admin))
        assert.deepStrictEqual(
          (yield* listed(admin)).map(({ person }) => person.id),
          [owner.principal.id]
        )
        assert.isFalse(yield* isAlive(held.access_token))
        yield* members.reactivate(member.principal.id).pipe(as(admin))
        assert.lengthOf(yield* listed(admin), 2)
        assert.isFalse(yield* isAlive(held.access_token))
        assert.isTrue(yield* isAlive((yield* registered(member)).access_token))
      })
    )
  })

  it.describe("a session", () => {
    it.effect("keeps fields that a report omits, and clears those that are null", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const { access_token } = yield* registered(member)
        const said = (input: { repository?: string | null; branch?: string }) =>
          Effect.map(report(access_token, "s", input), ({ session: { branch, repository } }) => [repository, branch])
        assert.deepStrictEqual(yield* said({}), [null, null])
        assert.deepStrictEqual(yield* said({ repository: "acme/shop", branch: "main" }), ["acme/shop", "main"])
        assert.deepStrictEqual(yield* said({}), ["acme/shop", "main"])
        assert.deepStrictEqual(yield* said({ repository: null, branch: "next" }), [null, "next"])
        const lastSeenAt = yield* now
        assert.deepStrictEqual(yield* report(access_token, "s"), {
          session: { id: "s", repository: null, branch: "next", lastSeenAt, live: true },
          waiting: 0
        })
      })
    )

    it.effect("belongs to its computer, and ends once", () =>
      Effect.gen(function* () {
        const sessions = yield* AgentSessions
        const { member } = yield* makeScene
        const [laptop, desktop] = [yield* registered(member), yield* registered(member, { computer: "desktop" })]
        yield* report(laptop.access_token, "s", { branch: "on the laptop" })
        yield* TestClock.adjust("1 second")
        yield* report(desktop.access_token, "s", { branch: "on the desktop" })
        const branches = Effect.map(listed(member, "me"), ([agent]) =>
          Object.fromEntries(agent!.computers.map(({ name, sessions }) => [name, sessions.map(({ branch }) => branch)]))
        )
        assert.deepStrictEqual(yield* branches, { desktop: ["on the desktop"], laptop: ["on the laptop"] })
        yield* sessions.end("s").pipe(withToken(desktop.access_token))
        yield* sessions.end("s").pipe(withToken(desktop.access_token))
        yield* sessions.end("none").pipe(withToken(desktop.access_token))
        assert.deepStrictEqual(yield* branches, { desktop: [], laptop: ["on the laptop"] })
      })
    )

    it.effect("is one of at most 100 of its computer", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const { access_token } = yield* registered(member)
        const named = Array.from({ length: maxSessions }, (_, index) => `s-${String(index).padStart(3, "0")}`)
        for (const session of named) {
          yield* report(access_token, session)
          yield* TestClock.adjust(1)
        }
        // A heartbeat of the first: now the second was not seen for longest.
        yield* report(access_token, named[0]!)
        const listedAgent = Effect.map(listed(member, "me"), ([agent]) =>
          agent!.computers[0]!.sessions.map(({ id }) => id)
        )
        assert.lengthOf(yield* listedAgent, maxSessions)
        yield* TestClock.adjust(1)
        yield* report(access_token, "one more")
        const kept = yield* listedAgent
        assert.deepStrictEqual(
          kept.toSorted(),
          [...named.filter((session) => session !== named[1]), "one more"].toSorted()
        )
      })
    )
  })

  it.describe("an access token", () => {
    it.effect("authenticates its agent, with the member's current role", () =>
      Effect.gen(function* () {
        const [members, sessions] = [yield* Members, yield* AgentSessions]
        const { admin, member, workspace } = yield* makeScene
        const { access_token, agent, computer } = yield* registered(member)
        const me = sessions.me.pipe(withToken(access_token))
        const { id, name, slug } = workspace
        const { kind: _, ...person } = member.principal
        assert.deepStrictEqual(yield* me, {
          agent: { id: agent, name: "Claude", person },
          computer,
          workspace: { id, slug, name, role: "member" },
          scope: "read write"
        })
        yield* members.update(member.principal.id, { role: "viewer" }).pipe(as(admin))
        assert.deepInclude(yield* me, { workspace: { id, slug, name, role: "viewer" }, scope: "read" })
      })
    )

    it.effect("may write for members, unless its scope is read", () =>
      Effect.gen(function* () {
        const members = yield* Members
        const { admin, member, viewer } = yield* makeScene
        const wide = yield* registered(member)
        const narrow = yield* nextOf(wide, { scope: "read" })
        const ofViewer = yield* registered(viewer)
        const write = (token: string) => answer(mayWrite.pipe(withToken(token)))
        assert.deepStrictEqual(
          [yield* write(wide.access_token), yield* write(narrow.access_token), yield* write(ofViewer.access_token)],
          ["ok", "Forbidden insufficient_scope", "Forbidden role_too_low"]
        )
        const { actor } = yield* mayWrite.pipe(withToken(wide.access_token))
        assert.deepStrictEqual(actor, { kind: "agent", id: wide.agent })
        yield* members.update(member.principal.id, { role: "viewer" }).pipe(as(admin))
        assert.strictEqual(yield* write(wide.access_token), "Forbidden role_too_low")
        // The sign-in of a viewer was granted no more, whoever the member became.
        yield* members.update(viewer.principal.id, { role: "admin" }).pipe(as(admin))
        assert.strictEqual(yield* write(ofViewer.access_token), "Forbidden insufficient_scope")
      })
    )
  })
})
