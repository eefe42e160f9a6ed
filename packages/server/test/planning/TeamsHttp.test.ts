import type { Event } from "@delivery/domain/events/Event"
import type { Member } from "@delivery/domain/identity/Member"
import type { Tag } from "@delivery/domain/planning/Tag"
import type { Team, TeamMember } from "@delivery/domain/planning/Team"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { assert } from "vitest"
import {
  accountKey,
  assertId,
  assertTimestamp,
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refusal,
  teamKey
} from "../support/Http.ts"

/** Teams, ticket statuses and tags on the wire (docs/contract.md, Teams, Ticket statuses and Tags). */

const teams = async (http: Http, query = "") => (await http.get<{ teams: ReadonlyArray<Team> }>(`teams${query}`)).teams

const members = async (http: Http, team: string) =>
  (await http.get<{ members: ReadonlyArray<TeamMember> }>(`teams/${team}/members`)).members

const statuses = async (http: Http, team?: string) =>
  (
    await http.get<{ statuses: ReadonlyArray<TicketStatus> }>(
      `ticket-statuses${team === undefined ? "" : `?team=${team}`}`
    )
  ).statuses

const tags = async (http: Http, query = "") => (await http.get<{ tags: ReadonlyArray<Tag> }>(`tags${query}`)).tags

const events = async (http: Http) => (await http.get<{ events: ReadonlyArray<Event> }>("events")).events

const newTeam = (http: Http, fields: object = {}) =>
  http.post<Team>("teams", { key: teamKey(), name: "Team", ...fields })

const noId = "0197a1b2-0000-7000-8000-000000000001"

