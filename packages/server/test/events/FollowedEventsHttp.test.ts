import { type EventsPage, maxFollowed } from "@delivery/domain/events/Event"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import { Layer } from "effect"
import { once } from "node:events"
import { assert } from "vitest"
import {
  accountKey,
  type ErrorBody,
  eventually,
  type Http,
  join,
  newLink,
  newWorkspace,
  onEachServer,
  onServers,
  openSocket,
  sessionIn,
  signIn,
  teamKey,
  withClockOnEachServer
} from "../support/Http.ts"
import { openStream } from "../support/EventStream.ts"
import { servers } from "../support/Servers.ts"
import { makeStatements } from "../support/Statements.ts"

/** What it costs to follow events, and how often one may (docs/contract.md, Events). */

const tag = (by: Http, name: string, fields: object = {}) =>
  by.post<{ id: string }>("tags", { name, color: "#112233", ...fields })
const labels = ({ events }: EventsPage) => events.map(({ subject }) => subject.label)
const latest = async (by: Http) => (await by.get<EventsPage>("events?limit=1")).after

/** A stream on a connection of its own: those of the client are fewer. */
const openRaw = async (by: Http) => {
  const socket = openSocket(by)
  socket.on("error", () => {})
  socket.write(
    `GET /v1/workspaces/${by.workspace}/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${by.key}\r\n\r\n`
  )
  assert.include(String((await once(socket, "data"))[0]), "HTTP/1.1 200")
  return socket
}

onEachServer("those who follow events", (test) => {
  test("have 64 streams open at once, with all of their keys together", async (owner) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "member")
    const { secret } = await person.post<NewApiKey>("/v1/api-keys", { name: "second" }, 200)
    const second = workspace.as(secret)
    const after = await latest(workspace)
    const streams = await Promise.all(
      Array.from({ length: maxFollowed }, (_, n) => openRaw(n % 2 === 0 ? person : second))
    )
    for (const path of ["events/stream", `events?after=${after}&wait=25`]) {
      for (const by of [person, second]) {
        const refused = await by.send<ErrorBody>("GET", path)
        assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [429, "5"])
        assert.include(refused.body.message, "64 streams and waiting calls")
      }
    }
    // What does not wait is not refused, nor is another caller.
    assert.deepStrictEqual(labels(await person.get<EventsPage>(`events?after=${after}&wait=0`)), [])
    for (const by of [await accountKey(workspace, "viewer"), workspace]) (await openStream(by)).close()
    streams[0]!.destroy()
    await eventually(
      () => second.send("GET", "events/stream"),
      ({ status }) => status === 200
    )
    for (const socket of streams) socket.destroy()
  })

  test("are shown by a call that waits what a stream shows", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [insider, outsider] = [await join(workspace, "member"), await join(workspace, "member")]
    const team = teamKey()
    await workspace.post("teams", { key: team, name: "Secret", visibility: "private" })
    await workspace.post(`teams/${team}/members`, { member: insider.id })
    const stream = await openStream(insider)
    const wait = (by: Http, after: string, more = "") =>
      by.get<EventsPage>(`events?after=${after}&wait=25&kinds=tag_created${more}`)
    const after = await latest(workspace)
    const [seeing, blind] = [wait(insider, after), wait(outsider, after)]
    await tag(workspace, "hidden", { team })
    assert.deepStrictEqual(labels(await seeing), ["hidden"])
    // It was shown, so the other call was woken, too.
    assert.strictEqual((await stream.next()).event.subject.label, "hidden")
    await tag(workspace, "open")
    assert.deepStrictEqual(labels(await blind), ["open"])
    const next = await wait(insider, (await seeing).after)
    assert.deepStrictEqual([labels(next), next.after], [["open"], (await blind).after])
    stream.close()
  })

  test("get no more events than they ask for, and the next ones after them", async (owner) => {
    const workspace = await newWorkspace(owner)
    const stream = await openStream(workspace)
    const kinds = "kinds=invite_accepted,member_joined"
    const waiting = workspace.get<EventsPage>(`events?after=${await latest(workspace)}&wait=25&limit=1&${kinds}`)
    await join(workspace, "viewer")
    const first = await waiting
    const second = await workspace.get<EventsPage>(`events?after=${first.after}&wait=25&limit=1&${kinds}`)
    const read = [...first.events, ...second.events].map(({ kind }) => kind)
    assert.deepStrictEqual(read, ["invite_accepted", "member_joined"])
    const third = await workspace.get<EventsPage>(`events?after=${second.after}&limit=1&${kinds}`)
    assert.deepStrictEqual(third, { events: [], before: `${second.events[0]!.id}~`, after: second.after })
    stream.close()
  })

  test("cannot tell what happens elsewhere by their cursors", async (owner) => {
    const [workspace, other] = [await newWorkspace(owner), await newWorkspace(owner)]
    const elsewhere = await latest(other)
    const unknown = "0197a1b2-0000-7000-8000-0000000000a1"
    await tag(workspace, "one")
    const first = await latest(workspace)
    assert.strictEqual(first, (await workspace.get<EventsPage>("events?limit=1")).events[0]!.id)
    for (const query of ["after=", "before=", `after=${first}.`, `before=${first}.`]) {
      const [ofOther, ofNone] = [
        await workspace.send("GET", `events?${query}${elsewhere}`),
        await workspace.send("GET", `events?${query}${unknown}`)
      ]
      assert.deepStrictEqual([ofOther.status, ofOther.text], [400, ofNone.text])
    }
    for (const cursor of [elsewhere, unknown]) {
      await workspace.refuse("400 after", "GET", `events/stream?after=${cursor}`)
      await workspace.refuse("400 after", "GET", `events?after=${cursor}&wait=25`)
    }
    // Whatever happens elsewhere, what is told here stays the same.
    const before = (await workspace.send("GET", `events?after=${first}`)).text
    await tag(other, "two")
    assert.strictEqual((await workspace.send("GET", `events?after=${first}`)).text, before)
  })
})

