import type { AgentSignIn } from "@delivery/domain/agents/Agent"
import type { Change, Event } from "@delivery/domain/events/Event"
import type { Me } from "@delivery/domain/identity/Me"
import type { Comment } from "@delivery/domain/planning/Comment"
import type { Milestone, Project } from "@delivery/domain/planning/Project"
import type { Tag } from "@delivery/domain/planning/Tag"
import type { Team } from "@delivery/domain/planning/Team"
import type { Ticket, TicketSummary } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { gunzipSync } from "node:zlib"
import { assert } from "vitest"
import {
  accountKey,
  assertId,
  assertTimestamp,
  type ErrorBody,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refusal,
  registerAgent,
  teamKey,
  unique
} from "../support/Http.ts"

/** Tickets and comments over HTTP (docs/contract.md, Tickets, Comments). */

/** A workspace with an open team, its statuses by category, and a member. */
const newTeam = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const team = await makeTeam(workspace)
  const { statuses } = await workspace.get<{ statuses: ReadonlyArray<TicketStatus> }>(
    `ticket-statuses?team=${team.key}`
  )
  const status = (category: string) => statuses.find((status) => status.category === category)!
  const member = await join(workspace, "member")
  const create = (fields: object = {}, by: Http = member) =>
    by.post<Ticket>("tickets", { team: team.key, title: unique("Ticket"), ...fields })
  return { workspace, team, status, member, create }
}

type Json = Readonly<Record<string, unknown>>

const makeTeam = (workspace: Http, fields: object = {}) =>
  workspace.post<Team>("teams", { key: teamKey(), name: unique("Team"), ...fields })

const teamRef = ({ id, key, name, visibility }: Team) => ({ id, key, name, visibility })

const listed = async (http: Http, query = "") =>
  (await http.get<{ tickets: ReadonlyArray<TicketSummary> }>(`tickets${query}`)).tickets

const identifiers = async (http: Http, query = "") => (await listed(http, query)).map(({ identifier }) => identifier)

const comments = async (http: Http, ticket: string) =>
  (await http.get<{ comments: ReadonlyArray<Comment> }>(`tickets/${ticket}/comments`)).comments

const events = async (http: Http) => (await http.get<{ events: ReadonlyArray<Event> }>("events")).events

const personOf = async (http: Http) => {
  const me = await http.get<Extract<Me, { kind: "user" }>>("/v1/me")
  return { id: me.id, name: me.name, email: me.email }
}

const withoutPlan = ({ plan: _, ...summary }: Ticket): TicketSummary => summary