onEachServer("teams", (test) => {
  test("answers a new team as GET does", async (owner) => {
    const workspace = await newWorkspace(owner)
    const key = teamKey()
    const fields = { name: " Engineering ", visibility: "private", memberCount: 9, unknown: true, id: "mine" }
    const created = await workspace.post<Team>("teams", { ...fields, key })
    const { createdAt, id } = created
    assert.deepStrictEqual(created, {
      id,
      key,
      name: "Engineering",
      visibility: "private",
      memberCount: 1,
      archivedAt: null,
      createdAt,
      updatedAt: createdAt
    })
    assertId(id)
    assertTimestamp(createdAt)
    assert.deepStrictEqual(await workspace.get<Team>(`teams/${key}`), created)
    assert.deepStrictEqual(await teams(workspace), [created])
    assert.deepStrictEqual(await teams(await join(workspace, "viewer")), [])
    for (const missing of [teamKey(), key.toLowerCase(), id, "none", "A".repeat(200), "%00"]) {
      await workspace.refuse("404 team", "GET", `teams/${missing}`)
    }
  })

  test("validates the fields of a new team", async (owner) => {
    const workspace = await newWorkspace(owner)
    for (const key of ["A", "A1", "ABCDEFGHI0"]) await newTeam(workspace, { key, name: "x".repeat(100) })
    for (const key of ["", "a", "1A", "A-B", "ABCDEFGHIJK", " A", "Ä", null, 1, undefined]) {
      await workspace.refuse("400 key", "POST", "teams", { key, name: "Team" })
    }
    for (const name of ["", " ", "x".repeat(101), "a\nb", null, 1, undefined]) {
      await workspace.refuse("400 name", "POST", "teams", { key: "NEW", name })
    }
    for (const visibility of ["public", "", null, true]) {
      await workspace.refuse("400 visibility", "POST", "teams", { key: "NEW", name: "Team", visibility })
    }
    for (const archived of ["", "true", "Only"]) {
      await workspace.refuse("400 archived", "GET", `teams?archived=${archived}`)
    }
    await workspace.refuse("409 key_in_use", "POST", "teams", { key: "A1", name: "Team" })
    await newTeam(await newWorkspace(owner), { key: "A1" })
  })

  test("changes name and visibility, archives and restores", async (owner) => {
    const workspace = await newWorkspace(owner)
    const made = await newTeam(workspace)
    const at = `teams/${made.key}`
    const patched = await workspace.patch<Team>(at, {
      name: " New ",
      visibility: "private",
      key: "OTHER",
      archivedAt: "x"
    })
    assert.deepStrictEqual(patched, { ...made, name: "New", visibility: "private", updatedAt: patched.updatedAt })
    assert.isAbove(Date.parse(patched.updatedAt), Date.parse(made.updatedAt))
    assert.deepStrictEqual(await workspace.patch<Team>(at, {}), patched)
    for (const [field, value] of [
      ["name", null],
      ["name", ""],
      ["visibility", "secret"],
      ["visibility", null]
    ] as const) {
      await workspace.refuse(`400 ${field}`, "PATCH", at, { [field]: value })
    }
    const archived = await workspace.post<Team>(`${at}/archive`, undefined, 200)
    assertTimestamp(archived.archivedAt)
    assert.deepStrictEqual(await workspace.post<Team>(`${at}/archive`, undefined, 200), archived)
    assert.deepStrictEqual(await teams(workspace), [])
    assert.deepStrictEqual(await teams(workspace, "?archived=exclude"), [])
    assert.deepStrictEqual(await teams(workspace, "?archived=only"), [archived])
    assert.deepStrictEqual(await teams(workspace, "?archived=include"), [archived])
    await workspace.refuse("409 archived", "POST", "tickets", { team: made.key, title: "Late" })
    const restored = await workspace.post<Team>(`${at}/restore`, undefined, 200)
    assert.deepStrictEqual(restored, { ...patched, updatedAt: restored.updatedAt })
    await workspace.post("tickets", { team: made.key, title: "In time" })
  })

  test("adds and removes members, and lets everybody join open teams", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [{ key }, secret] = [await newTeam(workspace), await newTeam(workspace, { visibility: "private" })]
    const [member, viewer] = [await join(workspace, "member"), await join(workspace, "viewer")]
    const path = `teams/${key}/members`
    const joined = await member.post<TeamMember>(path, { member: member.id, unknown: 1 })
    assertTimestamp(joined.addedAt)
    const all = (await workspace.get<{ members: ReadonlyArray<Member> }>("members")).members
    const inWorkspace = all.find(({ id }) => id === member.id)!
    const { emailVerifiedAt: _, joinedAt: __, ...shown } = inWorkspace
    assert.deepStrictEqual(joined, { ...shown, addedAt: joined.addedAt })
    assert.deepInclude(await members(viewer, key), joined)
    assert.strictEqual((await viewer.get<Team>(`teams/${key}`)).memberCount, 2)
    await member.refuse("409 already_member", "POST", path, { member: member.id })
    for (const id of [noId, "Ana", joined.email]) await member.refuse("404 member:", "POST", path, { member: id })
    for (const id of ["", null, 1, undefined]) await member.refuse("400 member", "POST", path, { member: id })
    await viewer.refuse("403 role_too_low", "POST", path, { member: viewer.id })
    await viewer.refuse("403 role_too_low", "DELETE", `${path}/${viewer.id}`)
    await (await join(workspace, "member")).refuse("403 not_team_member", "POST", path, { member: viewer.id })
    await (await join(workspace, "member")).refuse("403 not_team_member", "DELETE", `${path}/${member.id}`)

    await member.refuse("404 team", "POST", `teams/${secret.key}/members`, { member: member.id })
    await member.refuse("404 team", "DELETE", `teams/${secret.key}/members/${member.id}`)
    await member.refuse("404 team", "GET", `teams/${secret.key}/members`)
    await workspace.post(`teams/${secret.key}/members`, { member: member.id })
    assert.lengthOf(await members(member, secret.key), 2)

    await member.delete(`${path}/${member.id}`)
    await member.refuse("404 member", "DELETE", `${path}/${member.id}`)
    for (const id of [noId, "none"]) await workspace.refuse("404 member", "DELETE", `${path}/${id}`)
    assert.lengthOf(await members(viewer, key), 1)
  })

  test("keeps a deactivated member in the team without counting them, until they are reactivated", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { key } = await newTeam(workspace)
    const sam = await join(workspace, "member")
    await sam.post(`teams/${key}/members`, { member: sam.id })
    const state = async () => [
      (await workspace.get<Team>(`teams/${key}`)).memberCount,
      (await teams(workspace))[0]!.memberCount,
      (await members(workspace, key)).find(({ id }) => id === sam.id)?.active
    ]
    assert.deepStrictEqual(await state(), [2, 2, true])
    await workspace.post(`members/${sam.id}/deactivate`, undefined, 200)
    assert.deepStrictEqual(await state(), [1, 1, false])
    await workspace.refuse("404 member:", "POST", `teams/${key}/members`, { member: sam.id })
    await workspace.post(`members/${sam.id}/reactivate`, undefined, 200)
    assert.deepStrictEqual(await state(), [2, 2, true])
  })

  test("hides a team that becomes private from others, with its events, until it is open again", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [outsider, insider] = [await join(workspace, "member"), await join(workspace, "viewer")]
    const team = await newTeam(workspace)
    await workspace.post(`teams/${team.key}/members`, { member: insider.id })
    await workspace.post("ticket-statuses", { team: team.key, name: "Later", category: "backlog" })
    await outsider.post("tags", { team: team.key, name: "Bug", color: "#d73a4a" })
    const ofTeam = async (http: Http) =>
      (await events(http)).map(({ kind }) => kind).filter((kind) => /^(team|tag|status)_/.test(kind))
    const kinds = ["tag_created", "status_created", "team_member_added", "team_created"]
    assert.deepStrictEqual(await ofTeam(outsider), kinds)
    await workspace.patch(`teams/${team.key}`, { visibility: "private" })
    for (const http of [outsider, await accountKey(workspace, "member")]) {
      assert.isEmpty(await ofTeam(http))
      assert.deepStrictEqual(await teams(http, "?archived=include"), [])
      assert.deepStrictEqual(await tags(http), [])
      await http.refuse("404 team", "GET", `teams/${team.key}`)
      await http.refuse("404 team:", "GET", `ticket-statuses?team=${team.key}`)
      await http.refuse("404 team:", "GET", `tags?team=${team.key}`)
    }
    assert.deepStrictEqual(await ofTeam(insider), ["team_updated", ...kinds])
    assert.lengthOf(await statuses(insider, team.key), 6)
    await workspace.patch(`teams/${team.key}`, { visibility: "open" })
    assert.deepStrictEqual(await ofTeam(outsider), ["team_updated", "team_updated", ...kinds])
    assert.lengthOf(await tags(outsider), 1)
  })

  test("lists teams by name, each with its number of members", async (owner) => {
    const workspace = await newWorkspace(owner)
    for (const name of ["squad 10", "Squad 9", "Zoo", "äpfel", "apfel"]) await newTeam(workspace, { name })
    const sam = await join(workspace, "member")
    const [first] = await teams(workspace)
    await sam.post(`teams/${first!.key}/members`, { member: sam.id })
    assert.deepStrictEqual(
      (await teams(sam)).map(({ memberCount, name }) => `${name} ${memberCount}`),
      ["apfel 2", "äpfel 1", "Squad 9 1", "squad 10 1", "Zoo 1"]
    )
  })
})

