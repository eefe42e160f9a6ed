import type { Event } from "@delivery/domain/events/Event"
import type { Milestone, Project } from "@delivery/domain/planning/Project"
import type { Team } from "@delivery/domain/planning/Team"
import type { View } from "@delivery/domain/planning/View"
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
  teamKey,
  unique
} from "../support/Http.ts"

/** Projects, milestones and views on the wire (docs/contract.md, Projects; Views). */

const nothing = { backlog: 0, unstarted: 0, started: 0, completed: 0, canceled: 0 }
const body = (teams: ReadonlyArray<string>, fields: object = {}) => {
  const slug = unique("checkout")
  return { slug, name: `New ${slug}`, teams, ...fields }
}

/** A workspace with an open team. */
const newTeam = async (owner: Http) => {
  const workspace = await newWorkspace(owner)
  const team = await workspace.post<Team>("teams", { key: teamKey(), name: "Engineering" })
  return {
    workspace,
    team,
    create: (fields: object = {}) => workspace.post<Project>("projects", body([team.key], fields))
  }
}

const listed = async (http: Http, query = "") =>
  (await http.get<{ projects: ReadonlyArray<Project> }>(`projects${query}`)).projects

onEachServer("projects", (test) => {
  test("keeps earlier documents", async (owner) => {
    const { create, workspace } = await newTeam(owner)
    const { slug } = await create({ document: "One" })
    const member = await join(workspace, "member")
    const two = await member.patch<Project>(`projects/${slug}`, { document: "Two" })
    const none = await member.patch<Project>(`projects/${slug}`, { document: null })
    const me = await member.get<{ id: string; name: string; email: string }>("/v1/me")
    const replacedBy = { kind: "user", id: me.id, name: me.name, email: me.email }
    const first = { number: 1, text: "One", replacedBy, replacedAt: two.updatedAt }
    const second = { number: 2, text: "Two", replacedBy, replacedAt: none.updatedAt }
    assert.deepStrictEqual(await workspace.get(`projects/${slug}/history`), {
      texts: [second, first],
      nextCursor: null
    })
    assert.deepStrictEqual(await workspace.get(`projects/${slug}/history?cursor=2`), {
      texts: [first],
      nextCursor: null
    })
    for (const query of ["cursor=0", "cursor=a"]) {
      assert.strictEqual((await workspace.send("GET", `projects/${slug}/history?${query}`)).status, 400, query)
    }
    assert.strictEqual(refusal(await workspace.send("GET", "projects/none/history")), "404 project")
  })

  test("answers a new project in full, and lists it without milestones and document", async (owner) => {
    const { team, workspace } = await newTeam(owner)
    const product = await workspace.post<{ id: string }>("products", { slug: "shop", name: "Shop", type: "library" })
    const member = await join(workspace, "member")
    const fields = {
      slug: "checkout",
      name: " New checkout ",
      summary: "x".repeat(200),
      status: "active",
      targetDate: "2028-02-29",
      document: "# Goal\n"
    }
    const sent = { ...fields, lead: member.id, teams: [team.key], products: ["shop"], unknown: 1, id: "mine" }
    const made = await workspace.post<Project>("projects", sent)
    const { createdAt, id, lead } = made
    assert.deepStrictEqual<unknown>(made, {
      ...fields,
      id,
      name: "New checkout",
      lead,
      teams: [{ id: team.id, key: team.key, name: "Engineering", visibility: "open" }],
      products: [{ id: product.id, slug: "shop", name: "Shop" }],
      milestones: [],
      progress: nothing,
      archivedAt: null,
      createdAt,
      updatedAt: createdAt
    })
    assert.deepStrictEqual(Object.keys(lead!).toSorted(), ["email", "id", "name"])
    assert.strictEqual(lead?.id, member.id)
    assertId(id)
    assertTimestamp(createdAt)
    const viewer = await join(workspace, "viewer")
    assert.deepStrictEqual(await viewer.get<Project>("projects/checkout"), made)
    const { document: _, milestones: __, ...summary } = made
    assert.deepStrictEqual<unknown>(await listed(viewer), [summary])
    const plain = await workspace.post<Project>("projects", { slug: "plain", name: "Plain", teams: [team.key] })
    assert.deepInclude(plain, { summary: null, status: "planned", lead: null, targetDate: null, document: null })
    for (const missing of [id, "none", "Checkout", "check%20out"]) {
      await workspace.refuse("404 project", "GET", `projects/${missing}`)
    }
  })

  test("validates the fields of projects", async (owner) => {
    const { create, team, workspace } = await newTeam(owner)
    const { slug } = await create()
    const wrong: ReadonlyArray<readonly [field: string, values: ReadonlyArray<unknown>]> = [
      ["slug", ["", "Shop", "a--b", "a".repeat(61), 1, null]],
      ["name", ["", " ", "x".repeat(101), "a\nb", null]],
      ["summary", ["x".repeat(201), 1, "\u0000"]],
      ["status", ["done", "", null, 1]],
      ["lead", [1, "", {}]],
      [
        "targetDate",
        ["2026-02-30", "2026-13-01", "2026-1-1", "2026-01-01T00:00:00Z", "", "1969-12-31", "+010000-01-01", 1]
      ],
      ["teams", ["ENG", null, [], {}]],
      ["products", ["shop", null, {}]],
      ["document", ["x".repeat(100_001), 1]]
    ]
    for (const [field, values] of wrong) {
      for (const value of values) {
        await workspace.refuse(`400 ${field}`, "POST", "projects", body([team.key], { [field]: value }))
        await workspace.refuse(`400 ${field}`, "PATCH", `projects/${slug}`, { [field]: value })
      }
    }
    await workspace.refuse("400 teams.0", "POST", "projects", body([""]))
    await workspace.refuse("400 products.0", "PATCH", `projects/${slug}`, { products: [1] })
    for (const field of ["slug", "name", "teams"]) {
      await workspace.refuse(`400 ${field}`, "POST", "projects", body([team.key], { [field]: undefined }))
    }
    await workspace.refuse("400", "POST", "projects", [])
    for (const targetDate of ["1970-01-01", "9999-12-31", "2000-02-29"]) {
      assert.deepInclude(await workspace.patch<Project>(`projects/${slug}`, { targetDate }), { targetDate })
    }
    for (const status of ["planned", "active", "paused", "completed", "canceled"] as const) {
      assert.deepInclude(await workspace.patch<Project>(`projects/${slug}`, { status }), { status })
    }
    await create({
      slug: "a".repeat(60),
      name: "x".repeat(100),
      summary: "x".repeat(200),
      document: "x".repeat(100_000)
    })
    for (const query of ["?archived=no", "?team=", "?product=", "?archived="]) {
      assert.match(refusal(await workspace.send("GET", `projects${query}`)), /^400 \w+$/)
    }
    for (const [query, field] of [
      ["?team=NONE", "team:"],
      ["?product=none", "product:"],
      [`?team=${team.key}&product=none`, "product:"]
    ]) {
      await workspace.refuse(`404 ${field}`, "GET", `projects${query}`)
    }
    for (const fields of [{ lead: "nobody@example.com" }, { teams: ["NONE"] }, { products: ["none"] }]) {
      const [field] = Object.keys(fields)
      await workspace.refuse(`404 ${field}:`, "POST", "projects", body([team.key], fields))
      await workspace.refuse(`404 ${field}:`, "PATCH", `projects/${slug}`, fields)
    }
  })

  test("changes the fields that are sent, and null clears", async (owner) => {
    const { create, workspace } = await newTeam(owner)
    const made = await create({ summary: "Short", targetDate: "2027-03-31", document: "# Goal", status: "paused" })
    const path = `projects/${made.slug}`
    assert.deepStrictEqual(await workspace.patch<Project>(path, {}), made)
    const slug = unique("moved")
    const moved = await workspace.patch<Project>(path, { slug, summary: null, targetDate: null, document: null })
    assert.isAbove(Date.parse(moved.updatedAt), Date.parse(made.updatedAt))
    assert.deepStrictEqual(moved, {
      ...made,
      slug,
      summary: null,
      targetDate: null,
      document: null,
      updatedAt: moved.updatedAt
    })
    await workspace.refuse("404 project", "GET", path)
    const other = await create()
    for (const [fields, reason] of [
      [{ slug }, "slug_in_use"],
      [{ name: made.name }, "name_in_use"]
    ] as const) {
      await workspace.refuse(`409 ${reason}`, "PATCH", `projects/${other.slug}`, fields)
      await workspace.refuse(`409 ${reason}`, "POST", "projects", { ...body([made.teams[0]!.key]), ...fields })
    }
    const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events")
    const updated = events.find(({ kind }) => kind === "project_updated")
    assert.deepStrictEqual(updated?.changes, [
      { field: "slug", from: made.slug, to: slug },
      { field: "summary", from: "Short", to: null },
      { field: "targetDate", from: "2027-03-31", to: null },
      { field: "document", from: "# Goal", to: null }
    ])
    assert.deepStrictEqual(updated?.subject, {
      type: "project",
      id: made.id,
      label: made.name,
      url: `${workspace.baseUrl}/w/${workspace.workspace}/projects/${slug}`
    })
  })

  test("cuts a long text in an event at a whole character", async (owner) => {
    const { create, workspace } = await newTeam(owner)
    const { slug } = await create({})
    for (const before of [197, 198, 199, 200]) {
      const document = "x".repeat(before) + "🚀".repeat(300)
      await workspace.patch(`projects/${slug}`, { document })
      const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events")
      const to = before === 200 ? "x".repeat(199) : "x".repeat(before) + "🚀".repeat(199 - before)
      assert.strictEqual(events[0]!.changes[0]!.to, `${to}…`)
    }
  })

  test("moves a project with exactly one of before and after", async (owner) => {
    const { create, workspace } = await newTeam(owner)
    const [a, b, c] = [(await create()).slug, (await create()).slug, (await create()).slug]
    const order = async (http: Http) => (await listed(http)).map(({ slug }) => slug)
    const move = async (slug: string, place: object) => {
      const moved = await workspace.post<Project>(`projects/${slug}/reorder`, place, 200)
      assert.deepStrictEqual(moved, await workspace.get<Project>(`projects/${slug}`))
      return order(workspace)
    }
    assert.deepStrictEqual(await order(workspace), [a, b, c])
    assert.deepStrictEqual(await move(c, { before: a }), [c, a, b])
    assert.deepStrictEqual(await move(c, { after: a, unknown: 1 }), [a, c, b])
    assert.deepStrictEqual(await move(b, { after: null }), [b, a, c])
    const path = `projects/${a}/reorder`
    for (const place of [{}, { before: b, after: c }, { before: b, after: null }]) {
      await workspace.refuse("400", "POST", path, place)
    }
    for (const [field, place] of [
      ["before", { before: null }],
      ["before", { before: "" }],
      ["before", { before: 1 }],
      ["after", { after: "" }],
      ["after", { after: [] }],
      ["before", { before: a }],
      ["after", { after: a }]
    ] as const) {
      await workspace.refuse(`400 ${field}`, "POST", path, place)
    }
    await workspace.refuse("404 before:", "POST", path, { before: "none" })
    await workspace.refuse("404 after:", "POST", path, { after: "none" })
    await workspace.refuse("404 project", "POST", "projects/none/reorder", { after: "none" })
    // The body is validated before the workspace, the role and the project are checked.
    const viewer = await join(workspace, "viewer")
    await viewer.in("none").refuse("400", "POST", path, {})
    await viewer.refuse("403 role_too_low", "POST", path, { after: "none" })
    await workspace.post(`projects/${b}/archive`, undefined, 200)
    await workspace.refuse("409 archived", "POST", path, { after: b })
    await workspace.refuse("409 archived", "POST", `projects/${b}/reorder`, { after: null })
  })

  test("hides an archived project from lists and refuses changes until it is restored, last", async (owner) => {
    const { create, workspace } = await newTeam(owner)
    const [made, other] = [await create(), await create()]
    const path = `projects/${made.slug}`
    const milestone = await workspace.post<Milestone>(`${path}/milestones`, { name: "Beta" })
    const archived = await workspace.post<Project>(`${path}/archive`, undefined, 200)
    assertTimestamp(archived.archivedAt)
    assert.deepStrictEqual(archived.milestones, [milestone])
    assert.deepStrictEqual(await workspace.post<Project>(`${path}/archive`, {}, 200), archived)
    assert.deepStrictEqual(await workspace.get<Project>(path), archived)
    const slugs = async (query: string) => (await listed(workspace, query)).map(({ slug }) => slug)
    assert.deepStrictEqual(await slugs(""), [other.slug])
    assert.deepStrictEqual(await slugs("?archived=exclude"), [other.slug])
    assert.deepStrictEqual(await slugs("?archived=only"), [made.slug])
    assert.deepStrictEqual(await slugs("?archived=include"), [made.slug, other.slug])
    const [view] = (await workspace.get<{ views: ReadonlyArray<View> }>(`views?project=${made.slug}`)).views
    for (const [method, to, json] of [
      ["PATCH", path, { name: "New" }],
      ["PATCH", path, {}],
      ["POST", `${path}/milestones`, { name: "New" }],
      ["PATCH", `${path}/milestones/1`, { name: "New" }],
      ["DELETE", `${path}/milestones/1`, undefined],
      ["POST", "views", { name: "New", scope: { kind: "project", key: made.slug } }],
      ["PATCH", `views/${view!.id}`, { name: "New" }],
      ["POST", `views/${view!.id}/reorder`, { after: null }]
    ] as const) {
      await workspace.refuse("409 archived", method, to, json)
    }
    await workspace.refuse("409 slug_in_use", "POST", "projects", { ...body([other.teams[0]!.key]), slug: made.slug })
    const restored = await workspace.post<Project>(`${path}/restore`, undefined, 200)
    assert.isNull(restored.archivedAt)
    assert.deepStrictEqual(await workspace.post<Project>(`${path}/restore`, undefined, 200), restored)
    assert.deepStrictEqual(await slugs(""), [other.slug, made.slug])
    await workspace.patch(path, { name: "New" })
  })

  test("never reuses the number of a milestone", async (owner) => {
    const { create, workspace } = await newTeam(owner)
    const { slug, updatedAt } = await create()
    const path = `projects/${slug}/milestones`
    const first = await workspace.post<Milestone>(path, { name: " Beta ", summary: "x".repeat(200), number: 9 })
    assertId(first.id)
    assert.deepStrictEqual<unknown>(first, { id: first.id, number: 1, name: "Beta", summary: "x".repeat(200) })
    const second = await workspace.post<Milestone>(path, { name: "Beta" })
    assert.deepInclude(second, { number: 2, name: "Beta", summary: null })
    const touched = await workspace.get<Project>(`projects/${slug}`)
    assert.deepStrictEqual(touched.milestones, [first, second])
    assert.isAbove(Date.parse(touched.updatedAt), Date.parse(updatedAt))
    const changed = await workspace.patch<Milestone>(`${path}/1`, { summary: null })
    assert.deepStrictEqual(changed, { ...first, summary: null })
    assert.deepStrictEqual(await workspace.patch<Milestone>(`${path}/1`, { name: "Gamma" }), {
      ...changed,
      name: "Gamma"
    })
    const before = await workspace.get<Project>(`projects/${slug}`)
    await workspace.patch(`${path}/1`, { name: "Gamma" })
    assert.deepStrictEqual(await workspace.get<Project>(`projects/${slug}`), before)
    await workspace.delete(`${path}/2`)
    const third = await workspace.post<Milestone>(path, { name: "Release" })
    assert.strictEqual(third.number, 3)
    const numbers = (await workspace.get<Project>(`projects/${slug}`)).milestones.map(({ number }) => number)
    assert.deepStrictEqual(numbers, [1, 3])
    for (const [field, json] of [
      ["name", { name: "" }],
      ["name", { name: "x".repeat(101) }],
      ["summary", { name: "Ok", summary: "x".repeat(201) }],
      ["summary", { name: "Ok", summary: 1 }]
    ] as const) {
      await workspace.refuse(`400 ${field}`, "POST", path, json)
      await workspace.refuse(`400 ${field}`, "PATCH", `${path}/1`, json)
    }
    await workspace.refuse("400 name", "POST", path, {})
    await workspace.post(path, { name: "x".repeat(100) })
    for (const number of ["2", "99", "0", "-1", "1.5", "x", "99999999999"]) {
      await workspace.refuse("404 milestone", "PATCH", `${path}/${number}`, { name: "New" })
      await workspace.refuse("404 milestone", "DELETE", `${path}/${number}`)
    }
    await workspace.refuse("404 project", "POST", "projects/none/milestones", { name: "New" })
    const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events")
    const recorded = events.filter(({ kind }) => kind.startsWith("milestone_")).toReversed()
    assert.deepStrictEqual(
      recorded.map(({ kind }) => kind.slice("milestone_".length)),
      ["created", "created", "updated", "updated", "deleted", "created", "created"]
    )
    assert.deepStrictEqual(recorded[0]?.subject.type, "milestone")
    const many = await Promise.all(
      Array.from({ length: 20 }, () => workspace.post<Milestone>(path, { name: "At once" }))
    )
    assert.deepStrictEqual(
      many.map(({ number }) => number).toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, i) => i + 5)
    )
  })

  test("names no other milestone than the one that was asked for", async (owner) => {
    const { create, workspace } = await newTeam(owner)
    const { slug } = await create()
    for (const [number, message] of [
      ["1.5", "The milestone does not exist."],
      ["x", "The milestone does not exist."],
      ["7", 'There is no milestone "7" that you can see.']
    ] as const) {
      for (const method of ["PATCH", "DELETE"]) {
        const json = method === "PATCH" ? { name: "New" } : undefined
        const { body, status } = await workspace.send<ErrorBody>(method, `projects/${slug}/milestones/${number}`, {
          json
        })
        assert.deepStrictEqual([status, body.message], [404, message])
      }
    }
  })

  test("hides a project without a team that the caller sees", async (owner) => {
    const { create, team, workspace } = await newTeam(owner)
    const closed = await workspace.post<Team>("teams", { key: teamKey(), name: "Board", visibility: "private" })
    const hidden = await create({ teams: [closed.key] })
    const mixed = await create({ teams: [closed.key, team.key] })
    const made = await workspace.post<View>("views", {
      name: "Theirs",
      scope: { kind: "project", key: hidden.slug },
      filters: { teams: [closed.key] }
    })
    for (const outsider of [await join(workspace, "member"), await accountKey(workspace, "member")]) {
      const projects = await listed(outsider)
      assert.deepStrictEqual(
        projects.map(({ slug, teams }) => [slug, teams.map(({ key }) => key)]),
        [[mixed.slug, [team.key]]]
      )
      const path = `projects/${hidden.slug}`
      for (const [method, to, json] of [
        ["GET", path, undefined],
        ["PATCH", path, { name: "Mine" }],
        ["POST", `${path}/reorder`, { after: null }],
        ["POST", `${path}/archive`, undefined],
        ["POST", `${path}/restore`, undefined],
        ["POST", `${path}/milestones`, { name: "Mine" }],
        ["PATCH", `${path}/milestones/1`, { name: "Mine" }],
        ["DELETE", `${path}/milestones/1`, undefined]
      ] as const) {
        const [unseen, absent] = await Promise.all([
          outsider.send<{ message: string }>(method, to, { json }),
          outsider.send<{ message: string }>(method, to.replace(hidden.slug, "none"), { json })
        ])
        const message = absent.body.message.replace('"none"', `"${hidden.slug}"`)
        assert.deepStrictEqual([unseen.status, unseen.body], [404, { ...absent.body, message }])
      }
      await outsider.refuse("404 before:", "POST", `projects/${mixed.slug}/reorder`, { before: hidden.slug })
      await outsider.refuse("404 team:", "GET", `projects?team=${closed.key}`)
      await outsider.refuse("404 project:", "GET", `views?project=${hidden.slug}`)
      await outsider.refuse("404 view", "GET", `views/${made.id}/tickets`)
      await outsider.refuse("404 view", "DELETE", `views/${made.id}`)
      const { text } = await outsider.send("GET", "events")
      assert.notInclude(text, hidden.slug)
      assert.notInclude(text, closed.key)
      assert.notInclude(text, made.id)
    }
  })
})