onEachServer("tickets", (test) => {
  test("keeps earlier texts", async (owner) => {
    const { create, member, workspace } = await newTeam(owner)
    const { identifier } = await create({ description: "One" })
    const { updatedAt } = await member.patch<Ticket>(`tickets/${identifier}`, { description: "Two", plan: "a" })
    const by = { replacedBy: { kind: "user", ...(await personOf(member)) }, replacedAt: updatedAt }
    const plan = { number: 2, field: "plan", text: null, ...by }
    assert.deepStrictEqual(await workspace.get(`tickets/${identifier}/history`), {
      texts: [plan, { number: 1, field: "description", text: "One", ...by }],
      nextCursor: null
    })
    assert.deepStrictEqual(await workspace.get(`tickets/${identifier}/history?field=plan&cursor=3`), {
      texts: [plan],
      nextCursor: null
    })
    for (const query of ["field=title", "cursor=0", "cursor=a"]) {
      assert.strictEqual((await workspace.send("GET", `tickets/${identifier}/history?${query}`)).status, 400, query)
    }
    assert.strictEqual(refusal(await workspace.send("GET", "tickets/NO-1/history")), "404 ticket")
  })

  test("refuses cursors and views that the list of notifications does not have", async (owner) => {
    const { workspace } = await newTeam(owner)
    const id = "0197a1b2-0000-7000-8000-0000000000e7"
    for (const query of [
      "cursor=",
      "cursor=a",
      `cursor=${id}`,
      "cursor=1-2",
      `cursor=99999999999999-${id}`,
      "unread=yes"
    ]) {
      assert.strictEqual((await workspace.send("GET", `ticket-notifications?${query}`)).status, 400, query)
    }
    const nothing = { notifications: [], nextCursor: null, unreadCount: 0 }
    for (const query of [`cursor=0-${id}`, `cursor=9999999999999-${id}&unread=true`, "unread=false"]) {
      assert.deepStrictEqual(await workspace.get(`ticket-notifications?${query}`), nothing)
    }
  })

  test("takes the reading of all notifications back by its time", async (owner) => {
    const { create, member, workspace } = await newTeam(owner)
    const { identifier } = await create()
    await workspace.patch(`tickets/${identifier}`, { owner: (await personOf(member)).id })
    const post = (path: string, json?: object) => member.send<Json>("POST", `ticket-notifications/${path}`, { json })
    const read = await post("read")
    assert.strictEqual(read.status, 200)
    assert.deepStrictEqual(Object.keys(read.body).toSorted(), ["read", "readAt"])
    const { readAt } = read.body
    assert.deepStrictEqual(
      (await workspace.send<Json>("POST", "ticket-notifications/unread", { json: { readAt } })).body,
      { unread: 0 }
    )
    const back = await post("unread", { readAt })
    assert.deepStrictEqual([back.status, back.body], [200, { unread: 1 }])
    for (const json of [{}, { readAt: null }, { readAt: "yesterday" }]) {
      assert.strictEqual(refusal(await post("unread", json)), "400 readAt")
    }
  })

  test("changes many, and answers what became of each", async (owner) => {
    const { create, member, status, workspace } = await newTeam(owner)
    const [first, second] = [await create({ plan: "1. Form" }), await create()]
    const refs = [second.identifier.toLowerCase(), "NO-1", first.id]
    const change = (json: object) => member.send<Json>("POST", "tickets/batch", { json })
    const answer = await change({ tickets: refs, changes: { status: status("started").id } })
    assert.strictEqual(answer.status, 200)
    const [a, b] = [await member.get<Ticket>(`tickets/${first.id}`), await member.get<Ticket>(`tickets/${second.id}`)]
    assert.strictEqual(a.status.category, "started")
    assert.deepStrictEqual(answer.body, {
      results: [
        { ticket: refs[0], ok: true, value: withoutPlan(b) },
        {
          ticket: "NO-1",
          ok: false,
          error: { _tag: "NotFound", message: 'There is no ticket "NO-1" that you can see.' }
        },
        { ticket: refs[2], ok: true, value: withoutPlan(a) }
      ]
    })
    const before = await events(workspace)
    const tickets = [first.id]
    for (const [json, at] of [
      [{ tickets, changes: { status: status("backlog").id, category: "backlog" } }, "changes.category"],
      [{ tickets, changes: { addTags: ["a"], removeTags: ["a"] } }, "changes.removeTags"],
      [{ tickets, changes: { milestone: 1, project: null } }, "changes.milestone"],
      [{ tickets: [], changes: {} }, "tickets"],
      [{ tickets: Array.from({ length: 101 }, (_, n) => `A-${n + 1}`), changes: {} }, "tickets"],
      [{ tickets: [first.identifier, first.identifier.toLowerCase()], changes: {} }, "tickets"],
      [{ tickets: [first.identifier, first.id], changes: { category: "backlog" } }, "tickets[1]"],
      [{ tickets }, "changes"]
    ] as const) {
      assert.strictEqual(refusal(await change(json)), `400 ${at}`)
    }
    assert.deepStrictEqual(await events(workspace), before)
  })

  test("answers a new ticket in full, and lists it without its plan", async (owner) => {
    const { create, member, status, team, workspace } = await newTeam(owner)
    const project = await workspace.post<Project>("projects", {
      slug: unique("checkout"),
      name: unique("Checkout"),
      teams: [team.key]
    })
    const milestone = await workspace.post<Milestone>(`projects/${project.slug}/milestones`, { name: "Beta" })
    const tag = await workspace.post<Tag>("tags", { team: team.key, name: "Bug", color: "#d73a4a" })
    const person = await personOf(member)
    const made = await create({
      title: "  Pay by card ",
      description: "The till takes\nVisa.",
      plan: "1. Form",
      status: status("started").id,
      owner: person.email,
      project: project.slug,
      milestone: milestone.number,
      tags: [tag.id],
      id: "mine",
      number: 99,
      unknown: true
    })
    assertId(made.id)
    assertTimestamp(made.createdAt)
    assert.deepStrictEqual<unknown>(made, {
      id: made.id,
      identifier: `${team.key}-1`,
      number: 1,
      url: `${workspace.baseUrl}/w/${workspace.workspace}/tickets/${team.key}-1`,
      title: "Pay by card",
      description: "The till takes\nVisa.",
      plan: "1. Form",
      team: teamRef(team),
      status: { id: status("started").id, name: "In progress", category: "started" },
      rank: made.rank,
      owner: { kind: "user", ...person },
      project: { id: project.id, slug: project.slug, name: project.name },
      milestone: { number: 1, name: "Beta" },
      tags: [{ id: tag.id, name: "Bug", color: "#d73a4a" }],
      blocks: false,
      cases: null,
      completion: "free",
      passes: 1,
      mute: null,
      commentCount: 0,
      createdBy: { kind: "user", ...person },
      startedAt: made.createdAt,
      completedAt: null,
      canceledAt: null,
      createdAt: made.createdAt,
      updatedAt: made.createdAt
    })
    assert.match(made.rank, /^[0-9A-Za-z]+$/)
    for (const ref of [made.id, made.identifier, made.identifier.toLowerCase()]) {
      assert.deepStrictEqual(await member.get(`tickets/${ref}`), made)
    }
    const [only, ...others] = await listed(member)
    assert.isEmpty(others)
    assert.deepStrictEqual(only, withoutPlan(made))
    const answer = await member.send("POST", "tickets", { json: { team: team.key, title: "x" } })
    assert.strictEqual(answer.status, 201)
    assert.deepInclude(answer.body as Ticket, { plan: null, description: null, owner: null, tags: [] })
  })

  test("shows the beginning of long descriptions in lists, and all of them by themselves", async (owner) => {
    const { create, member, team } = await newTeam(owner)
    const exact = "🚀".repeat(2_000)
    const descriptions = [`${exact}🚀`, exact, "short", null]
    const made = await Promise.all(descriptions.map((description, i) => create({ title: `T${i}`, description })))
    const view = await member.post<{ id: string }>("views", { name: "All", scope: { kind: "team", key: team.key } })
    for (const found of [
      await listed(member),
      (await member.get<{ tickets: ReadonlyArray<Ticket> }>(`views/${view.id}/tickets`)).tickets
    ]) {
      const byTitle = new Map(found.map((ticket) => [ticket.title, ticket]))
      for (const [i, ticket] of made.entries()) {
        const { plan: _, ...whole } = ticket
        const cut = i === 0 ? { ...whole, description: exact, descriptionTruncated: true } : whole
        assert.deepStrictEqual<unknown>(byTitle.get(ticket.title), cut)
        assert.strictEqual((await member.get<Ticket>(`tickets/${ticket.id}`)).description, descriptions[i]!)
      }
    }
  })

  test("sends a long list in parts, as the same JSON, compressed or not", async (owner) => {
    const { create, member, team } = await newTeam(owner)
    const made = await Promise.all(Array.from({ length: 120 }, (_, i) => create({ title: `T${i}`, description: "d" })))
    const answer = await member.send<{ tickets: ReadonlyArray<Ticket> }>("GET", "tickets")
    assert.strictEqual(answer.headers["content-type"], "application/json")
    assert.strictEqual(answer.headers["transfer-encoding"], "chunked")
    const ids = (tickets: ReadonlyArray<Ticket>) => tickets.map(({ id }) => id).toSorted()
    assert.deepStrictEqual(ids(answer.body.tickets), ids(made))
    const first = answer.body.tickets[0]!
    assert.deepStrictEqual<unknown>(first, withoutPlan(made.find(({ id }) => id === first.id)!))
    const view = await member.post<{ id: string }>("views", { name: "All", scope: { kind: "team", key: team.key } })
    for (const path of ["tickets", `views/${view.id}/tickets`]) {
      const { bytes, headers } = await member.send("GET", path, { headers: { "accept-encoding": "gzip" } })
      assert.deepStrictEqual([headers["content-encoding"], headers["transfer-encoding"]], ["gzip", "chunked"], path)
      assert.deepStrictEqual(JSON.parse(gunzipSync(bytes).toString()), answer.body, path)
    }
  })

  test("validates bodies and queries before anything else", async (owner) => {
    const { create, member, team } = await newTeam(owner)
    const { identifier, title } = await create()
    const base = { team: team.key, title: "x" }
    for (const [expected, json] of [
      ["400 team title", {}],
      ["400 title", { ...base, title: " \t" }],
      ["400 title", { ...base, title: "x".repeat(201) }],
      ["400 title", { ...base, title: null }],
      ["400 team", { ...base, team: 1 }],
      ["400 description", { ...base, description: "x".repeat(100_001) }],
      ["400 plan", { ...base, plan: "x".repeat(100_001) }],
      ["400 plan", { ...base, plan: "\u0000" }],
      ["400 status", { ...base, status: null }],
      ["400 owner", { ...base, owner: {} }],
      ["400 project", { ...base, project: "" }],
      ["400 milestone", { ...base, milestone: 1 }],
      ["400 milestone", { ...base, project: null, milestone: 1 }],
      ["400 milestone", { ...base, project: "checkout", milestone: 0 }],
      ["400 milestone", { ...base, project: "checkout", milestone: "1" }],
      ["400 tags", { ...base, tags: Array.from({ length: 51 }, () => "x") }],
      ["400 tags.0", { ...base, tags: [1] }],
      ["400 description tags", { ...base, description: 1, tags: null }],
      ["400", []],
      ["400", "x"]
    ] as const) {
      await member.refuse(expected, "POST", "tickets", json)
      await member.as((await join(member.as(owner.key), "viewer")).key).refuse(expected, "POST", "tickets", json)
    }
    for (const [expected, json] of [
      ["400 title", { title: "" }],
      ["400 team", { team: null }],
      ["400 milestone", { milestone: 1, project: null }],
      ["400 milestone", { milestone: 1 }],
      // Ignored, a typing error would overwrite what it was to guard.
      ["400 expected.titel", { title: "y", expected: { titel: "x" } }],
      ["400 expected.tags", { title: "y", expected: { tags: Array.from({ length: 51 }, () => "x") } }],
      ["400 title", { title: "\u200b" }],
      ["400 title", { title: "\u2800 \u202e\u{e0041}\ufe0f" }]
    ] as const) {
      await member.refuse(expected, "PATCH", `tickets/${identifier}`, json)
    }
    assert.strictEqual((await member.get<Ticket>(`tickets/${identifier}`)).title, title)
    for (const json of [{}, { before: identifier, after: null }, { before: null }, { before: 1 }, []]) {
      const answer = await member.send("POST", `tickets/${identifier}/reorder`, { json })
      assert.strictEqual(answer.status, 400, JSON.stringify(json))
    }
    await member.refuse("400 before", "POST", `tickets/${identifier}/reorder`, { before: identifier })
    for (const [expected, query] of [
      ["400 team", "team="],
      ["400 project", "project="],
      ["400 owner", "owner="],
      ["400 category", "category="],
      ["400 category", "category=done"],
      ["400 category", "category=started&category=backlog"],
      ["400 team", `team=${team.key}&team=${team.key}`],
      ["404 team:", "team=NONE"],
      ["404 project:", "project=none"],
      ["404 owner:", "owner=none@example.com"],
      ["404 owner:", "owner=x"]
    ] as const) {
      await member.refuse(expected, "GET", `tickets?${query}`)
    }
  })

  test("counts the elements of a list before it looks at them", async (owner) => {
    const { create, member, team } = await newTeam(owner)
    const { identifier } = await create()
    const many = Array.from({ length: 100_000 }, () => 1)
    for (const [method, path, json, at, limit] of [
      ["POST", "tickets", { team: team.key, title: "x", tags: many }, ["tags"], "50 tags"],
      ["PATCH", `tickets/${identifier}`, { tags: many }, ["tags"], "50 tags"],
      ["PATCH", `tickets/${identifier}`, { expected: { tags: many } }, ["expected", "tags"], "50 tags"],
      ["POST", "tickets/batch", { tickets: many, changes: {} }, ["tickets"], "100 tickets"],
      [
        "POST",
        "tickets/batch",
        { tickets: [identifier], changes: { addTags: many } },
        ["changes", "addTags"],
        "50 tags"
      ]
    ] as const) {
      const { body, status } = await member.send<ErrorBody>(method, path, { json })
      assert.strictEqual(status, 400, path)
      assert.deepStrictEqual<unknown>(body.issues, [{ path: at, message: `Expected at most ${limit}` }])
    }
    const wrong = Array.from({ length: 50 }, () => 1)
    const { body } = await member.send<ErrorBody>("PATCH", `tickets/${identifier}`, { json: { tags: wrong } })
    assert.lengthOf(body.issues!, 20)
    // Of a large body the first mistake is told: to look for a million takes seconds, in which nobody is answered.
    const tests = { product: "shop", caseIds: Array.from({ length: 340_000 }, () => 1) }
    const large = await member.send<ErrorBody>("PATCH", `tickets/${identifier}`, { json: { cases: tests, title: "" } })
    assert.strictEqual(large.status, 400)
    assert.lengthOf(large.body.issues!, 1)
  })

  test("stores texts of the maximum size unchanged", async (owner) => {
    const { create, member } = await newTeam(owner)
    // Escaped in JSON, all that a body may hold: three bytes a character.
    const longest = "€".repeat(100_000)
    const made = await create({ title: "ü".repeat(200), description: longest, plan: longest })
    const { description, plan, title } = await member.get<Ticket>(`tickets/${made.id}`)
    assert.isTrue(description === longest && plan === longest && title === "ü".repeat(200))
    const comment = await member.post<Comment>(`tickets/${made.id}/comments`, { body: longest })
    assert.isTrue(comment.body === longest)
    await member.refuse("400 body", "POST", `tickets/${made.id}/comments`, { body: `${longest}x` })
    const changes = (await events(member)).flatMap(({ changes }) => changes)
    assert.isBelow(JSON.stringify(changes).length, 1_000)
  })

  test("combines filters of lists, ordered by category, position and rank", async (owner) => {
    const { create, member, status, team, workspace } = await newTeam(owner)
    const other = await makeTeam(workspace)
    const agent = await registerAgent(member)
    const project = await workspace.post<Project>("projects", {
      slug: unique("checkout"),
      name: unique("Checkout"),
      teams: [team.key, other.key]
    })
    const done = await create({ status: status("completed").id, owner: member.id })
    const first = await create({ project: project.slug })
    const started = await create({ status: status("started").id, owner: agent.agent })
    const second = await create({ owner: (await personOf(member)).email })
    const elsewhere = await create({ team: other.key, project: project.slug, owner: member.id })
    for (const [query, expected] of [
      [`?team=${team.key}`, [first, second, started, done]],
      [`?project=${project.slug}`, [first, elsewhere]],
      [`?owner=me`, [second, elsewhere, done]],
      [`?owner=${member.id}`, [second, elsewhere, done]],
      [`?owner=${agent.agent}`, [started]],
      [`?owner=none`, [first]],
      [`?category=backlog`, [first, second, elsewhere]],
      [`?category=canceled`, []],
      [`?team=${team.key}&owner=me&category=completed`, [done]],
      [`?team=${other.key}&project=${project.slug}&owner=none`, []]
    ] as const) {
      const found = await identifiers(member, query)
      const wanted = expected.map(({ identifier }) => identifier)
      assert.sameMembers(found, wanted, query)
      // One team's tickets have one order.
      if (query.includes("team=")) assert.deepStrictEqual(found, wanted)
    }
    assert.deepStrictEqual((await listed(member, `?owner=${agent.agent}`))[0]?.owner, {
      kind: "agent",
      id: agent.agent,
      name: "Claude",
      person: await personOf(member)
    })
    const key = await accountKey(workspace, "viewer")
    assert.deepStrictEqual(await listed(key, "?owner=me"), [])
    assert.lengthOf(await listed(key), 5)
    await member.post(`tickets/${second.identifier}/reorder`, { before: first.identifier }, 200)
    assert.deepStrictEqual(
      await identifiers(member, `?team=${team.key}&category=backlog`),
      [second, first].map(({ identifier }) => identifier)
    )
  })

  test("changes only the fields that are sent, and describes the change in an event", async (owner) => {
    const { create, member, status, workspace } = await newTeam(owner)
    const made = await create({ description: "secret plan", plan: "p" })
    const patched = await member.patch<Ticket>(`tickets/${made.identifier.toLowerCase()}`, {
      title: "New",
      description: null,
      status: status("completed").id,
      owner: member.id
    })
    assert.deepStrictEqual<unknown>(patched, {
      ...made,
      title: "New",
      description: null,
      status: { id: status("completed").id, name: "Done", category: "completed" },
      owner: { kind: "user", ...(await personOf(member)) },
      completedAt: patched.updatedAt,
      updatedAt: patched.updatedAt
    })
    assert.isAbove(Date.parse(patched.updatedAt), Date.parse(made.updatedAt))
    const [event] = await events(member)
    assert.deepStrictEqual<unknown>(event, {
      id: event!.id,
      kind: "ticket_updated",
      actor: { kind: "user", ...(await personOf(member)) },
      subject: { type: "ticket", id: made.id, label: `${made.identifier} New`, url: made.url },
      changes: [
        { field: "title", from: made.title, to: "New" },
        { field: "description", from: null, to: "changed" },
        { field: "status", from: "Backlog", to: "Done" },
        { field: "owner", from: null, to: "Sam" }
      ] satisfies ReadonlyArray<Change>,
      createdAt: event!.createdAt
    })
    assert.deepStrictEqual(await member.patch(`tickets/${made.id}`, {}), patched)
    const reopened = await workspace.patch<Ticket>(`tickets/${made.id}`, { status: status("backlog").id, owner: null })
    assert.deepInclude(reopened, { completedAt: null, owner: null })
  })

  test("gives a moved ticket a new identifier, and finds it by the old one", async (owner) => {
    const { create, member, team, workspace } = await newTeam(owner)
    const other = await makeTeam(workspace)
    const made = await create()
    const moved = await member.patch<Ticket>(`tickets/${made.id}`, { team: other.key })
    assert.strictEqual(moved.identifier, `${other.key}-1`)
    assert.strictEqual(moved.url, made.url.replace(made.identifier, moved.identifier))
    for (const ref of [made.identifier, moved.identifier]) {
      assert.deepStrictEqual(await member.get(`tickets/${ref}`), moved)
    }
    assert.strictEqual((await create()).identifier, `${team.key}-2`)
    await member.delete(`tickets/${made.identifier}`)
    await member.refuse("404 ticket", "GET", `tickets/${moved.identifier}`)
    await member.refuse("404 ticket", "DELETE", `tickets/${made.identifier}`)
  })

  test("names what is wrong in errors", async (owner) => {
    const { create, member, status, team, workspace } = await newTeam(owner)
    const [other, archived] = [await makeTeam(workspace), await makeTeam(workspace)]
    const open = await create({ team: archived.key })
    const gone = await join(workspace, "member")
    const agent = await registerAgent(gone)
    const own = await registerAgent(member)
    const body = (teams: ReadonlyArray<string>) => ({ slug: unique("p"), name: unique("P"), teams })
    const elsewhere = await workspace.post<Project>("projects", body([other.key]))
    const done = await workspace.post<Project>("projects", body([team.key]))
    await workspace.post(`projects/${done.slug}/archive`, undefined, 200)
    await workspace.post(`teams/${archived.key}/archive`, undefined, 200)
    await workspace.post(`members/${gone.id}/deactivate`, undefined, 200)
    await member.post(`agents/${own.agent}/revoke`, undefined, 200)
    const made = await create()
    const started = await create({ status: status("started").id })
    const one = `tickets/${made.identifier}`
    const missing = "0197a1b2-0000-7000-8000-000000000001"
    for (const [expected, fields] of [
      ["404 status:", { status: missing }],
      ["404 owner:", { owner: missing }],
      ["404 owner:", { owner: "nobody@example.com" }],
      ["404 project:", { project: "none" }],
      ["404 tags:", { tags: [missing] }],
      ["404 team:", { team: "NONE" }],
      ["409 archived", { team: archived.key }],
      ["409 archived", { project: done.slug }],
      ["409 project_not_in_team", { project: elsewhere.slug }],
      ["409 inactive_owner", { owner: gone.id }],
      ["409 inactive_owner", { owner: agent.agent }],
      ["409 inactive_owner", { owner: own.agent }]
    ] as const) {
      await member.refuse(expected, "POST", "tickets", { team: team.key, title: "x", ...fields })
      await member.refuse(expected, "PATCH", one, fields)
    }
    for (const [expected, method, path, json] of [
      ["404 ticket", "GET", "tickets/none", undefined],
      ["404 ticket", "PATCH", `tickets/${team.key}-99`, { title: "x" }],
      ["404 ticket", "POST", `tickets/${missing}/reorder`, { after: null }],
      ["404 before:", "POST", `${one}/reorder`, { before: missing }],
      ["404 after:", "POST", `${one}/reorder`, { after: "none" }],
      ["409 other_status", "POST", `${one}/reorder`, { after: started.id }],
      ["409 archived", "PATCH", `tickets/${open.id}`, { title: "x" }],
      ["409 archived", "PATCH", `tickets/${open.id}`, { team: team.key }],
      ["409 archived", "DELETE", `tickets/${open.id}`, undefined],
      ["409 archived", "POST", `tickets/${open.id}/comments`, { body: "x" }]
    ] as const) {
      await member.refuse(expected, method, path, json)
    }
    const [stranger, viewer] = [await join(workspace, "member"), await join(workspace, "viewer")]
    await stranger.refuse("403 not_creator", "DELETE", one)
    await viewer.refuse("403 role_too_low", "DELETE", "tickets/none")
    await workspace.delete(one)
    assert.strictEqual((await member.get<Ticket>(`tickets/${open.identifier}`)).id, open.id)
  })

  test("hides a private team's tickets from callers who cannot see it", async (owner) => {
    const { create, member, team, workspace } = await newTeam(owner)
    const insider = await join(workspace, "member")
    const closed = await makeTeam(workspace, { visibility: "private" })
    await workspace.post(`teams/${closed.key}/members`, { member: insider.id })
    const body = (teams: ReadonlyArray<string>) => ({ slug: unique("p"), name: unique("P"), teams })
    const shared = await workspace.post<Project>("projects", body([team.key, closed.key]))
    const open = await create({ project: shared.slug })
    const hidden = await create({ team: closed.key, project: shared.slug, title: "Secret" }, insider)
    await insider.post(`tickets/${hidden.id}/comments`, { body: "hush" })
    for (const by of [insider, workspace, await accountKey(workspace, "admin")]) {
      assert.lengthOf(await listed(by), 2)
      assert.lengthOf(await listed(by, `?project=${shared.slug}`), 2)
      assert.lengthOf(await comments(by, hidden.identifier), 1)
    }
    for (const by of [member, await join(workspace, "viewer"), await accountKey(workspace, "member")]) {
      assert.deepStrictEqual(await identifiers(by), [open.identifier])
      assert.deepStrictEqual(await identifiers(by, `?project=${shared.slug}`), [open.identifier])
      await by.refuse("404 team:", "GET", `tickets?team=${closed.key}`)
      await by.refuse("404 ticket", "GET", `tickets/${hidden.identifier}`)
      await by.refuse("404 ticket", "GET", `tickets/${hidden.id}/comments`)
      const text = JSON.stringify([await events(by), await listed(by)])
      assert.notInclude(text, "Secret")
      assert.notInclude(text, closed.key)
    }
    await member.refuse("404 team:", "POST", "tickets", { team: closed.key, title: "x" })
    await member.refuse("404 team:", "PATCH", `tickets/${open.id}`, { team: closed.key })
    await member.refuse("404 after:", "POST", `tickets/${open.id}/reorder`, { after: hidden.id })
    await workspace.refuse("409 owner_cannot_see", "PATCH", `tickets/${hidden.id}`, { owner: member.id })
    // In an open team everybody sees it, but its former identifier stays private.
    const moved = await insider.patch<Ticket>(`tickets/${hidden.id}`, { team: team.key })
    assert.deepStrictEqual(await member.get(`tickets/${moved.identifier}`), moved)
    assert.deepStrictEqual(await insider.get(`tickets/${hidden.identifier}`), moved)
    await member.refuse("404 ticket", "GET", `tickets/${hidden.identifier}`)
    assert.notInclude(JSON.stringify(await events(member)), closed.key)
    assert.notInclude(JSON.stringify(await events(member)), closed.name)
  })

  test("uses the new slug of a workspace in the URLs of its tickets immediately", async (owner) => {
    const { create, member, workspace } = await newTeam(owner)
    const made = await create()
    const slug = unique("renamed")
    await workspace.patch("", { slug })
    const { url } = await member.in(slug).get<Ticket>(`tickets/${made.id}`)
    assert.strictEqual(url, `${workspace.baseUrl}/w/${slug}/tickets/${made.identifier}`)
  })
})