onEachServer("ticket statuses", (test) => {
  test("gives a new workspace the template, and a new team a copy of it", async (owner) => {
    const workspace = await newWorkspace(owner)
    const viewer = await join(workspace, "viewer")
    const template = await statuses(viewer)
    assert.deepStrictEqual(
      template.map(({ id: _, ...status }) => status),
      [
        { name: "Backlog", category: "backlog", position: 0, isDefault: true },
        { name: "Todo", category: "unstarted", position: 0, isDefault: false },
        { name: "In progress", category: "started", position: 0, isDefault: false },
        { name: "Done", category: "completed", position: 0, isDefault: false },
        { name: "Canceled", category: "canceled", position: 0, isDefault: false }
      ]
    )
    const { key } = await newTeam(workspace)
    const copied = await statuses(viewer, key)
    assert.deepStrictEqual(
      copied.map(({ id: _, ...status }) => status),
      template.map(({ id: _, ...status }) => status)
    )
    const ids = [...template, ...copied].map(({ id }) => id)
    for (const id of ids) assertId(id)
    assert.lengthOf(new Set(ids), 10)
    await workspace.post("ticket-statuses", { name: "In review", category: "started" })
    assert.lengthOf(await statuses(viewer, key), 5)
    assert.lengthOf(await statuses(viewer, (await newTeam(workspace)).key), 6)
    // The workspace that the server began with has one too.
    assert.lengthOf(await statuses(owner), 5)
  })

  test("validates a new status and puts it last in its category", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { key } = await newTeam(workspace)
    const body = { team: key, name: " In review ", category: "started", position: 9, isDefault: true }
    const made = await workspace.post<TicketStatus>("ticket-statuses", body)
    assert.deepStrictEqual(made, { id: made.id, name: "In review", category: "started", position: 1, isDefault: false })
    assert.deepStrictEqual(
      (await statuses(workspace, key)).map(({ name }) => name),
      ["Backlog", "Todo", "In progress", "In review", "Done", "Canceled"]
    )
    const create = (expected: string, fields: object) =>
      workspace.refuse(expected, "POST", "ticket-statuses", { team: key, name: "New", category: "started", ...fields })
    for (const name of ["", " ", "x".repeat(41), "a\nb", null, undefined]) await create("400 name", { name })
    for (const category of ["triage", "", null, undefined]) await create("400 category", { category })
    for (const team of ["", 1]) await create("400 team", { team })
    for (const team of [teamKey(), "eng", "Team 1"]) await create("404 team:", { team })
    for (const name of ["In review", "IN REVIEW", "todo"]) await create("409 name_in_use", { name })
    await workspace.post("ticket-statuses", { team: null, name: "x".repeat(40), category: "canceled" })
    await workspace.refuse("400 team", "GET", "ticket-statuses?team=")
    await workspace.refuse("404 team:", "GET", `ticket-statuses?team=${teamKey()}`)
  })

  test("changes name and default, never the category", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { key } = await newTeam(workspace)
    const [backlog, todo, started] = await statuses(workspace, key)
    const at = `ticket-statuses/${todo!.id}`
    const patched = await workspace.patch<TicketStatus>(at, {
      name: " Next ",
      isDefault: true,
      category: "started",
      position: 5
    })
    assert.deepStrictEqual(patched, { ...todo, name: "Next", isDefault: true } as TicketStatus)
    assert.deepStrictEqual(
      (await statuses(workspace, key)).map(({ isDefault }) => isDefault),
      [false, true, false, false, false]
    )
    const { status } = await workspace.post<Ticket>("tickets", { team: key, title: "New" })
    assert.deepStrictEqual(status, { id: todo!.id, name: "Next", category: "unstarted" })
    for (const isDefault of [false, null, "true"]) await workspace.refuse("400 isDefault", "PATCH", at, { isDefault })
    for (const name of ["", null, "x".repeat(41)]) await workspace.refuse("400 name", "PATCH", at, { name })
    await workspace.refuse("409 name_in_use", "PATCH", at, { name: backlog!.name.toUpperCase() })
    await workspace.refuse("409 category_cannot_be_default", "PATCH", `ticket-statuses/${started!.id}`, {
      isDefault: true
    })
    for (const missing of [noId, "none", "%00"]) {
      await workspace.refuse("404 ticket status", "PATCH", `ticket-statuses/${missing}`, { name: "Mine" })
    }
  })

  test("deletes a status, or gives the reason, and moves its tickets to the target", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [{ key }, other] = [await newTeam(workspace), await newTeam(workspace)]
    const [backlog, todo, , done] = await statuses(workspace, key)
    const review = await workspace.post<TicketStatus>("ticket-statuses", {
      team: key,
      name: "Review",
      category: "started"
    })
    const later = await workspace.post<TicketStatus>("ticket-statuses", {
      team: key,
      name: "Later",
      category: "backlog"
    })
    const ticket = await workspace.post<Ticket>("tickets", { team: key, title: "Mend", status: review.id })
    const remove = (expected: string, id: string, query = "") =>
      workspace.refuse(expected, "DELETE", `ticket-statuses/${id}${query}`)
    await remove("409 is_default", backlog!.id)
    await remove("409 last_in_category", todo!.id)
    await remove("409 has_tickets", review.id)
    await remove("400 moveTo", review.id, "?moveTo=")
    await remove("400 moveTo", review.id, `?moveTo=${review.id}`)
    for (const moveTo of [
      noId,
      "Done",
      (await statuses(workspace, other.key))[0]!.id,
      (await statuses(workspace))[0]!.id
    ]) {
      await remove("404 moveTo:", review.id, `?moveTo=${moveTo}`)
    }
    await remove("404 ticket status", noId)
    await workspace.delete(`ticket-statuses/${later.id}`)
    await workspace.delete(`ticket-statuses/${review.id}?moveTo=${done!.id}`)
    const after = await workspace.get<Ticket>(`tickets/${ticket.identifier}`)
    assertTimestamp(after.startedAt, after.completedAt)
    assert.deepStrictEqual(after, {
      ...ticket,
      status: { id: done!.id, name: "Done", category: "completed" },
      completedAt: after.completedAt,
      updatedAt: after.updatedAt
    })
    assert.isAbove(Date.parse(after.updatedAt), Date.parse(ticket.updatedAt))
    assert.lengthOf(await statuses(workspace, key), 5)
    await remove("404 ticket status", review.id)
  })

  test("reorders a status within its category, and answers all statuses of the team", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { key } = await newTeam(workspace)
    const made = []
    for (const name of ["A", "B", "C"]) {
      made.push(await workspace.post<TicketStatus>("ticket-statuses", { team: key, name, category: "started" }))
    }
    const [a, b, c] = made.map(({ id }) => id)
    const done = (await statuses(workspace, key)).find(({ category }) => category === "completed")!
    const reorder = async (id: string | undefined, place: object) => {
      const answered = await workspace.post<{ statuses: ReadonlyArray<TicketStatus> }>(
        `ticket-statuses/${id}/reorder`,
        place,
        200
      )
      assert.deepStrictEqual(answered.statuses, await statuses(workspace, key))
      return answered.statuses
        .map(({ name }) => name)
        .slice(2, -2)
        .join(" ")
    }
    assert.strictEqual(await reorder(c, { before: a }), "In progress C A B")
    assert.strictEqual(await reorder(c, { after: b }), "In progress A B C")
    assert.strictEqual(await reorder(b, { after: null }), "B In progress A C")
    assert.strictEqual(await reorder(b, { after: null }), "B In progress A C")
    const refuse = (expected: string, place: unknown) =>
      workspace.refuse(expected, "POST", `ticket-statuses/${a}/reorder`, place)
    for (const place of [{}, { before: b, after: c }, { before: b, after: null }]) await refuse("400", place)
    await refuse("400 before", { before: a })
    await refuse("400 before", { before: null })
    await refuse("404 after:", { after: noId })
    await refuse("409 other_category", { after: done.id })
    await workspace.refuse("404 ticket status", "POST", `ticket-statuses/${noId}/reorder`, { after: null })
  })
})