const statements = makeStatements()

onServers(
  servers
    .filter(([name]) => name !== "memory")
    .map(([name, server]) => [name, (environment) => Layer.provide(server(environment), statements.layer)]),
  "a call that waits",
  (test) => {
    test("asks for no events while none comes that matches", async (owner) => {
      const workspace = await newWorkspace(owner)
      const person = await join(workspace, "member")
      const team = teamKey()
      await workspace.post("teams", { key: team, name: "Secret", visibility: "private" })
      const stream = await openStream(workspace)
      const id = "the-call-that-waits"
      const query = `after=${await latest(workspace)}&wait=25&kinds=tag_deleted`
      const waiting = person.send<EventsPage>("GET", `events?${query}`, { headers: { "x-request-id": id } })
      await eventually(
        () => Promise.resolve(statements.of(id)),
        ({ length }) => length > 0
      )
      const ids: Array<string> = []
      for (let n = 0; n < 10; n++) {
        const made = await tag(workspace, `tag ${n}`, n % 2 === 0 ? {} : { team })
        ids.push(made.id)
        // It was woken for each of them, as this stream was.
        while ((await stream.next()).event.subject.label !== `tag ${n}`);
      }
      await workspace.delete(`tags/${ids[0]}`)
      assert.deepStrictEqual(labels((await waiting).body), ["tag 0"])
      const asked = statements.of(id).filter((text) => text.includes("from events e"))
      assert.isAtMost(asked.length, 2, asked.join("\n"))
      stream.close()
    })
  }
)

withClockOnEachServer("a stream of a session that is proven again", (test) => {
  test("ends with its token, and one with the new token goes on", async (owner, advance) => {
    const workspace = await newWorkspace(owner)
    const person = await join(workspace, "admin")
    const session = await signIn(workspace, person.id)
    const old = await openStream(session)
    const token = await newLink(workspace, person.id)
    const proven = await session.send("POST", "/auth/v1/sudo", { json: { token } })
    assert.strictEqual(proven.status, 200, proven.text)
    const present = workspace.as(sessionIn(proven))
    const next = await openStream(present)
    let hasEnded = false
    void old.ended.then(() => (hasEnded = true))
    const until = (isDone: () => boolean) =>
      eventually(async () => {
        advance("1500 millis")
        return isDone()
      }, Boolean)
    await until(() => hasEnded)
    await session.refuse("401", "GET", "events/stream")
    await tag(present, "after")
    await until(() => next.waiting().length > 0)
    assert.strictEqual((await next.next()).event.subject.label, "after")
    next.close()
  })
})
