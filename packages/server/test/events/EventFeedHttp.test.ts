import type { Event, EventsPage } from "@delivery/domain/events/Event"
import type { NewApiKey } from "@delivery/domain/identity/ApiKey"
import type { Workspace } from "@delivery/domain/identity/Workspace"
import { assert } from "vitest"
import {
  eventually,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  signIn,
  teamKey,
  unique,
  withClockOnEachServer
} from "../support/Http.ts"
import { openStream } from "../support/EventStream.ts"
import { scrape } from "../telemetry/Scrape.ts"

/** Reading on in the events of a workspace, page by page and as a stream (docs/contract.md, Events). */

const page = (by: Http, query = "") => by.get<EventsPage>(`events${query}`)
const labels = (events: ReadonlyArray<Event>) => events.map(({ subject }) => subject.label)
const tag = (by: Http, name: string) => by.post<{ id: string }>("tags", { name, color: "#112233" })
const tags = async (by: Http, count: number) => {
  const names = Array.from({ length: count }, (_, n) => `tag ${n + 1}`)
  for (const name of names) await tag(by, name)
  return names
}

/** All events after a cursor, by pages of a size. */
const readOn = async (by: Http, cursor: string, limit = 50) => {
  const events: Array<Event> = []
  for (let after = cursor; ;) {
    const found = await page(by, `?after=${after}&limit=${limit}`)
    events.push(...found.events)
    if (found.events.length === 0) return { events, after: found.after }
    after = found.after
  }
}

