import { accessTokenSeconds } from "@delivery/domain/agents/OAuth"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { Agents } from "../../src/agents/Agents.ts"
import { OAuthFailure, SignIns } from "../../src/agents/SignIns.ts"
import { SignInsRepo } from "../../src/agents/SignInsRepo.ts"
import { hashToken, isToken } from "../../src/ids/Tokens.ts"
import { Members } from "../../src/identity/Members.ts"
import { as, makeScene, newId } from "../identity/Scene.ts"
import { baseUrl, withServicesOnEachStorage } from "../support/Storages.ts"
import { authenticated, form, type Held, nextOf, refreshed, registered } from "./Scene.ts"

const together = { concurrency: "unbounded" } as const

const isAlive = (accessToken: string) => Effect.map(authenticated(accessToken), (found) => found !== undefined)

const revoke = (fields: Readonly<Record<string, string>>) =>
  Effect.flatMap(SignIns, (signIns) =>
    signIns.revoke(form(fields)).pipe(
      Effect.as("ok"),
      Effect.catch(({ error, status }) => Effect.succeed(`${status} ${error}`))
    )
  )

withServicesOnEachStorage("SignIns", (it) => {
  it.describe("the next pair", () => {
    it.effect("is new, and the earlier access token stays valid", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const first = yield* registered(member)
        const second = yield* nextOf(first)
        assert.isTrue(isToken("atk_", second.access_token) && isToken("rtk_", second.refresh_token))
        assert.deepInclude(second, { token_type: "Bearer", expires_in: 3_600, scope: "read write" })
        assert.lengthOf(
          new Set([first, second].flatMap(({ access_token, refresh_token }) => [access_token, refresh_token])),
          4
        )
        assert.isTrue((yield* isAlive(first.access_token)) && (yield* isAlive(second.access_token)))
        assert.strictEqual((yield* authenticated(second.access_token))?.agent.id, first.agent)
      })
    )

    it.effect("is issued once for each refresh token, many times in a row", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        let held: Held = yield* registered(member)
        for (let i = 0; i < 20; i++) held = yield* nextOf(held)
      })
    )

    it.effect("is valid for an hour, its refresh token for 30 days", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const first = yield* registered(member)
        yield* TestClock.adjust(accessTokenSeconds * 1_000 - 1)
        assert.isTrue(yield* isAlive(first.access_token))
        yield* TestClock.adjust(1)
        assert.isFalse(yield* isAlive(first.access_token))
        yield* TestClock.adjust(30 * 86_400_000 - accessTokenSeconds * 1_000 - 1)
        const second = yield* nextOf(first)
        assert.isTrue(yield* isAlive(second.access_token))
        yield* TestClock.adjust("30 days")
        assert.strictEqual(yield* refreshed(second), "400 invalid_grant")
      })
    )

    it.effect("has the granted scope, or a narrower one on request", () =>
      Effect.gen(function* () {
        const { member, viewer } = yield* makeScene
        const first = yield* registered(member)
        const readOnly = yield* nextOf(first, { scope: "read" })
        assert.strictEqual(readOnly.scope, "read")
        assert.strictEqual((yield* authenticated(readOnly.access_token))?.scope, "read")
        assert.strictEqual((yield* nextOf(readOnly, { scope: "write read" })).scope, "read write")
        const ofViewer = yield* registered(viewer)
        assert.strictEqual(ofViewer.scope, "read")
        assert.strictEqual(yield* refreshed(ofViewer, { scope: "read write" }), "400 invalid_scope")
        assert.strictEqual((yield* nextOf(ofViewer)).scope, "read")
      })
    )

    it.effect("follows the member's role, within the scope of the sign-in", () =>
      Effect.gen(function* () {
        const members = yield* Members
        const { admin, member, viewer } = yield* makeScene
        const first = yield* registered(member)
        yield* members.update(member.principal.id, { role: "viewer" }).pipe(as(admin))
        const asViewer = yield* nextOf(first)
        assert.strictEqual(asViewer.scope, "read")
        yield* members.update(member.principal.id, { role: "member" }).pipe(as(admin))
        assert.strictEqual((yield* nextOf(asViewer)).scope, "read write")
        const ofViewer = yield* registered(viewer)
        yield* members.update(viewer.principal.id, { role: "admin" }).pipe(as(admin))
        assert.strictEqual((yield* nextOf(ofViewer)).scope, "read")
        const promoted = { ...viewer, membership: { ...viewer.membership!, role: "admin" as const } }
        assert.strictEqual((yield* registered(promoted)).scope, "read write")
      })
    )
  })

  it.describe("a refresh token that was used", () => {
    it.effect("gives a new pair again within a minute, in place of the lost one", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const first = yield* registered(member)
        const lost = yield* nextOf(first)
        yield* TestClock.adjust(59_999)
        const second = yield* nextOf(first)
        assert.notStrictEqual(second.refresh_token, lost.refresh_token)
        assert.isTrue(yield* isAlive(second.access_token))
        yield* nextOf(second)
      })
    )

    it.effect("ends the sign-in if the replaced successor shows up after all", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        for (const refreshesBetween of [0, 1, 3]) {
          const first = yield* registered(member)
          const stolen = yield* nextOf(first)
          let held = yield* nextOf(first)
          for (let count = 0; count < refreshesBetween; count++) held = yield* nextOf(held)
          yield* TestClock.adjust("1 day")
          // Somebody else's client cannot end it.
          assert.strictEqual(yield* refreshed({ ...stolen, clientId: newId() }), "400 invalid_grant")
          const kept = yield* nextOf(held)
          assert.isTrue(yield* isAlive(kept.access_token))
          assert.strictEqual(yield* refreshed(stolen), "400 invalid_grant")
          assert.isFalse(yield* isAlive(kept.access_token))
          assert.strictEqual(yield* refreshed(kept), "400 invalid_grant")
        }
      })
    )

    it.effect("ends nothing once it has expired, replaced or not", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const first = yield* registered(member)
        const replaced = yield* nextOf(first)
        let held = yield* nextOf(first)
        yield* TestClock.adjust("29 days")
        held = yield* nextOf(held)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* refreshed(replaced), "400 invalid_grant")
        yield* nextOf(held)
      })
    )

    it.effect("ends the sign-in a minute after its first use", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const first = yield* registered(member)
        yield* nextOf(first)
        yield* TestClock.adjust(59_999)
        const second = yield* nextOf(first)
        yield* TestClock.adjust(1)
        assert.strictEqual(yield* refreshed(first), "400 invalid_grant")
        assert.isFalse((yield* isAlive(first.access_token)) || (yield* isAlive(second.access_token)))
        assert.strictEqual(yield* refreshed(second), "400 invalid_grant")
      })
    )

    it.effect("ends the sign-in immediately if its successor was used", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const first = yield* registered(member)
        const other = yield* registered(member, { computer: "desktop" })
        const third = yield* nextOf(yield* nextOf(first))
        assert.strictEqual(yield* refreshed(first), "400 invalid_grant")
        assert.isFalse((yield* isAlive(first.access_token)) || (yield* isAlive(third.access_token)))
        assert.strictEqual(yield* refreshed(third), "400 invalid_grant")
        // No other sign-in of the agent ends.
        assert.isTrue(yield* isAlive(other.access_token))
        yield* nextOf(other)
      })
    )
  })

  it.effect("refuses requests that are no valid use of a refresh token, and ends nothing", () =>
    Effect.gen(function* () {
      const signIns = yield* SignIns
      const { member, owner } = yield* makeScene
      const [held, others] = [yield* registered(member), yield* registered(owner)]
      const right = { grant_type: "refresh_token", client_id: held.clientId, refresh_token: held.refresh_token }
      const refused = (fields: Readonly<Record<string, string>>) =>
        Effect.map(Effect.flip(signIns.refresh(form(fields))), ({ error, status }) => `${status} ${error}`)
      const without = (name: keyof typeof right) =>
        Object.fromEntries(Object.entries(right).filter(([field]) => field !== name))
      for (const name of ["grant_type", "client_id", "refresh_token"] as const) {
        assert.strictEqual(yield* refused(without(name)), "400 invalid_request", name)
      }
      for (const grant of ["authorization_code", "client_credentials", "password", "REFRESH_TOKEN"]) {
        assert.strictEqual(yield* refused({ ...right, grant_type: grant }), "400 unsupported_grant_type", grant)
      }
      for (const token of [held.access_token, `rtk_${"0".repeat(42)}`, "rtk_", held.refresh_token.slice(0, -1)]) {
        assert.strictEqual(yield* refused({ ...right, refresh_token: token }), "400 invalid_grant", token)
      }
      for (const clientId of [others.clientId, newId(), "claude", held.clientId.toUpperCase()]) {
        assert.strictEqual(yield* refused({ ...right, client_id: clientId }), "400 invalid_grant", clientId)
      }
      for (const scope of ["admin", "read admin", "read  write", "READ"]) {
        assert.strictEqual(yield* refused({ ...right, scope }), "400 invalid_scope", scope)
      }
      for (const resource of ["https://elsewhere.example/agent/mcp", `${baseUrl}/agent/mcp/`, baseUrl]) {
        assert.strictEqual(yield* refused({ ...right, resource }), "400 invalid_target", resource)
      }
      yield* nextOf(held, { resource: `${baseUrl}/agent/mcp` })
    })
  )

  it.effect("ends with the member, whether they come back or not", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { admin, member } = yield* makeScene
      const first = yield* registered(member)
      const second = yield* nextOf(first)
      yield* members.deactivate(member.principal.id).pipe(as(admin))
      assert.strictEqual(yield* refreshed(second), "400 invalid_grant")
      assert.isUndefined(yield* (yield* SignInsRepo).lockByRefreshToken(hashToken(second.refresh_token)))
      assert.isFalse((yield* isAlive(first.access_token)) || (yield* isAlive(second.access_token)))
      yield* members.reactivate(member.principal.id).pipe(as(admin))
      assert.isFalse(yield* isAlive(second.access_token))
      assert.strictEqual(yield* refreshed(second), "400 invalid_grant")
    })
  )

  it.describe("revoking", () => {
    it.effect("ends the sign-in of a refresh token, used or not", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        for (const isUsed of [false, true]) {
          const first = yield* registered(member)
          const second = yield* nextOf(first)
          const { refresh_token: token } = isUsed ? first : second
          assert.strictEqual(yield* revoke({ token, client_id: first.clientId }), "ok")
          assert.isFalse((yield* isAlive(first.access_token)) || (yield* isAlive(second.access_token)))
          assert.strictEqual(yield* refreshed(second), "400 invalid_grant")
          assert.strictEqual(yield* revoke({ token }), "ok")
        }
      })
    )

    it.effect("ends only the given access token", () =>
      Effect.gen(function* () {
        const { member } = yield* makeScene
        const first = yield* registered(member)
        const second = yield* nextOf(first)
        assert.strictEqual(yield* revoke({ token: first.access_token, token_type_hint: "refresh_token" }), "ok")
        assert.isFalse(yield* isAlive(first.access_token))
        assert.isTrue(yield* isAlive(second.access_token))
        yield* nextOf(second)
      })
    )

    it.effect("ends nothing for another client, or for an unknown token", () =>
      Effect.gen(function* () {
        const { member, owner } = yield* makeScene
        const [held, other] = [yield* registered(member), yield* registered(owner)]
        for (const token of [held.refresh_token, held.access_token]) {
          assert.strictEqual(yield* revoke({ token, client_id: other.clientId }), "400 invalid_grant")
        }
        for (const token of ["", "claude", `atk_${"0".repeat(42)}`, `rtk_${"0".repeat(42)}`]) {
          assert.strictEqual(yield* revoke({ token, client_id: other.clientId }), "ok", token)
        }
        assert.strictEqual(yield* revoke({ client_id: held.clientId }), "400 invalid_request")
        assert.isTrue(yield* isAlive(held.access_token))
        yield* nextOf(held)
      })
    )
  })

  it.describe("under concurrency", () => {
    it.effect(
      "a refresh token that is used many times leaves one valid refresh token, and its replaced ones end all",
      () =>
        Effect.gen(function* () {
          const { member } = yield* makeScene
          for (let round = 0; round < 5; round++) {
            const first = yield* registered(member)
            const pairs = yield* Effect.forEach(Array.from({ length: 20 }), () => nextOf(first), together)
            const alive = yield* Effect.forEach(pairs, (pair) => isAlive(pair.access_token))
            assert.isTrue(alive.every((isAlive) => isAlive))
            const answers = yield* Effect.forEach(pairs, (pair) => refreshed(pair))
            assert.isAtMost(answers.filter((answer) => typeof answer !== "string").length, 1)
            assert.isTrue(
              (yield* Effect.forEach(pairs, (pair) => isAlive(pair.access_token))).every((isAlive) => !isAlive)
            )
          }
        })
    )

    it.effect("a refresh and the end of its sign-in leave no valid token", () =>
      Effect.gen(function* () {
        const agents = yield* Agents
        const { member } = yield* makeScene
        const ends = [
          (held: Held & { agent: string }) => Effect.asVoid(agents.revoke(held.agent).pipe(as(member))),
          (held: Held) => Effect.asVoid(revoke({ token: held.refresh_token })),
          () => Effect.asVoid(registered(member))
        ]
        for (let round = 0; round < 12; round++) {
          const first = yield* registered(member)
          const [answers] = yield* Effect.all(
            [
              Effect.forEach(Array.from({ length: 4 }), () => refreshed(first), together),
              ends[round % ends.length]!(first)
            ],
            together
          )
          assert.isFalse(yield* isAlive(first.access_token))
          for (const pair of answers.filter((answer) => typeof answer !== "string")) {
            assert.isFalse(yield* isAlive(pair.access_token))
            assert.strictEqual(yield* refreshed(pair), "400 invalid_grant")
          }
        }
      })
    )
  })

  it.effect("behaves like the model of the contract in any sequence of operations", () =>
    Effect.gen(function* () {
      const { member } = yield* makeScene
      const steps = fc.array(
        fc.oneof(
          { weight: 4, arbitrary: fc.record({ use: fc.nat(9) }) },
          { weight: 1, arbitrary: fc.record({ wait: fc.constantFrom(20_000, 61_000, 29 * 86_400_000) }) }
        ),
        { minLength: 4, maxLength: 12 }
      )
      for (const history of fc.sample(steps, 25)) {
        const made = yield* registered(member)
        let now = 0
        let lastUse = Number.NEGATIVE_INFINITY
        let hasEnded = false
        /** The model of the contract: each token with its state. */
        const tokens: Array<{ held: Held; state: "works" | "last" | "used" | "replaced"; until: number }> = []
        const add = (held: Held) => tokens.push({ held, state: "works", until: now + 30 * 86_400_000 })
        add(made)
        for (const step of history) {
          if ("wait" in step) {
            now += step.wait
            yield* TestClock.adjust(step.wait)
            continue
          }
          const token = tokens[tokens.length - 1 - (step.use % tokens.length)]!
          const present = tokens.find(({ state }) => state === "works")!
          const answer = yield* refreshed(token.held)
          const said = `${JSON.stringify(history)} at ${now}`
          const isRefused: boolean = hasEnded || token.until <= now
          const isAgain: boolean =
            !isRefused &&
            (token.state === "used" ||
              token.state === "replaced" ||
              (token.state === "last" && now - lastUse >= 60_000))
          if (isRefused || isAgain) {
            assert.strictEqual(answer, "400 invalid_grant", said)
            hasEnded ||= isAgain
            continue
          }
          if (typeof answer === "string") return assert.fail(`${said}: ${answer}`)
          if (token.state === "works") {
            for (const other of tokens) if (other.state === "last") other.state = "used"
            token.state = "last"
            lastUse = now
          } else present.state = "replaced"
          add(answer)
        }
        const present = tokens.find(({ state }) => state === "works")!
        const isUsable = !hasEnded && present.until > now
        assert.strictEqual(typeof (yield* refreshed(present.held)) !== "string", isUsable, JSON.stringify(history))
      }
    })
  )

  it.effect("never repeats a token in a message", () =>
    Effect.gen(function* () {
      const { member } = yield* makeScene
      const first = yield* registered(member)
      yield* nextOf(yield* nextOf(first))
      const failure = yield* Effect.flip(
        Effect.flatMap(SignIns, (signIns) =>
          signIns.refresh(
            form({ grant_type: "refresh_token", client_id: first.clientId, refresh_token: first.refresh_token })
          )
        )
      )
      assert.instanceOf(failure, OAuthFailure)
      assert.notInclude(JSON.stringify(failure), first.refresh_token)
    })
  )
})