onEachServer("tags", (test) => {
  test("answers a new tag as the list does", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { id: teamId, key, name, visibility } = await newTeam(workspace)
    const member = await join(workspace, "member")
    const body = { name: " Bug ", color: "#D73A4A", team: key, unknown: 1 }
    const made = await member.post<Tag>("tags", body)
    assert.deepStrictEqual(made, {
      id: made.id,
      name: "Bug",
      color: "#d73a4a",
      team: { id: teamId, key, name, visibility },
      createdAt: made.createdAt
    })
    assertId(made.id)
    assertTimestamp(made.createdAt)
    const shared = await workspace.post<Tag>("tags", { name: "Chore", color: "#000000", team: null })
    assert.isNull(shared.team)
    assert.deepStrictEqual(await tags(await join(workspace, "viewer")), [made, shared])
    assert.deepStrictEqual(await tags(member, `?team=${key}`), [made, shared])
    assert.deepStrictEqual(await tags(member, `?team=${(await newTeam(workspace)).key}`), [shared])
  })

  test("validates the fields of a tag", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { key } = await newTeam(workspace)
    const body = { name: "Bug", color: "#d73a4a", team: key }
    const { id } = await workspace.post<Tag>("tags", body)
    for (const color of ["red", "#fff", "#d73a4", "d73a4a", "#d73a4a0", "#g00000", "", null]) {
      await workspace.refuse("400 color", "POST", "tags", { ...body, color })
      await workspace.refuse("400 color", "PATCH", `tags/${id}`, { color })
    }
    for (const name of ["", " ", "x".repeat(41), "a\nb", null]) {
      await workspace.refuse("400 name", "POST", "tags", { ...body, name })
      await workspace.refuse("400 name", "PATCH", `tags/${id}`, { name })
    }
    for (const field of ["name", "color"]) {
      await workspace.refuse(`400 ${field}`, "POST", "tags", { ...body, [field]: undefined })
    }
    for (const team of ["", 1]) await workspace.refuse("400 team", "POST", "tags", { ...body, team })
    for (const team of [teamKey(), "eng"]) await workspace.refuse("404 team:", "POST", "tags", { ...body, team })
    await workspace.refuse("400 team", "GET", "tags?team=")
    await workspace.refuse("404 team:", "GET", `tags?team=${teamKey()}`)
    for (const missing of [noId, "none", "%00"]) {
      await workspace.refuse("404 tag", "PATCH", `tags/${missing}`, { name: "Mine" })
      await workspace.refuse("404 tag", "DELETE", `tags/${missing}`)
    }
    assert.strictEqual((await workspace.patch<Tag>(`tags/${id}`, { color: "#ABCDEF", team: null })).color, "#abcdef")
  })

  test("checks who may change a tag, and that its name is unique in its team and the workspace", async (owner) => {
    const workspace = await newWorkspace(owner)
    const [{ key }, other] = [await newTeam(workspace), await newTeam(workspace)]
    const [member, viewer] = [await join(workspace, "member"), await join(workspace, "viewer")]
    const body = { name: "Bug", color: "#d73a4a" }
    await viewer.refuse("403 role_too_low", "POST", "tags", { ...body, team: key })
    await member.refuse("403 role_too_low", "POST", "tags", body)
    const ofTeam = await member.post<Tag>("tags", { ...body, team: key })
    const shared = await workspace.post<Tag>("tags", { ...body, name: "Chore" })
    await member.refuse("403 role_too_low", "PATCH", `tags/${shared.id}`, { name: "Mine" })
    await member.refuse("403 role_too_low", "DELETE", `tags/${shared.id}`)
    for (const [by, json] of [
      [member, { ...body, team: key, name: "BUG" }],
      [member, { ...body, team: other.key, name: "chore" }],
      [workspace, { ...body, name: "bug" }],
      [workspace, { ...body, name: "CHORE" }]
    ] as const) {
      await by.refuse("409 name_in_use", "POST", "tags", json)
    }
    await member.refuse("409 name_in_use", "PATCH", `tags/${ofTeam.id}`, { name: "chore" })
    await member.post("tags", { ...body, team: other.key })
    await member.patch(`tags/${ofTeam.id}`, { name: "bug" })
    await member.delete(`tags/${ofTeam.id}`)
    await workspace.refuse("409 name_in_use", "PATCH", `tags/${shared.id}`, { name: "BUG" })
    await workspace.delete(`tags/${shared.id}`)
    assert.deepStrictEqual(
      (await tags(viewer)).map(({ name, team }) => `${name} ${team?.key}`),
      [`Bug ${other.key}`]
    )
  })

  test("gives a name to one of many concurrent requests", async (owner) => {
    const workspace = await newWorkspace(owner)
    const { key } = await newTeam(workspace)
    for (let round = 0; round < 4; round++) {
      const asked = Array.from({ length: 12 }, (_, i) => ({
        name: i % 2 === 0 ? `Word ${round}` : `WORD ${round}`,
        color: "#d73a4a",
        team: i % 3 === round % 3 ? null : key
      }))
      const answers = await Promise.all(asked.map((json) => workspace.send("POST", "tags", { json })))
      assert.deepStrictEqual(answers.map(refusal).toSorted(), ["201", ...Array<string>(11).fill("409 name_in_use")])
    }
    assert.lengthOf(await tags(workspace), 4)
  })
})