onEachServer(
  "the feed of events",
  (test) => {
    test("goes on to older events and to newer ones, without a gap and without a repetition", async (owner) => {
      const workspace = await newWorkspace(owner)
      const made = ["workspace", ...(await tags(workspace, 12))].slice(1)
      const all = labels((await page(workspace)).events).toReversed()
      assert.deepStrictEqual(all.slice(-12), made)

      const newest = await page(workspace, "?limit=4")
      assert.deepStrictEqual(labels(newest.events), made.slice(-4).toReversed())
      const older: Array<string> = []
      for (let before = newest.before; before !== null;) {
        const found = await page(workspace, `?before=${before}&limit=5`)
        older.push(...labels(found.events))
        before = found.before
      }
      assert.deepStrictEqual(older.toReversed(), all.slice(0, -4))

      const fromFirst = await readOn(workspace, "0", 5)
      assert.deepStrictEqual(labels(fromFirst.events), all)
      assert.deepStrictEqual((await page(workspace, `?after=${fromFirst.after}`)).events, [])
      await tag(workspace, "later")
      for (const cursor of [newest.after, fromFirst.after]) {
        assert.deepStrictEqual(labels((await readOn(workspace, cursor)).events), ["later"])
      }
      const back = await page(workspace, `?after=${newest.after}`)
      assert.deepStrictEqual(labels((await page(workspace, `?before=${back.before}&limit=1`)).events), ["tag 12"])
      const middle = await page(workspace, `?before=${newest.before}&limit=1`)
      assert.deepStrictEqual(labels((await readOn(workspace, middle.after)).events), [...made.slice(-4), "later"])
      assert.deepStrictEqual((await page(workspace, "?before=0")).before, null)
    })

    test("shows only some kinds, or one subject", async (owner) => {
      const workspace = await newWorkspace(owner)
      const { id } = await tag(workspace, "one")
      await tag(workspace, "two")
      await workspace.patch(`tags/${id}`, { name: "three" })
      await workspace.post("products", { slug: "shop", name: "Shop", type: "library" })
      const kinds = async (query: string) => (await page(workspace, query)).events.map(({ kind }) => kind)
      assert.deepStrictEqual(await kinds("?kinds=tag_updated,product_created"), ["product_created", "tag_updated"])
      assert.deepStrictEqual(await kinds("?after=0&kinds=tag_updated,product_created"), [
        "tag_updated",
        "product_created"
      ])
      assert.deepStrictEqual(await kinds("?kinds=nothing_such"), [])
      assert.deepStrictEqual(await kinds(`?subject=${id}`), ["tag_updated", "tag_created"])
      assert.deepStrictEqual(await kinds(`?after=0&subject=${id}&kinds=tag_created`), ["tag_created"])
      assert.deepStrictEqual(await kinds("?subject=nothing"), [])
    })

    test("refuses cursors and numbers that are none", async (owner) => {
      const workspace = await newWorkspace(owner)
      for (const [query, path] of [
        ["after=x", "after"],
        ["after=", "after"],
        ["after=01", "after"],
        ["after=-1", "after"],
        ["after=12", "after"],
        ["before=0.", "before"],
        ["before=1.5e3", "before"],
        ["limit=0", "limit"],
        ["limit=201", "limit"],
        ["limit=1.5", "limit"],
        ["wait=26&after=0", "wait"],
        ["wait=-1&after=0", "wait"],
        ["kinds=", "kinds"],
        ["kinds=A", "kinds"],
        ["before=0&after=0", ""],
        ["wait=1", ""],
        ["wait=1&before=0", ""]
      ]) {
        await workspace.refuse(`400 ${path}`.trim(), "GET", `events?${query}`)
      }
      await workspace.refuse("400 after", "GET", "events/stream?after=x")
      const refused = await workspace.send("GET", "events/stream", { headers: { "last-event-id": "x" } })
      assert.strictEqual(refused.status, 400)
      await workspace.in(unique("nowhere")).refuse("404 workspace", "GET", "events/stream")
    })

    test("waits for an event, and answers without one when the time is over", async (owner) => {
      const workspace = await newWorkspace(owner)
      const { after } = await page(workspace)
      assert.deepStrictEqual((await page(workspace, `?after=${after}&wait=0`)).events, [])
      const waiting = page(workspace, `?after=${after}&wait=25`)
      const other = page(workspace, `?after=${after}&wait=25&kinds=tag_deleted`)
      const { id } = await tag(workspace, "new")
      const found = await waiting
      assert.deepStrictEqual(labels(found.events), ["new"])
      await workspace.delete(`tags/${id}`)
      assert.deepStrictEqual(
        (await other).events.map(({ kind }) => kind),
        ["tag_deleted"]
      )
      assert.deepStrictEqual((await page(workspace, `?after=${(await page(workspace)).after}&wait=1`)).events, [])
    })

    test("shows nothing to a key that ended while its call waited", async (owner) => {
      const workspace = await newWorkspace(owner)
      const ana = await join(workspace, "member")
      const key = await ana.post<NewApiKey>("/v1/api-keys", { name: "reader" }, 200)
      const { after } = await page(workspace)
      const waiting = workspace.as(key.secret).send("GET", `events?after=${after}&wait=25&kinds=tag_created`)
      // Its own wake-up: the end of the key is an event itself.
      await ana.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
      await tag(workspace, "after")
      assert.oneOf((await waiting).status, [401])
    })

    test("sends events as they happen, each with its cursor, to whoever may see them", async (owner) => {
      const workspace = await newWorkspace(owner)
      const [insider, outsider] = [await join(workspace, "member"), await join(workspace, "member")]
      const team = teamKey()
      await workspace.post("teams", { key: team, name: "Secret", visibility: "private" })
      await workspace.post(`teams/${team}/members`, { member: insider.id })
      const [seeing, blind] = [await openStream(insider), await openStream(outsider)]
      const { headers } = seeing.response
      assert.deepStrictEqual(
        [headers["content-type"], headers["cache-control"], headers["x-accel-buffering"]],
        ["text/event-stream", "no-store", "no"]
      )
      assert.match(seeing.text(), /^:\nid: [0-9a-f-]{36}\n\n$/)
      await workspace.post("tags", { name: "hidden", color: "#112233", team })
      await tag(workspace, "open")
      const [first, second] = [await seeing.next(), await seeing.next()]
      assert.deepStrictEqual(
        [first, second].map(({ event }) => event.subject.label),
        ["hidden", "open"]
      )
      assert.deepStrictEqual((await blind.next()).event, second.event)
      const { events } = await page(insider, "?limit=2")
      assert.deepStrictEqual([second.event, first.event], events)
      assert.notInclude(seeing.text(), "event:")

      // From then on, what they see changes with the team. What was read of it is to be read again.
      await workspace.delete(`teams/${team}/members/${insider.id}`)
      await seeing.ended
      assert.deepStrictEqual(seeing.waiting(), [])
      await workspace.post("tags", { name: "no more", color: "#112233", team })
      await tag(workspace, "seen by all")
      const since = await openStream(insider, "", { "last-event-id": second.id })
      const labelsUntilOpen: Array<string> = []
      while (labelsUntilOpen.at(-1) !== "seen by all") {
        labelsUntilOpen.push((await since.next()).event.subject.label)
      }
      assert.notInclude(labelsUntilOpen, "no more")
      since.close()
      blind.close()

      // It goes on behind the last id, which is a cursor of pages, too.
      const again = await openStream(insider, "?after=0", { "last-event-id": second.id })
      assert.notInclude(["hidden", "open"], (await again.next()).event.subject.label)
      again.close()
      assert.strictEqual(labels((await page(insider, `?after=${first.id}&limit=1`)).events)[0], "open")
      const some = await openStream(insider, "?after=0&kinds=tag_created")
      assert.strictEqual((await some.next()).event.subject.label, "open")
      some.close()
    })

    test("tells a person, where they ask for it, that they have marked notifications, and nobody else", async (owner) => {
      const workspace = await newWorkspace(owner)
      const [ann, ben] = [await join(workspace, "member"), await join(workspace, "member")]
      const { secret } = await ann.post<NewApiKey>("/v1/api-keys", { name: "phone" }, 200)
      const team = teamKey()
      await workspace.post("teams", { key: team, name: "Engineering" })
      await workspace.post("tickets", { team, title: "Theirs", owner: ann.id })
      const phone = await openStream(workspace.as(secret), "?notifications=true&kinds=tag_created")
      const [plain, other] = [await openStream(ann), await openStream(ben, "?notifications=true")]
      const path = "ticket-notifications"
      const { readAt } = await ann.post<{ readAt: string }>(`${path}/read`, undefined, 200)
      await phone.told()
      await ann.post(`${path}/unread`, { readAt }, 200)
      await phone.told()
      const { notifications } = await ann.get<{ notifications: ReadonlyArray<{ id: string }> }>(path)
      await ann.post(`${path}/${notifications[0]!.id}/read`, undefined, 200)
      await phone.told()
      assert.include(phone.text(), "event: notifications\ndata: {}\n\n")
      // Nothing was marked.
      await ann.post(`${path}/read`, undefined, 200)
      await ann.post("notifications/read", undefined, 200)
      await ben.post(`${path}/read`, undefined, 200)
      const before = phone.text().split("event:").length
      await tag(workspace, "after")
      for (const stream of [phone, plain, other]) await stream.next()
      assert.strictEqual(phone.text().split("event:").length, before)
      assert.notInclude(plain.text() + other.text(), "event:")
      for (const stream of [phone, plain, other]) stream.close()
      await workspace.refuse("400 notifications", "GET", "events/stream?notifications=1")
    })

    test("ends when its caller sees a team no more, whatever it sends, and goes on for all others", async (owner) => {
      const workspace = await newWorkspace(owner)
      const [insider, outsider, admin] = [
        await join(workspace, "member"),
        await join(workspace, "member"),
        await join(workspace, "admin")
      ]
      const [hidden, shown] = [teamKey(), teamKey()]
      await workspace.post("teams", { key: hidden, name: "Secret", visibility: "private" })
      await workspace.post("teams", { key: shown, name: "Open" })
      for (const team of [hidden, shown]) await workspace.post(`teams/${team}/members`, { member: insider.id })
      const open = async () => [await openStream(insider), await openStream(insider, "?kinds=tag_created")] as const
      const [seeing, ofTags] = await open()
      const [blind, all] = [await openStream(outsider), await openStream(admin)]
      // Neither hides a team from whoever is in it, or sees it without that.
      await workspace.delete(`teams/${shown}/members/${insider.id}`)
      await workspace.delete(`teams/${hidden}/members/${insider.id}`)
      await Promise.all([seeing.ended, ofTags.ended])
      const [again] = await open()
      await workspace.patch(`teams/${shown}`, { visibility: "private" })
      await Promise.all([again.ended, blind.ended])
      assert.notInclude(again.text() + blind.text(), "team_updated")
      // A role shows less, too.
      const last = all.ended
      await workspace.patch(`members/${admin.id}`, { role: "member" })
      await last
      assert.deepStrictEqual(
        all.waiting().map(({ event }) => event.kind),
        ["team_member_removed", "team_member_removed", "team_updated", "member_updated"]
      )
    })

    test("sends a workspace's past, however long, and then what happens", async (owner) => {
      const workspace = await newWorkspace(owner)
      const made = await tags(workspace, 230)
      const stream = await openStream(workspace, "?after=0&kinds=tag_created")
      const received: Array<string> = []
      while (received.length < 230) received.push((await stream.next()).event.subject.label)
      assert.deepStrictEqual(received, made)
      await tag(workspace, "then")
      assert.strictEqual((await stream.next()).event.subject.label, "then")
      stream.close()
    })

    test("stays with its workspace when the slug of its path comes to belong to another one", async (owner) => {
      const workspace = await newWorkspace(owner)
      const [ana, ben] = [await join(workspace, "member"), await join(workspace, "member")]
      const slug = unique("acme")
      const { id } = await workspace.get<Workspace>("")
      const here = workspace.in(id)
      await here.patch("", { slug })
      const [anas, bens] = [await openStream(ana.in(slug)), await openStream(ben.in(slug))]
      await here.patch("", { slug: unique("acme") })
      const own = await ana.post<Workspace>("/v1/workspaces", { slug, name: "Own" })
      await here.post(`members/${ana.id}/deactivate`, undefined, 200)
      await anas.ended
      await tag(ana.in(own.id), "of the other")
      await tag(here, "of this")
      while ((await bens.next()).event.subject.label !== "of this");
      bens.close()
    })

    test("ends with the key, with the membership and with a block, and counts open streams", async (owner) => {
      const workspace = await newWorkspace(owner)
      const [ana, ben] = [await join(workspace, "member"), await join(workspace, "viewer")]
      const key = await ana.post<NewApiKey>("/v1/api-keys", { name: "reader" }, 200)
      const browser = await signIn(workspace, ana.id)
      const laptop = await ana.post<NewApiKey>("/v1/api-keys", { name: "laptop" }, 200)
      const streams = [
        await openStream(ana),
        await openStream(ana.as(key.secret)),
        await openStream(ben),
        await openStream(ana.as(laptop.secret)),
        await openStream(browser)
      ]
      await eventually(
        async () => (await scrape(owner.baseUrl)).value("delivery_event_streams"),
        (open) => open === 5
      )
      await ana.post(`/v1/api-keys/${key.id}/revoke`, undefined, 200)
      await streams[1]!.ended
      await workspace.post(`members/${ben.id}/deactivate`, undefined, 200)
      await streams[2]!.ended
      await workspace.post(`credentials/${laptop.id}/block`, undefined, 200)
      await streams[3]!.ended
      await browser.delete("/auth/v1/session")
      await streams[4]!.ended
      await tag(workspace, "still")
      while ((await streams[0]!.next()).event.subject.label !== "still");
      streams[0]!.close()
      await eventually(
        async () => (await scrape(owner.baseUrl)).value("delivery_event_streams"),
        (open) => open === 0
      )
    })
  },
  { METRICS: "true", REQUEST_LIMIT_MS: "1000" }
)

withClockOnEachServer("streams of events", (test) => {
  test("send a comment every 15 s while nothing happens", async (owner, advance) => {
    const stream = await openStream(owner)
    const comments = () => stream.text().split(":\n").length - 1
    for (const count of [2, 3]) {
      advance("15 seconds")
      await eventually(
        () => Promise.resolve(comments()),
        (sent) => sent >= count
      )
    }
    stream.close()
  })
})
