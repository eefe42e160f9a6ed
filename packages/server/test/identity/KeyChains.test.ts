import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import type { Event } from "@delivery/domain/events/Event"
import type { ApiKey, NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { Invite, NewInvite } from "@delivery/domain/identity/Invite"
import { timestamp } from "@delivery/domain/Timestamp"
import { assert } from "vitest"
import {
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refresh,
  refusal,
  registerAgent,
  signIn,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"
import { accountKeyOf, inviteOf, keyOf } from "./Keys.ts"

/** What was made with a key ends with it (docs/contract.md, API keys). */

const isAlive = async (key: Http) => (await key.send("GET", "/v1/workspaces")).status === 200
const isSignedIn = async (by: Http, { access_token }: AgentSignIn) =>
  (await by.as(access_token).send("GET", "/agent/v1/me")).status === 200
const statusOf = async (by: Http, { id }: NewInvite) =>
  (await by.get<{ invites: ReadonlyArray<Invite> }>("invites")).invites.find((invite) => invite.id === id)?.status

const revoke = (by: Http, id: string, body?: object) => by.post(`/v1/api-keys/${id}/revoke`, body, 200)

const ownKeys = (by: Http) => by.get<ReadonlyArray<ApiKey>>("/v1/api-keys")
const report = (by: Http) => by.as(undefined).send("POST", "/v1/tokens/report", { json: { token: by.key } })

/** All that a leaked key can make, and what is made with that, but for invites: a key that expires makes none. */
const credentialsMadeWith = async (key: Http) => {
  const account = await accountKeyOf(key)
  return {
    key: await keyOf(key).then(keyOf),
    account,
    accountOfAccount: await accountKeyOf(account),
    agent: await registerAgent(key, { computer: unique("computer") })
  }
}

const madeWith = async (key: Http) => {
  const made = await credentialsMadeWith(key)
  return { ...made, inviteOfAccount: await inviteOf(made.account), invite: await inviteOf(key) }
}

const standingOfCredentials = async (by: Http, made: Awaited<ReturnType<typeof credentialsMadeWith>>) => ({
  key: await isAlive(made.key),
  account: await isAlive(made.account),
  accountOfAccount: await isAlive(made.accountOfAccount),
  agent: await isSignedIn(by, made.agent)
})

const standingOf = async (
  by: Http,
  made: Awaited<ReturnType<typeof madeWith>>
): Promise<Record<string, boolean | string | undefined>> => ({
  ...(await standingOfCredentials(by, made)),
  inviteOfAccount: await statusOf(by, made.inviteOfAccount),
  invite: await statusOf(by, made.invite)
})

const credentialsEnded = { key: false, account: false, accountOfAccount: false, agent: false }
const ended = { ...credentialsEnded, inviteOfAccount: "revoked", invite: "revoked" }

onEachServer("a key that is revoked", (test) => {
  test("ends what was made with it, and leaves a trace of each", async (owner) => {
    const person = await join(await newWorkspace(owner), "owner")
    const [leaked, other] = [await keyOf(person), await keyOf(person)]
    const [made, kept] = [await madeWith(leaked), await registerAgent(other, { computer: "other" })]
    await revoke(person, leaked.id)
    assert.deepStrictEqual(await standingOf(person, made), ended)
    assert.strictEqual(refusal(await refresh(person, made.agent)), "400 invalid_grant")
    for (const { token } of [made.invite, made.inviteOfAccount]) {
      await person.as(undefined).refuse("404 invite", "POST", "/v1/invites/accept", { token, name: "Sam" })
    }
    // What was made with others stays.
    assert.deepStrictEqual(
      [await isAlive(person), await isAlive(other), await isSignedIn(person, kept)],
      [true, true, true]
    )
    const events = (await person.get<{ events: ReadonlyArray<Event> }>("events")).events
    const subjects = (kind: string) => events.filter((event) => event.kind === kind).map(({ subject }) => subject.id)
    assert.includeMembers(
      subjects("key_revoked"),
      [leaked, made.key, made.account, made.accountOfAccount].map(({ id }) => id)
    )
    assert.lengthOf(subjects("key_revoked"), 5)
    assert.sameMembers(subjects("invite_revoked"), [made.invite.id, made.inviteOfAccount.id])
  })

  test("spares account keys where it is asked to, with what was made with them", async (owner) => {
    const person = await join(await newWorkspace(owner), "owner")
    const first = await keyOf(person)
    const leaked = await keyOf(first)
    const made = await madeWith(leaked)
    await person.refuse("400 accountApiKeys", "POST", `/v1/api-keys/${leaked.id}/revoke`, { accountApiKeys: "end" })
    await revoke(person, leaked.id, { accountApiKeys: "keep" })
    assert.deepStrictEqual(await standingOf(person, made), {
      ...ended,
      account: true,
      accountOfAccount: true,
      inviteOfAccount: "pending"
    })
    // Who keeps them is of their family: they are still what they were made with, further back.
    await revoke(person, first.id)
    assert.deepStrictEqual(await standingOf(person, made), ended)
  })

  test("spares them for good, where a credential of another family asks", async (owner) => {
    const person = await join(await newWorkspace(owner), "owner")
    const first = await keyOf(person)
    const leaked = await keyOf(first)
    const made = await madeWith(leaked)
    const session = await signIn(person, person.id)
    await revoke(session, leaked.id, { accountApiKeys: "keep" })
    await revoke(person, first.id)
    const kept = { ...ended, account: true, accountOfAccount: true, inviteOfAccount: "pending" }
    assert.deepStrictEqual(await standingOf(person, made), kept)
    // What was made with them ends with them, as ever.
    await person.post(`account-api-keys/${made.account.id}/revoke`, undefined, 200)
    assert.deepStrictEqual(await standingOf(person, made), ended)
  })

  test("of an account does the same", async (owner) => {
    const workspace = await newWorkspace(owner)
    const account = await accountKeyOf(workspace)
    const [made, invite] = [await accountKeyOf(account), await inviteOf(account)]
    const kept = await accountKeyOf(workspace)
    await workspace.post(`account-api-keys/${account.id}/revoke`, {}, 200)
    assert.deepStrictEqual([await isAlive(account), await isAlive(made), await isAlive(kept)], [false, false, true])
    assert.strictEqual(await statusOf(workspace, invite), "revoked")
    await workspace.refuse("404 account API key", "POST", `account-api-keys/${made.id}/revoke`)
  })

  test("ends what is made with it at the same moment", async (owner) => {
    const person = await join(await newWorkspace(owner), "owner")
    for (let round = 0; round < 5; round++) {
      const leaked = await keyOf(person)
      const nested = await keyOf(leaked)
      const making = Array.from({ length: 12 }, (_, i) =>
        i % 3 === 0
          ? nested.send<NewApiKey>("POST", "/v1/api-keys", { json: { name: "made" } })
          : leaked.send<NewApiKey>("POST", "account-api-keys", { json: { name: "made", role: "viewer" } })
      )
      const [, ...answers] = await Promise.all([revoke(person, leaked.id), ...making])
      for (const { body, status } of answers) {
        assert.oneOf(status, [200, 201, 401])
        if (status !== 401) assert.isFalse(await isAlive(person.as(body.secret)))
      }
    }
  })

  test("ends no account key that was kept when its person was deactivated, nor does a report", async (owner) => {
    for (const end of ["revoke", "report"]) {
      const workspace = await newWorkspace(owner)
      const person = await join(workspace, "admin")
      const nested = await keyOf(person)
      const [one, two] = [await accountKeyOf(person), await accountKeyOf(nested)]
      const [made, invite] = [await accountKeyOf(one), await inviteOf(one)]
      await workspace.post(`members/${person.id}/deactivate`, { accountApiKeys: "keep" }, 200)
      if (end === "report") await report(person)
      else await revoke(person, (await ownKeys(person)).find(({ name }) => name !== nested.name)!.id)
      assert.isFalse(await isAlive(person))
      assert.isFalse(await isAlive(nested))
      assert.deepStrictEqual(await Promise.all([one, two, made].map(isAlive)), [true, true, true])
      assert.strictEqual(await statusOf(workspace, invite), "pending")
      await workspace.post(`account-api-keys/${one.id}/revoke`, undefined, 200)
      assert.deepStrictEqual(await Promise.all([one, two, made].map(isAlive)), [false, true, false])
      assert.strictEqual(await statusOf(workspace, invite), "revoked")
    }
  })

  test("ends no account key that was kept when its person got a lower role", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const key = await keyOf(person)
    const [above, made] = [await accountKeyOf(key), await accountKeyOf(key, { role: "member" })]
    await workspace.patch(`members/${person.id}`, { role: "member", accountApiKeys: "keep" })
    await revoke(person, key.id)
    // What the lower role does not end was not kept.
    assert.deepStrictEqual([await isAlive(above), await isAlive(made)], [true, false])
  })

  test("puts nothing that it made out of the reach of its owner, by keeping it", async (owner) => {
    const person = await join(await newWorkspace(owner), "owner")
    const session = await signIn(person, person.id)
    const leaked = await keyOf(session)
    const made = await accountKeyOf(leaked)
    const nested = await keyOf(leaked)
    const madeWithNested = await accountKeyOf(nested)
    await revoke(leaked, nested.id, { accountApiKeys: "keep" })
    await leaked.patch(`members/${person.id}`, { role: "member", accountApiKeys: "keep" })
    assert.deepStrictEqual([await isAlive(made), await isAlive(madeWithNested)], [true, true])
    await revoke(session, leaked.id)
    assert.deepStrictEqual([await isAlive(made), await isAlive(madeWithNested)], [false, false])
  })

  test("leaves account keys that are kept at the moment at which they make others with these", async (owner) => {
    const workspace = await newWorkspace(owner)
    for (let round = 0; round < 3; round++) {
      const person = await join(workspace, "admin")
      const account = await accountKeyOf(person)
      const nested = await accountKeyOf(account)
      const [, ...answers] = await Promise.all([
        workspace.post(`members/${person.id}/deactivate`, { accountApiKeys: "keep" }, 200),
        ...Array.from({ length: 8 }, (_, i) =>
          [account, nested][i % 2]!.send<NewApiKey>("POST", "account-api-keys", {
            json: { name: "made", role: "viewer" }
          })
        )
      ])
      const made = answers.map(({ body, status }) => {
        assert.strictEqual(status, 201)
        return workspace.as(body.secret)
      })
      await report(person)
      assert.deepStrictEqual(await Promise.all([account, nested, ...made].map(isAlive)), Array(10).fill(true))
      await workspace.post(`account-api-keys/${account.id}/revoke`, undefined, 200)
      assert.deepStrictEqual(await Promise.all([account, nested, ...made].map(isAlive)), Array(10).fill(false))
    }
  })

  test("leaves events in each workspace of its person", async (owner) => {
    const [one, two] = [await newWorkspace(owner), await newWorkspace(owner)]
    const key = await keyOf(owner)
    await revoke(owner, key.id)
    for (const workspace of [one, two]) {
      const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events")
      const ofKey = events.filter(({ subject }) => subject.id === key.id)
      assert.deepStrictEqual(
        ofKey.map(({ kind, subject }) => [kind, subject.type, subject.label]),
        [
          ["key_revoked", "key", key.name],
          ["key_created", "key", key.name]
        ]
      )
      assert.notInclude(JSON.stringify(events), key.secret)
    }
  })
})

withClockOnEachServer("a key that expires", (test) => {
  test("ends what was made with it, whatever was asked", async (owner, advance) => {
    const person = await join(await newWorkspace(owner), "owner")
    const { createdAt } = await inviteOf(person)
    const day = 24 * 60 * 60 * 1000
    const inDays = (days: number) => timestamp(Date.parse(createdAt) + days * day)
    const key = await keyOf(person, { expiresAt: inDays(1) })
    const made = await credentialsMadeWith(key)
    const later = await keyOf(key, { expiresAt: inDays(30) })
    const sooner = await keyOf(key, { expiresAt: timestamp(Date.parse(createdAt) + 1000) })
    assert.deepStrictEqual(
      [made.key, made.account, made.accountOfAccount, later].map((one) => one.expiresAt),
      Array.from({ length: 4 }, () => inDays(1))
    )
    assert.strictEqual(sooner.expiresAt, timestamp(Date.parse(createdAt) + 1000))
    advance(day - 60_000)
    // Tokens that a refresh gives end with the key, too.
    const { body } = await refresh(person, made.agent)
    assert.deepInclude(body, { expires_in: 60 })
    await person.as(body.access_token).get("/agent/v1/me")
    advance("1 minute")
    await person.as(body.access_token).refuse("401", "GET", "/agent/v1/me")
    assert.deepStrictEqual(await standingOfCredentials(person, made), credentialsEnded)
    assert.strictEqual(
      refusal(await refresh(person, { ...made.agent, refresh_token: body.refresh_token })),
      "400 invalid_grant"
    )
  })
})
