import { DeliveryApi } from "@delivery/domain/Api"
import { type AgentMessage, maxQueued } from "@delivery/domain/agents/Message"
import type { Comment } from "@delivery/domain/planning/Comment"
import type { Me } from "@delivery/domain/identity/Me"
import type { Tag } from "@delivery/domain/planning/Tag"
import type { Ticket } from "@delivery/domain/planning/Ticket"
import type { TicketStatus } from "@delivery/domain/planning/TicketStatus"
import { maxSharedViews, type View } from "@delivery/domain/planning/View"
import { maxSharedFilters, type SavedFilter } from "@delivery/domain/runs/SavedFilter"
import { OpenApi } from "effect/http-api"
import { assert } from "vitest"
import {
  type Http,
  join,
  newWorkspace,
  onEachServer,
  refusal,
  registerAgent,
  teamKey,
  unique
} from "../support/Http.ts"

/** Every conflict that the API's description names, of planning, of saved filters and of messages, by endpoint and reason. */

const groups = new Set([
  "teams",
  "ticketStatuses",
  "projects",
  "tickets",
  "comments",
  "tags",
  "views",
  "savedFilters",
  "messages",
  "agentInbox",
  "agentPlanning"
])

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly examples?: object }>> }>
  >
}

const described: ReadonlyArray<string> = Object.values(
  OpenApi.fromApi(DeliveryApi).paths as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>
)
  .flatMap((operations) => Object.values(operations))
  .filter(({ operationId }) => groups.has(operationId.split(".")[0]!))
  .flatMap(({ operationId, responses }) =>
    Object.keys(responses["409"]?.content?.["application/json"]?.examples ?? {}).map(
      (reason) => `${operationId} ${reason}`
    )
  )

type Request = readonly [by: Http, method: string, path: string, json?: object]

const newTeam = async (owner: Http, fields: object = {}): Promise<string> => {
  const key = teamKey()
  await owner.post("teams", { key, name: "Team", ...fields })
  return key
}
const newProject = async (owner: Http, ...teams: ReadonlyArray<string>): Promise<string> => {
  const slug = unique("project")
  await owner.post("projects", { slug, name: slug, teams: teams.length === 0 ? [await newTeam(owner)] : teams })
  return slug
}
const newTicket = async (owner: Http, team: string, fields: object = {}): Promise<string> =>
  (await owner.post<Ticket>("tickets", { team, title: "Ticket", ...fields })).identifier
const newComment = async (owner: Http, ticket: string): Promise<string> =>
  (await owner.post<Comment>(`tickets/${ticket}/comments`, { body: "a" })).id
const newView = async (owner: Http, scope: object): Promise<string> =>
  (await owner.post<View>("views", { name: "View", scope })).id
const savedFilter = { screen: "runs", name: "Failures", query: { result: "failed" } }
/** A workspace that can have no more shared filters of runs. */
const fullOfFilters = async (owner: Http): Promise<Http> => {
  const workspace = await newWorkspace(owner)
  await Promise.all(Array.from({ length: maxSharedFilters }, () => workspace.post("saved-filters", savedFilter)))
  return workspace
}
const newTag = async (owner: Http, team: string): Promise<Tag> =>
  owner.post<Tag>("tags", { team, name: unique("tag"), color: "#d73a4a" })
const archive = (owner: Http, path: string) => owner.post(`${path}/archive`, undefined, 200)
const statusOf = async (owner: Http, team: string, name: string): Promise<string> => {
  const { statuses } = await owner.get<{ statuses: ReadonlyArray<TicketStatus> }>(`ticket-statuses?team=${team}`)
  return statuses.find((status) => status.name === name)!.id
}
/** A ticket is completed with evidence that there is not. */
const needingEvidence = async (owner: Http) => {
  const slug = unique("product")
  await owner.post("products", { slug, name: slug, type: "library" })
  return { cases: { product: slug, caseIds: ["pays"] }, completion: "evidence" }
}
const agentOf = async (owner: Http): Promise<Http> => owner.as((await registerAgent(owner)).access_token)
const ended = async (owner: Http): Promise<readonly [agent: Http, message: string]> => {
  const { access_token, agent } = await registerAgent(owner)
  const ticket = await newTicket(owner, await newTeam(owner))
  const { id } = await owner.post<AgentMessage>("messages", { agent, ticket, ask: "build" })
  await owner.post(`messages/${id}/decline`, {}, 200)
  return [owner.as(access_token), id]
}