onEachServer("views", (test) => {
  const filters = { categories: [], statuses: [], owners: [], tags: [], teams: [], projects: [], milestones: [] }

  test("creates, changes, moves and deletes views in their scopes", async (owner) => {
    const { create, team, workspace } = await newTeam(owner)
    const project = await create()
    const list = async (query = "") => (await workspace.get<{ views: ReadonlyArray<View> }>(`views${query}`)).views
    const member = await join(workspace, "member")
    const made = await member.post<View>("views", {
      name: " Mine ",
      scope: { kind: "team", key: team.key },
      filters: { categories: ["started"], owners: ["me", member.id], projects: [project.slug], unknown: 1 },
      layout: "board",
      group: "owner",
      isDefault: true
    })
    const { createdAt, createdBy, id } = made
    assert.deepStrictEqual<unknown>(made, {
      id,
      name: "Mine",
      scope: { kind: "team", key: team.key },
      visibility: "shared",
      filters: { ...filters, categories: ["started"], owners: ["me", member.id], projects: [project.slug] },
      hiddenFilters: [],
      layout: "board",
      group: "owner",
      sort: null,
      isDefault: false,
      position: 0,
      createdBy,
      createdAt,
      updatedAt: createdAt
    })
    assert.deepInclude(createdBy, { kind: "user", id: member.id })
    assert.deepStrictEqual(await list(`?team=${team.key}`), [made])
    assert.deepStrictEqual(await list(), [])
    const first = await list(`?project=${project.slug}`)
    assert.deepStrictEqual(
      first.map(({ filters, isDefault, name, position }) => [position, name, filters.categories, isDefault]),
      [
        [0, "All", [], true],
        [1, "Active", ["unstarted", "started"], true],
        [2, "Backlog", ["backlog"], true],
        [3, "Done", ["completed"], true]
      ]
    )
    for (const view of first) await workspace.refuse("409 is_default", "DELETE", `views/${view.id}`)
    const own = await workspace.post<View>("views", { name: "Own", scope: { kind: "project", key: project.slug } })
    const moved = await workspace.post<View>(`views/${own.id}/reorder`, { before: first[1]!.id }, 200)
    assert.deepStrictEqual([moved.position, moved.layout, moved.filters], [1, "list", filters])
    const changed = await workspace.patch<View>(`views/${own.id}`, { filters: { statuses: ["Next"] }, layout: "board" })
    assert.deepStrictEqual(changed, {
      ...moved,
      layout: "board",
      filters: { ...filters, statuses: ["Next"] },
      updatedAt: changed.updatedAt
    })
    await workspace.delete(`views/${own.id}`)
    assert.deepStrictEqual(await list(`?project=${project.slug}`), first)
    await workspace.refuse("409 other_scope", "POST", `views/${first[0]!.id}/reorder`, { after: id })
    await workspace.refuse("400 after", "POST", `views/${id}/reorder`, { after: id })
    await workspace.refuse("404 after:", "POST", `views/${id}/reorder`, { after: own.id })
    await workspace.refuse("404 view", "POST", `views/${own.id}/reorder`, { after: null })
    await workspace.refuse("400 project", "GET", `views?team=${team.key}&project=${project.slug}`)
    const { events } = await workspace.get<{ events: ReadonlyArray<Event> }>("events")
    assert.deepStrictEqual(
      events
        .filter(({ kind }) => kind.startsWith("view_"))
        .map(({ kind }) => kind)
        .toReversed(),
      ["view_created", "view_created", "view_reordered", "view_updated", "view_deleted"]
    )
  })

  test("validates the fields of views", async (owner) => {
    const { team, workspace } = await newTeam(owner)
    const view = { name: "Mine", scope: { kind: "workspace" } }
    const { id } = await workspace.post<View>("views", view)
    for (const [at, fields] of [
      ["name", { name: "" }],
      ["name", { name: "x".repeat(101) }],
      ["layout", { layout: "table" }],
      ["group", { group: "team" }],
      ["sort", { sort: "" }],
      ["filters", { filters: [] }],
      ["filters", { filters: null }],
      ["filters.categories.0", { filters: { categories: ["done"] } }],
      ["filters.categories", { filters: { categories: "started" } }],
      ["filters.statuses.0", { filters: { statuses: ["x".repeat(41)] } }],
      ["filters.statuses.0", { filters: { statuses: [" "] } }],
      ["filters.owners.0", { filters: { owners: [null] } }],
      ["filters.tags", { filters: { tags: Array.from({ length: 101 }, () => "x") } }]
    ] as const) {
      await workspace.refuse(`400 ${at}`, "POST", "views", { ...view, ...fields })
      await workspace.refuse(`400 ${at}`, "PATCH", `views/${id}`, fields)
    }
    for (const [at, scope] of [
      ["scope", undefined],
      ["scope", "workspace"],
      ["scope.kind", {}],
      ["scope.kind", { kind: "person" }],
      ["scope.key", { kind: "team" }],
      ["scope.key", { kind: "project" }],
      ["scope.key", { kind: "team", key: "" }]
    ] as const) {
      await workspace.refuse(`400 ${at}`, "POST", "views", { ...view, scope })
    }
    await workspace.refuse("400 name", "POST", "views", { scope: view.scope })
    const statuses = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(40, "x"))
    const made = await workspace.post<View>("views", { ...view, filters: { statuses } })
    assert.deepStrictEqual(made.filters.statuses, statuses)
    for (const [field, sent, fields] of [
      ["scope.key", 'team "NONE"', { scope: { kind: "team", key: "NONE" } }],
      ["filters.teams", 'team "NONE"', { filters: { teams: [team.key, "NONE"] } }],
      ["filters.owners", 'member or agent "nobody"', { filters: { owners: ["nobody"] } }]
    ] as const) {
      const answer = await workspace.send<{ message: string }>("POST", "views", { json: { ...view, ...fields } })
      assert.strictEqual(answer.status, 404)
      assert.strictEqual(answer.body.message, `${field}: there is no ${sent} that you can see.`)
    }
  })
})