onEachServer("comments", (test) => {
  const mention = (agent: AgentSignIn) => `[@Claude](agent:${agent.agent})`

  test("are created, listed oldest first, edited and deleted", async (owner) => {
    const { create, member } = await newTeam(owner)
    const ticket = await create()
    const path = `tickets/${ticket.identifier.toLowerCase()}/comments`
    assert.deepStrictEqual(await comments(member, ticket.id), [])
    const first = await member.post<Comment>(path, { body: " *hm* \n" })
    const person = await personOf(member)
    assertId(first.id)
    assertTimestamp(first.createdAt)
    assert.deepStrictEqual<unknown>(first, {
      id: first.id,
      body: " *hm* \n",
      author: { kind: "user", ...person },
      createdAt: first.createdAt,
      editedAt: null,
      mentions: { users: [], agents: [] }
    })
    const agent = await registerAgent(member)
    const second = await member.post<Comment>(path, { body: `${mention(agent)} and [@Sam](user:${member.id})` })
    assert.deepStrictEqual<unknown>(second.mentions, {
      users: [person],
      agents: [{ id: agent.agent, name: "Claude", person }]
    })
    assert.deepStrictEqual(await comments(member, ticket.id), [first, second])
    assert.strictEqual((await listed(member))[0]?.commentCount, 2)
    const edited = await member.patch<Comment>(`${path}/${second.id}`, { body: "never mind" })
    assertTimestamp(edited.editedAt)
    assert.deepStrictEqual<unknown>(edited, {
      ...second,
      body: "never mind",
      editedAt: edited.editedAt,
      mentions: { users: [], agents: [] }
    })
    await member.delete(`${path}/${first.id}`)
    assert.deepStrictEqual(await comments(member, ticket.id), [edited])
    assert.strictEqual((await member.get<Ticket>(`tickets/${ticket.id}`)).commentCount, 1)
    assert.deepStrictEqual(
      (await events(member)).map(({ kind }) => kind).filter((kind) => /comment/.test(kind)),
      ["comment_deleted", "comment_updated", "ticket_commented", "ticket_commented"]
    )
  })

  test("are refused if they are blank, somebody else's, or missing", async (owner) => {
    const { create, member, workspace } = await newTeam(owner)
    const [ticket, other] = [await create(), await create()]
    const path = `tickets/${ticket.id}/comments`
    const made = await member.post<Comment>(path, { body: "a" })
    for (const json of [{}, { body: "" }, { body: " \n\t" }, { body: null }, { body: "x".repeat(100_001) }]) {
      await member.refuse("400 body", "POST", path, json)
      await member.refuse("400 body", "PATCH", `${path}/${made.id}`, json)
    }
    const stranger = await join(workspace, "member")
    await stranger.refuse("403 not_author", "PATCH", `${path}/${made.id}`, { body: "b" })
    await stranger.refuse("403 not_author", "DELETE", `${path}/${made.id}`)
    await workspace.refuse("403 not_author", "PATCH", `${path}/${made.id}`, { body: "b" })
    for (const id of ["none", "0197a1b2-0000-7000-8000-000000000001"]) {
      await member.refuse("404 comment", "PATCH", `${path}/${id}`, { body: "b" })
      await member.refuse("404 comment", "DELETE", `${path}/${id}`)
      await member.refuse("404 ticket", "GET", `tickets/${id}/comments`)
    }
    await member.refuse("404 comment", "DELETE", `tickets/${other.id}/comments/${made.id}`)
    await workspace.delete(`${path}/${made.id}`)
  })
})