/** Somebody whose messages fill the inbox of an agent as far as they may, a ticket, and a comment that mentions the agent. */
const full = async (owner: Http) => {
  const { agent } = await registerAgent(owner)
  const ticket = await newTicket(owner, await newTeam(owner))
  for (let count = 0; count < maxQueued; count++) await owner.post("messages", { agent, ticket, ask: "build" })
  return { agent, ticket, body: `[@Claude](agent:${agent})` }
}

/** A body for a ticket of a team that it may not be in, or that may not have what it names. */
type Refused = (owner: Http) => Promise<readonly [team: string, fields: object]>

const ticketRefusals: Readonly<Record<string, Refused>> = {
  project_not_in_team: async (owner) => [await newTeam(owner), { project: await newProject(owner) }],
  inactive_owner: async (owner) => {
    const { id } = await join(owner, "member")
    await owner.post(`members/${id}/deactivate`, undefined, 200)
    return [await newTeam(owner), { owner: id }]
  },
  owner_cannot_see: async (owner) => [
    await newTeam(owner, { visibility: "private" }),
    { owner: (await join(owner, "member")).id }
  ]
}

const creates =
  (path: string, by: (owner: Http) => Http | Promise<Http>, refused: Refused) =>
  async (owner: Http): Promise<Request> => {
    const [team, fields] = await refused(owner)
    return [await by(owner), "POST", path, { team, title: "Ticket", ...fields }]
  }
const updates =
  (path: string, by: (owner: Http) => Http | Promise<Http>, refused: Refused) =>
  async (owner: Http): Promise<Request> => {
    const [team, fields] = await refused(owner)
    return [await by(owner), "PATCH", `${path}/${await newTicket(owner, team)}`, fields]
  }
const self = (owner: Http) => owner
const ofTickets = (group: string, path: string, by: (owner: Http) => Http | Promise<Http>) =>
  Object.fromEntries(
    Object.entries(ticketRefusals).flatMap(([reason, refused]) => [
      [`${group}.${group === "tickets" ? "create" : "createTicket"} ${reason}`, creates(path, by, refused)],
      [`${group}.${group === "tickets" ? "update" : "updateTicket"} ${reason}`, updates(path, by, refused)]
    ])
  )

/** A request about a ticket, with a comment, of a team that is archived then. */
const onArchivedTeam =
  (request: (ticket: string, comment: string, first: string) => readonly [string, string, object?]) =>
  async (owner: Http): Promise<Request> => {
    const team = await newTeam(owner)
    const [first, ticket] = [await newTicket(owner, team), await newTicket(owner, team)]
    const comment = await newComment(owner, ticket)
    await archive(owner, `teams/${team}`)
    return [owner, ...request(ticket, comment, first)]
  }
const byAgentOnArchivedTeam =
  (request: (ticket: string) => readonly [string, string, object]) =>
  async (owner: Http): Promise<Request> => {
    const team = await newTeam(owner)
    const ticket = await newTicket(owner, team)
    await archive(owner, `teams/${team}`)
    return [await agentOf(owner), ...request(ticket)]
  }
const onArchivedProject =
  (request: (project: string, other: string) => readonly [string, string, object?]) =>
  async (owner: Http): Promise<Request> => {
    const [other, project] = [await newProject(owner), await newProject(owner)]
    await owner.post(`projects/${project}/milestones`, { name: "Beta" })
    await archive(owner, `projects/${project}`)
    return [owner, ...request(project, other)]
  }
const onViewOfArchivedTeam =
  (request: (view: string) => readonly [string, string, object?]) =>
  async (owner: Http): Promise<Request> => {
    const key = await newTeam(owner)
    await newView(owner, { kind: "team", key })
    const view = await newView(owner, { kind: "team", key })
    await archive(owner, `teams/${key}`)
    return [owner, ...request(view)]
  }

const rows: Readonly<Record<string, (owner: Http) => Promise<Request>>> = {
  "teams.create key_in_use": async (owner) => [owner, "POST", "teams", { key: await newTeam(owner), name: "Team" }],
  "teams.addMember already_member": async (owner) => {
    const { id } = await owner.get<Extract<Me, { kind: "user" }>>("/v1/me")
    return [owner, "POST", `teams/${await newTeam(owner)}/members`, { member: id }]
  },

  "ticketStatuses.create name_in_use": async (owner) => {
    return [owner, "POST", "ticket-statuses", { team: await newTeam(owner), name: "todo", category: "started" }]
  },
  "ticketStatuses.update name_in_use": async (owner) => {
    const status = await statusOf(owner, await newTeam(owner), "Done")
    return [owner, "PATCH", `ticket-statuses/${status}`, { name: "TODO" }]
  },
  "ticketStatuses.update category_cannot_be_default": async (owner) => {
    const status = await statusOf(owner, await newTeam(owner), "In progress")
    return [owner, "PATCH", `ticket-statuses/${status}`, { isDefault: true }]
  },
  "ticketStatuses.delete is_default": async (owner) => {
    return [owner, "DELETE", `ticket-statuses/${await statusOf(owner, await newTeam(owner), "Backlog")}`]
  },
  "ticketStatuses.delete last_in_category": async (owner) => {
    return [owner, "DELETE", `ticket-statuses/${await statusOf(owner, await newTeam(owner), "Done")}`]
  },
  "ticketStatuses.delete has_tickets": async (owner) => {
    const team = await newTeam(owner)
    await owner.post("ticket-statuses", { team, name: "Later", category: "unstarted" })
    const status = await statusOf(owner, team, "Todo")
    await newTicket(owner, team, { status })
    return [owner, "DELETE", `ticket-statuses/${status}`]
  },
  "ticketStatuses.reorder other_category": async (owner) => {
    const team = await newTeam(owner)
    const [status, before] = [await statusOf(owner, team, "Todo"), await statusOf(owner, team, "Done")]
    return [owner, "POST", `ticket-statuses/${status}/reorder`, { before }]
  },

  "projects.create slug_in_use": async (owner) => {
    const slug = await newProject(owner)
    return [owner, "POST", "projects", { slug, name: unique("Name"), teams: [await newTeam(owner)] }]
  },
  "projects.create name_in_use": async (owner) => {
    const name = await newProject(owner)
    return [owner, "POST", "projects", { slug: unique("project"), name, teams: [await newTeam(owner)] }]
  },
  "projects.create archived": async (owner) => {
    const team = await newTeam(owner)
    await archive(owner, `teams/${team}`)
    return [owner, "POST", "projects", { slug: unique("project"), name: unique("Name"), teams: [team] }]
  },
  "projects.update slug_in_use": async (owner) => {
    return [owner, "PATCH", `projects/${await newProject(owner)}`, { slug: await newProject(owner) }]
  },
  "projects.update name_in_use": async (owner) => {
    return [owner, "PATCH", `projects/${await newProject(owner)}`, { name: await newProject(owner) }]
  },
  "projects.update archived": onArchivedProject((project) => ["PATCH", `projects/${project}`, { summary: "Changed" }]),
  "projects.update team_has_tickets": async (owner) => {
    const [kept, left] = [await newTeam(owner), await newTeam(owner)]
    const project = await newProject(owner, kept, left)
    await newTicket(owner, left, { project })
    return [owner, "PATCH", `projects/${project}`, { teams: [kept] }]
  },
  "projects.update project_changed": async (owner) => [
    owner,
    "PATCH",
    `projects/${await newProject(owner)}`,
    { document: "Mine", expected: { document: "Theirs" } }
  ],
  "projects.reorder archived": onArchivedProject((project, other) => [
    "POST",
    `projects/${other}/reorder`,
    { after: project }
  ]),
  "projects.createMilestone archived": onArchivedProject((project) => [
    "POST",
    `projects/${project}/milestones`,
    { name: "Beta" }
  ]),
  "projects.updateMilestone archived": onArchivedProject((project) => [
    "PATCH",
    `projects/${project}/milestones/1`,
    { name: "Alpha" }
  ]),
  "projects.deleteMilestone archived": onArchivedProject((project) => ["DELETE", `projects/${project}/milestones/1`]),

  ...ofTickets("tickets", "tickets", self),
  ...ofTickets("agentPlanning", "/agent/v1/tickets", agentOf),
  "tickets.create archived": async (owner) => {
    const team = await newTeam(owner)
    const project = await newProject(owner, team)
    await archive(owner, `projects/${project}`)
    return [owner, "POST", "tickets", { team, title: "Ticket", project }]
  },
  "tickets.update archived": onArchivedTeam((ticket) => ["PATCH", `tickets/${ticket}`, { title: "Changed" }]),
  "tickets.update ticket_changed": async (owner) => [
    owner,
    "PATCH",
    `tickets/${await newTicket(owner, await newTeam(owner))}`,
    { title: "Mine", expected: { title: "Theirs" } }
  ],
  "tickets.create evidence_missing": async (owner) => {
    const team = await newTeam(owner)
    const status = await statusOf(owner, team, "Done")
    return [owner, "POST", "tickets", { team, title: "Ticket", status, ...(await needingEvidence(owner)) }]
  },
  "tickets.update evidence_missing": async (owner) => {
    const team = await newTeam(owner)
    const ticket = await newTicket(owner, team, await needingEvidence(owner))
    return [owner, "PATCH", `tickets/${ticket}`, { status: await statusOf(owner, team, "Done") }]
  },
  "agentPlanning.updateTicket evidence_missing": async (owner) => {
    const team = await newTeam(owner)
    const ticket = await newTicket(owner, team, await needingEvidence(owner))
    const status = await statusOf(owner, team, "Done")
    return [await agentOf(owner), "PATCH", `/agent/v1/tickets/${ticket}`, { status }]
  },
  "agentPlanning.updateTicket ticket_changed": async (owner) => [
    await agentOf(owner),
    "PATCH",
    `/agent/v1/tickets/${await newTicket(owner, await newTeam(owner))}`,
    { title: "Mine", expected: { title: "Theirs" } }
  ],
  "tickets.delete archived": onArchivedTeam((ticket) => ["DELETE", `tickets/${ticket}`]),
  "tickets.reorder archived": onArchivedTeam((ticket, _, before) => ["POST", `tickets/${ticket}/reorder`, { before }]),
  "tickets.reorder other_status": async (owner) => {
    const team = await newTeam(owner)
    const before = await newTicket(owner, team, { status: await statusOf(owner, team, "Done") })
    return [owner, "POST", `tickets/${await newTicket(owner, team)}/reorder`, { before }]
  },
  "agentPlanning.createTicket archived": async (owner) => {
    const team = await newTeam(owner)
    await archive(owner, `teams/${team}`)
    return [await agentOf(owner), "POST", "/agent/v1/tickets", { team, title: "Ticket" }]
  },
  "agentPlanning.updateTicket archived": byAgentOnArchivedTeam((ticket) => [
    "PATCH",
    `/agent/v1/tickets/${ticket}`,
    { title: "Changed" }
  ]),
  "agentPlanning.createComment archived": byAgentOnArchivedTeam((ticket) => [
    "POST",
    `/agent/v1/tickets/${ticket}/comments`,
    { body: "a" }
  ]),

  "comments.create archived": onArchivedTeam((ticket) => ["POST", `tickets/${ticket}/comments`, { body: "b" }]),
  "comments.update archived": onArchivedTeam((ticket, comment) => [
    "PATCH",
    `tickets/${ticket}/comments/${comment}`,
    { body: "b" }
  ]),
  "comments.delete archived": onArchivedTeam((ticket, comment) => ["DELETE", `tickets/${ticket}/comments/${comment}`]),

  "tags.create name_in_use": async (owner) => {
    const team = await newTeam(owner)
    const { name } = await newTag(owner, team)
    return [owner, "POST", "tags", { team, name: name.toUpperCase(), color: "#000000" }]
  },
  "tags.update name_in_use": async (owner) => {
    const team = await newTeam(owner)
    const [{ name }, { id }] = [await newTag(owner, team), await newTag(owner, team)]
    return [owner, "PATCH", `tags/${id}`, { name }]
  },

  "views.create archived": onArchivedProject((key) => [
    "POST",
    "views",
    { name: "View", scope: { kind: "project", key } }
  ]),
  "views.update archived": onViewOfArchivedTeam((view) => ["PATCH", `views/${view}`, { name: "Changed" }]),
  "views.create too_many_views": async (owner) => {
    const scope = { kind: "team", key: await newTeam(owner) }
    await Promise.all(Array.from({ length: maxSharedViews }, () => newView(owner, scope)))
    return [owner, "POST", "views", { name: "View", scope }]
  },
  "views.update too_many_views": async (owner) => {
    const scope = { kind: "team", key: await newTeam(owner) }
    const { id } = await owner.post<View>("views", { name: "View", scope, visibility: "personal" })
    await Promise.all(Array.from({ length: maxSharedViews }, () => newView(owner, scope)))
    return [owner, "PATCH", `views/${id}`, { visibility: "shared" }]
  },
  "savedFilters.create too_many_filters": async (owner) => {
    const workspace = await fullOfFilters(owner)
    return [workspace, "POST", "saved-filters", savedFilter]
  },
  "savedFilters.update too_many_filters": async (owner) => {
    const workspace = await fullOfFilters(owner)
    const { id } = await workspace.post<SavedFilter>("saved-filters", { ...savedFilter, visibility: "personal" })
    return [workspace, "PATCH", `saved-filters/${id}`, { visibility: "shared" }]
  },
  "views.update is_default": async (owner) => {
    const path = `views?project=${await newProject(owner)}`
    const { views } = await owner.get<{ views: ReadonlyArray<View> }>(path)
    return [owner, "PATCH", `views/${views[0]!.id}`, { visibility: "personal" }]
  },
  "views.delete archived": onViewOfArchivedTeam((view) => ["DELETE", `views/${view}`]),
  "views.reorder archived": onViewOfArchivedTeam((view) => ["POST", `views/${view}/reorder`, { after: null }]),
  "views.delete is_default": async (owner) => {
    const path = `views?project=${await newProject(owner)}`
    const { views } = await owner.get<{ views: ReadonlyArray<View> }>(path)
    return [owner, "DELETE", `views/${views[0]!.id}`]
  },
  "views.reorder other_scope": async (owner) => {
    const after = await newView(owner, { kind: "team", key: await newTeam(owner) })
    return [owner, "POST", `views/${await newView(owner, { kind: "workspace" })}/reorder`, { after }]
  },

  "messages.send agent_revoked": async (owner) => {
    const { agent } = await registerAgent(owner, { client: "codex" })
    await owner.post(`agents/${agent}/revoke`, undefined, 200)
    return [owner, "POST", "messages", { agent, ticket: await newTicket(owner, await newTeam(owner)), ask: "build" }]
  },
  "messages.send inactive_member": async (owner) => {
    const person = await join(owner, "member")
    const { agent } = await registerAgent(person)
    await owner.post(`members/${person.id}/deactivate`, undefined, 200)
    return [owner, "POST", "messages", { agent, ticket: await newTicket(owner, await newTeam(owner)), ask: "build" }]
  },
  "messages.send ticket_invisible": async (owner) => {
    const { agent } = await registerAgent(await join(owner, "member"))
    const ticket = await newTicket(owner, await newTeam(owner, { visibility: "private" }))
    return [owner, "POST", "messages", { agent, ticket, ask: "build" }]
  },
  "messages.send too_many_messages": async (owner) => {
    const { agent, ticket } = await full(owner)
    return [owner, "POST", "messages", { agent, ticket, ask: "build" }]
  },
  "comments.create too_many_messages": async (owner) => {
    const { body, ticket } = await full(owner)
    return [owner, "POST", `tickets/${ticket}/comments`, { body }]
  },
  "comments.update too_many_messages": async (owner) => {
    const { body, ticket } = await full(owner)
    return [owner, "PATCH", `tickets/${ticket}/comments/${await newComment(owner, ticket)}`, { body }]
  },
  "messages.decline ended": async (owner) => [owner, "POST", `messages/${(await ended(owner))[1]}/decline`, {}],
  "agentInbox.complete ended": async (owner) => {
    const [agent, message] = await ended(owner)
    return [agent, "POST", `/agent/v1/messages/${message}/complete`, { reply: "Done." }]
  },
  "agentInbox.decline ended": async (owner) => {
    const [agent, message] = await ended(owner)
    return [agent, "POST", `/agent/v1/messages/${message}/decline`, { reason: "No." }]
  }
}

onEachServer("every conflict of planning", (test) => {
  for (const conflict of described) {
    test(`${conflict}: nothing changes`, async (owner) => {
      const row = rows[conflict] ?? assert.fail("It has no row.")
      const workspace = await newWorkspace(owner)
      const [by, method, path, json] = await row(workspace)
      const events = async () => (await workspace.get<{ events: ReadonlyArray<object> }>("events")).events
      const before = await events()
      const answer = await by.send(method, path, { json })
      assert.strictEqual(refusal(answer), `409 ${conflict.split(" ")[1]}`)
      assert.deepStrictEqual(await events(), before)
    })
  }

  test("covers only documented conflicts", async () => {
    assert.deepStrictEqual(Object.keys(rows).toSorted(), described.toSorted())
  })
})
